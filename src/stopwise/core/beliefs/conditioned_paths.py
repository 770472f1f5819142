# SPDX-License-Identifier: Apache-2.0
r"""Conditioned paths: sample paths whose values at some chosen points are exact draws.

Paths of random features (``paths.py``) share their frequencies and err by a few per cent of the
*prior* covariance, which is far too much where the data have made f nearly certain. Here values at
a net of points come from their exact joint distribution, independent from path to path, and
features only fill the gaps. With C the posterior covariance, P the points that the pivoted
factorisation :math:`C_{PP} = L L^T` has chosen, :math:`\xi` the normal numbers behind a draw and g
a path of features given the data, the path is Matheron's rule (Wilson et al. 2020) once more:

.. math:: f(x) = g(x) + C(x, P)\,L^{-T}\left(\xi - L^{-1}(g(P) - \mu(P))\right)

The second term is a sum of kernels about the data and P. Where outputs are warped, all of this is
in the units of the warp, and values leave in the user's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stopwise.core.beliefs.fourier_features import FourierFeatures
from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.kernel_basis import KernelBasis
from stopwise.core.beliefs.paths import sample_paths
from stopwise.core.numerics import cholesky, scipy_parts
from stopwise.core.numerics.arrays import Array, Indices

_FREQUENCIES = 128  # of what is between the points of a net


@dataclass(frozen=True, eq=False)  # no slots: what derives from the fields is cached
class PathConditioner:
    """The joint distribution of f at a net of points, factorised once.

    Attributes:
        posterior: What is believed of f.
        mean: Means at the points, (rows,).
        factor: Their covariance is factor factor^T, up to the tolerance; (rows, rank).
        pivots: The points that determine all others, (rank, width).
        lower: The factor at the pivots, triangular.
    """

    posterior: Posterior
    mean: Array
    factor: Array
    pivots: Array
    lower: Array

    @classmethod
    def at(cls, posterior: Posterior, X: Array, tolerance: Array) -> PathConditioner:
        """The distribution at the rows of X: meant for several hundred.

        Args:
            posterior: What is believed of f.
            X: Encoded points.
            tolerance: A deviation for each point, in the user's units, below which it counts as
                determined by the others.
        """
        prior = posterior.hyper.outputscale * posterior.standardiser.scale**2
        rounding = np.sqrt(len(X) * np.finfo(np.float64).eps * prior)
        mean = posterior(X).mean
        slope = posterior.hyper.warp.inverse_slope(mean)
        # A mean beyond a bound has no slope, but draws may be within the bound.
        units = np.maximum(tolerance / np.where(slope > 0.0, slope, 1.0), rounding)
        weighted = posterior.covariance(X, X) / (units[:, None] * units)
        lower, order, rank, _ = scipy_parts.lapack.dpstrf(weighted, tol=1.0, lower=1)
        order, lower = order - 1, np.tril(lower)[:, :rank]
        lower *= units[order][:, None]
        factor = np.empty_like(lower)
        factor[order] = lower
        return cls(posterior, mean, factor, X[order[:rank]], lower[:rank])

    def normals(self, rng: np.random.Generator, n: int) -> Array:
        """The normal numbers behind n draws, (n, rank)."""
        return rng.standard_normal((n, self.factor.shape[1]))

    def values(self, normals: Array) -> Array:
        """f at the points in each draw, (n, rows), in the user's units."""
        return self.posterior.hyper.warp.inverse(self.mean + normals @ self.factor.T)

    def paths(self, normals: Array, rng: np.random.Generator) -> ConditionedPaths:
        """A path through each draw."""
        posterior = self.posterior
        prior = sample_paths(posterior, rng, len(normals), _FREQUENCIES)
        scale = posterior.standardiser.scale
        off_mean = np.asfortranarray(prior.warped(self.pivots).T) - self._pivot_mean
        wanted = normals.T - cholesky.solve_lower(self.lower, off_mean)
        about_pivots = cholesky.solve_upper(self.lower, wanted) * scale
        about_data = prior.updates - self._pull @ about_pivots
        weights = np.vstack([about_data, about_pivots])
        weights *= posterior.hyper.outputscale * scale
        features = FourierFeatures(prior.features.frequencies, prior.features.weights * scale)
        return ConditionedPaths(posterior, features, self._basis, np.ascontiguousarray(weights.T))

    @cached_property
    def _pivot_mean(self) -> Array:
        """Means at the pivots, (rank, 1)."""
        return self.posterior(self.pivots).mean[:, None]

    @cached_property
    def _pull(self) -> Array:
        """What the data take away from a kernel about each pivot, (data, rank)."""
        lower = self.posterior.lower
        cross = self.posterior.cross_covariance(self.pivots)
        pull = cholesky.solve_upper(lower, cholesky.solve_lower(lower, cross))
        if not self.posterior.interpolate:
            return pull
        again = cholesky.solve_upper(lower, cholesky.solve_lower(lower, pull))
        return np.asarray(pull + self.posterior.nugget * again)

    @cached_property
    def _basis(self) -> KernelBasis:
        """Kernels about data and pivots."""
        return self.posterior.kernels_about(np.vstack([self.posterior.X, self.pivots]))


@dataclass(frozen=True, slots=True, eq=False)
class ConditionedPaths:
    """Paths through the draws of a ``PathConditioner``, in the user's units.

    Attributes:
        posterior: What the paths are drawn from.
        features: The waves of each path, in the units of the warp.
        basis: Kernels about data and pivots.
        weights: (n, centres): of the kernels that lead a path through data and draw.
    """

    posterior: Posterior
    features: FourierFeatures
    basis: KernelBasis
    weights: Array

    def __len__(self) -> int:
        """Number of paths."""
        return len(self.weights)

    def with_gradient(self, X: Array, which: Indices) -> tuple[Array, Array]:
        """Row i of X on path ``which[i]``: values (rows,) and gradients (rows, width)."""
        scaled, weights = self.posterior.scaled(X), self.weights[which]
        kernels = self.basis.at(scaled)
        value, gradient = self.features.with_gradient(scaled, which)
        value += self._mean
        value += np.vecdot(kernels.values, weights)
        gradient += kernels.gradients(weights)[0]
        warp, gradient = self.posterior.hyper.warp, self.posterior.in_x(gradient, X)
        gradient *= warp.inverse_slope(value)[:, None]
        return warp.inverse(value), gradient

    @property
    def _mean(self) -> float:
        """The prior's mean."""
        standardiser = self.posterior.standardiser
        return self.posterior.hyper.mean * standardiser.scale + standardiser.shift
