# SPDX-License-Identifier: Apache-2.0
r"""Sample paths whose values at the points of a net are exact draws.

Paths of random features (``paths.py``) share their frequencies and err by a few per
cent of the *prior* covariance, which is far too much where the data have made f nearly certain.
Here values at a net of points come from their exact joint distribution, independent from path to
path, and features only fill the gaps. With C the posterior covariance, P the points that the
pivoted factorisation :math:`C_{PP} = L L^T` has chosen, :math:`\xi` the normal numbers behind a
draw and g a path of features given the data, the path is Matheron's rule once more:

.. math:: f(x) = g(x) + C(x, P)\,L^{-T}\left(\xi - L^{-1}(g(P) - \mu(P))\right)

The second term is a sum of kernels about the data and P.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.kernel import matern52_and_slope, scaled_square_distances
from stopwise.core.beliefs.paths import sample_paths
from stopwise.core.numerics import cholesky as chol
from stopwise.core.numerics.arrays import Array, Indices

_FREQUENCIES = 128  # of what is between the points of a net


@dataclass(frozen=True, eq=False)  # no slots: what derives from the fields is cached
class Net:
    """The joint distribution of f at some points, factorised once; all in the user's units.

    Attributes:
        posterior: What is believed of f.
        mean: Means at the points, (rows,).
        factor: Their covariance is factor factor^T, up to the tolerance; (rows, rank).
        pivots: The points that tell all others, (rank, width).
        lower: The factor at the pivots, triangular.
    """

    posterior: Posterior
    mean: Array
    factor: Array
    pivots: Array
    lower: Array

    @classmethod
    def at(cls, posterior: Posterior, X: Array, tolerance: Array) -> Net:
        """A net over the rows of X: meant for several hundred.

        Args:
            posterior: What is believed of f.
            X: Encoded points.
            tolerance: A deviation for each point below which it counts as told by the others.
        """
        prior = posterior.hyper.outputscale * posterior.standardiser.scale**2
        rounding = np.sqrt(len(X) * np.finfo(np.float64).eps * prior)
        units = np.maximum(tolerance, rounding)
        weighted = posterior.covariance(X, X) / (units[:, None] * units)
        lower, order, rank, _ = lapack.dpstrf(weighted, tol=1.0, lower=1)
        order, lower = order - 1, np.tril(lower)[:, :rank]
        lower *= units[order][:, None]
        factor = np.empty_like(lower)
        factor[order] = lower
        return cls(posterior, posterior(X).mean, factor, X[order[:rank]], lower[:rank])

    def normals(self, rng: np.random.Generator, n: int) -> Array:
        """The numbers behind n draws, (n, rank)."""
        return rng.standard_normal((n, self.factor.shape[1]))

    def values(self, normals: Array) -> Array:
        """f at the points in each draw, (n, rows)."""
        return self.mean + normals @ self.factor.T

    def paths(self, normals: Array, rng: np.random.Generator) -> NetPaths:
        """A path through each draw."""
        posterior, n = self.posterior, len(normals)
        prior = sample_paths(posterior, rng, n, _FREQUENCIES)
        scale = posterior.standardiser.scale
        off_mean = np.asfortranarray(prior(self.pivots).T) - self._pivot_mean
        wanted = normals.T - chol.solve_lower(self.lower, off_mean)
        about_pivots = chol.solve_upper(self.lower, wanted) * scale
        about_data = prior.updates - self._pull @ about_pivots
        weights = np.vstack([about_data, about_pivots])
        weights *= posterior.hyper.outputscale * scale
        return NetPaths(
            posterior,
            prior.frequencies,
            np.ascontiguousarray(prior.weights.T) * scale,
            self._centres,
            np.ascontiguousarray(weights.T),
        )

    @cached_property
    def _pivot_mean(self) -> Array:
        """Means at the pivots, (rank, 1)."""
        return self.posterior(self.pivots).mean[:, None]

    @cached_property
    def _pull(self) -> Array:
        """What the data take away from a kernel about each pivot, (data, rank)."""
        lower = self.posterior.lower
        cross = self.posterior.cross_covariance(self.pivots)
        pull = chol.solve_upper(lower, chol.solve_lower(lower, cross))
        if not self.posterior.interpolate:
            return pull
        again = chol.solve_upper(lower, chol.solve_lower(lower, pull))
        return np.asarray(pull + self.posterior.nugget * again)

    @cached_property
    def _centres(self) -> Array:
        """Data and pivots, in length scales."""
        scales = self.posterior.hyper.lengthscales[self.posterior.groups]
        return np.vstack([self.posterior.X, self.pivots]) / scales


@dataclass(frozen=True, slots=True, eq=False)
class NetPaths:
    """Paths through the draws of a net, in the user's units: waves and kernels."""

    posterior: Posterior
    frequencies: Array  # (width, M), for scaled inputs
    waves: Array  # (n, 2 M): of cosines then sines
    centres: Array  # data and pivots, in length scales
    weights: Array  # (n, centres): of the kernels that lead a path through data and draw

    def __len__(self) -> int:
        """Number of paths."""
        return len(self.weights)

    def with_gradient(self, X: Array, which: Indices) -> tuple[Array, Array]:
        """Row i of X on path ``which[i]``: values (rows,) and gradients (rows, width)."""
        scales = self.posterior.hyper.lengthscales[self.posterior.groups]
        scaled, weights = X / scales, self.weights[which]
        angles, waves = scaled @ self.frequencies, self.waves[which]
        of_cosine, of_sine = waves[:, : angles.shape[1]], waves[:, angles.shape[1] :]
        cosine, sine = np.cos(angles), np.sin(angles)
        k, slope = matern52_and_slope(scaled_square_distances(scaled, self.centres))
        value = self._mean + np.vecdot(cosine, of_cosine) + np.vecdot(sine, of_sine)
        value += np.vecdot(k, weights)
        cosine *= of_sine
        sine *= of_cosine
        cosine -= sine
        slope *= weights  # dk/dx = -slope (x - centre)
        gradient = cosine @ self.frequencies.T
        gradient += slope @ self.centres - scaled * slope.sum(axis=1, keepdims=True)
        return value, gradient / scales

    @property
    def _mean(self) -> float:
        """The prior's mean."""
        standardiser = self.posterior.standardiser
        return self.posterior.hyper.mean * standardiser.scale + standardiser.shift
