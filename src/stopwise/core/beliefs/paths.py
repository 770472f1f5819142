# SPDX-License-Identifier: Apache-2.0
r"""Sample paths of a posterior: whole functions, consistent from point to point.

On a finite set that is not too large, values are drawn from their exact joint distribution.
Elsewhere a prior path is built from random Fourier features and corrected by the data
(Matheron's rule, Wilson et al. 2020):

.. math:: f(x) = g(x) + k(x, X)\,K^{-1}\,(y - g(X) - \epsilon)

The frequencies of the Matern-5/2 kernel follow a multivariate t with 5 degrees of freedom. One
draw of M frequencies carries an error of about :math:`1/\sqrt M` of the prior covariance, 3 % at
the default of 1,024; all paths of one call share their frequencies, so averaging over paths does
not remove it, averaging over calls does. Sines and cosines are what a path costs; in single
precision they take a tenth of the time and move values by about 1e-6 deviations.

Where the posterior interpolates, :math:`\epsilon = 0`, and the spread of the paths is exactly the
posterior's mean squared error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.kernel import matern52_and_slope, scaled_square_distances
from stopwise.core.numerics import cholesky as chol
from stopwise.core.numerics.arrays import Array, Indices

Floats = NDArray[Any]  # in double or single precision

FREQUENCIES = 1024
_BLOCK = 2048  # rows per pass: the features of a row are 2 x 1,024 numbers
_DEGREES_OF_FREEDOM = 5.0  # twice the smoothness of the kernel


@dataclass(frozen=True, slots=True, eq=False)
class JointDraws:
    """Exact joint draws of f at a fixed set of points, factorised once: O(rows^3).

    At points that are known already the covariance is zero but for rounding. The factor is
    therefore a pivoted one that ends where only rounding is left; it needs no jitter.
    """

    mean: Array
    factor: Array  # (rows, rank): covariance = factor factor^T

    @classmethod
    def at(cls, posterior: Posterior, X: Array) -> JointDraws:
        """Draws at the rows of X; meant for a few thousand."""
        prior = posterior.hyper.outputscale * posterior.standardiser.scale**2
        tolerance = len(X) * np.finfo(np.float64).eps * prior
        lower, order, rank, _ = lapack.dpstrf(posterior.covariance(X, X), tol=tolerance, lower=1)
        factor = np.empty((len(X), rank))
        factor[order - 1] = np.tril(lower)[:, :rank]
        return cls(posterior(X).mean, factor)

    def __call__(self, rng: np.random.Generator, n: int) -> Array:
        """Draw n times: (n, rows), in the user's units."""
        return self.mean + rng.standard_normal((n, self.factor.shape[1])) @ self.factor.T


def exact_values(posterior: Posterior, X: Array, rng: np.random.Generator, n: int) -> Array:
    """Joint draws of f at the rows of X, as (n, rows)."""
    return JointDraws.at(posterior, X)(rng, n)


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """n posterior paths, in the user's units: ``paths(X)`` is (n, rows)."""

    posterior: Posterior
    frequencies: Floats  # (width, M), for scaled inputs
    weights: Floats  # (2 M, n), of cosines then sines
    updates: Array  # (data, n): K^-1 (y - m - g(X) - eps)

    def __len__(self) -> int:
        """Number of paths."""
        return int(self.weights.shape[1])

    def __call__(self, X: Array) -> Array:
        """Values of every path at the rows of X, (n, rows)."""
        scales = self.posterior.hyper.lengthscales[self.posterior.groups]
        values = np.empty((len(X), len(self)))
        for start in range(0, len(X), _BLOCK):
            rows = slice(start, start + _BLOCK)
            values[rows] = _prior(X[rows] / scales, self.frequencies, self.weights)
            values[rows] += self.posterior.cross_covariance(X[rows]).T @ self.updates
        return self._user_units(values).T

    def with_gradient(self, X: Array, which: Indices | None = None) -> tuple[Array, Array]:
        """One path per row of X and its gradient there: (rows,), (rows, width).

        ``which`` says which path a row is for; row i is for path i if it is left out.
        """
        which = np.arange(len(X)) if which is None else which
        scales = self.posterior.hyper.lengthscales[self.posterior.groups]
        outputscale = self.posterior.hyper.outputscale
        scaled, data = X / scales, self.posterior.X / scales
        angles = scaled @ self.frequencies
        cosine, sine = np.cos(angles), np.sin(angles)
        of_cosine, of_sine = np.split(self.weights[:, which].T, 2, axis=1)
        k, slope = matern52_and_slope(scaled_square_distances(scaled, data))
        updates = outputscale * self.updates[:, which].T
        value = np.einsum("ij,ij->i", cosine, of_cosine) + np.einsum("ij,ij->i", sine, of_sine)
        value += np.einsum("ij,ij->i", k, updates)
        gradient = (cosine * of_sine - sine * of_cosine) @ self.frequencies.T
        pull = slope * updates  # dk/dx = -slope (x - x_data)
        gradient += pull @ data - scaled * pull.sum(axis=1, keepdims=True)
        return self._user_units(value), gradient / scales * self.posterior.standardiser.scale

    def _user_units(self, values: Array) -> Array:
        standardiser = self.posterior.standardiser
        return (values + self.posterior.hyper.mean) * standardiser.scale + standardiser.shift


def sample_paths(
    posterior: Posterior,
    rng: np.random.Generator,
    n: int,
    frequencies: int = FREQUENCIES,
    *,
    single: bool = False,
) -> Paths:
    """Draw n paths of the posterior; see the module for what is exact and what is not.

    Args:
        posterior: Of which.
        rng: Where randomness comes from.
        n: How many.
        frequencies: Of the prior paths.
        single: Whether prior paths are summed in single precision.
    """
    width = posterior.X.shape[1]
    normal = rng.standard_normal((width, frequencies))
    # A t variable is a normal over the root of an independent chi-square mean.
    spread = np.sqrt(rng.chisquare(_DEGREES_OF_FREEDOM, frequencies) / _DEGREES_OF_FREEDOM)
    drawn = normal / spread
    weights = rng.standard_normal((2 * frequencies, n))
    weights *= math.sqrt(posterior.hyper.outputscale / frequencies)
    if single:
        drawn, weights = drawn.astype(np.float32), weights.astype(np.float32)
    scales = posterior.hyper.lengthscales[posterior.groups]
    prior = _prior(posterior.X / scales, drawn, weights)
    centred = (posterior.lower @ posterior.residual)[:, None] - prior
    if not posterior.interpolate:
        nugget = posterior.hyper.noise + posterior.jitter
        centred -= math.sqrt(nugget) * rng.standard_normal(centred.shape)
    updates = chol.solve_upper(posterior.lower, chol.solve_lower(posterior.lower, centred))
    for array in (drawn, weights, updates):
        array.flags.writeable = False
    return Paths(posterior, drawn, weights, updates)


def _prior(scaled: Array, frequencies: Floats, weights: Floats) -> Floats:
    """The prior paths at scaled inputs, (rows, n), in the precision of their weights."""
    angles = scaled.astype(frequencies.dtype, copy=False) @ frequencies
    of_cosine, of_sine = np.split(weights, 2)
    values: Floats = np.cos(angles) @ of_cosine + np.sin(angles) @ of_sine
    return values
