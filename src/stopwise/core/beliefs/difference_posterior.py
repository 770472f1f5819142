# SPDX-License-Identifier: Apache-2.0
r"""A posterior seen from one point: how uncertain is f(x) - f(x*)?

With noisy observations the best point's own value is uncertain, and what counts is the
difference: a point that cannot be told from x* gains nothing, however uncertain both are.

.. math:: \mathrm{Var}(f(x) - f(x^*)) = s^2(x) + s^2(x^*) - 2\,\mathrm{cov}(x, x^*)

The covariance is a sum of kernels about the data and x*, so its gradient is one as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stopwise.core.beliefs.gp import Normal, Posterior
from stopwise.core.beliefs.kernel import matern52_and_slope, scaled_square_distances
from stopwise.core.numerics import cholesky as chol
from stopwise.core.numerics.arrays import Array


@dataclass(frozen=True, eq=False)  # no slots: what derives from the fields is cached
class Relative:
    """The mean of f(x), and the deviation of f(x) - f(x*), over x."""

    posterior: Posterior
    x: Array

    def __call__(self, X: Array) -> Normal:
        """Means of f, and deviations of the difference, at the rows of X."""
        mean, std = self.posterior(X)
        covariance, _, _ = self._covariance(X)
        return Normal(mean, self._deviation(std, covariance))

    def with_gradient(self, X: Array) -> tuple[Normal, Array, Array]:
        """The same with the gradients of mean and deviation in x."""
        (mean, std), d_mean, d_std = self.posterior.with_gradient(X)
        covariance, weighted_slopes, scaled = self._covariance(X)
        total = weighted_slopes.sum(axis=1, keepdims=True)
        d_covariance = (weighted_slopes @ self._centres - scaled * total) / self._scales
        deviation = self._deviation(std, covariance)
        d_half = std[:, None] * d_std - d_covariance
        safe = np.maximum(deviation, 1e-300)[:, None]
        return (
            Normal(mean, deviation),
            d_mean,
            np.where(deviation[:, None] > 0, d_half / safe, 0.0),
        )

    def _deviation(self, std: Array, covariance: Array) -> Array:
        return np.sqrt(np.maximum(std**2 + self._reference**2 - 2.0 * covariance, 0.0))

    def _covariance(self, X: Array) -> tuple[Array, Array, Array]:
        """Covariances with f(x*), their kernels' weighted slopes, and X in length scales."""
        scaled = X / self._scales
        k, slope = matern52_and_slope(scaled_square_distances(scaled, self._centres))
        return k @ self._weights, slope * self._weights, scaled

    @cached_property
    def _reference(self) -> float:
        return float(self.posterior(self.x[None, :]).std[0])

    @cached_property
    def _scales(self) -> Array:
        return self.posterior.hyper.lengthscales[self.posterior.groups]

    @cached_property
    def _centres(self) -> Array:
        """The data and x*, in length scales."""
        return np.vstack([self.posterior.X, self.x]) / self._scales

    @cached_property
    def _weights(self) -> Array:
        """Weights of the kernels about the centres, in squared user's units."""
        lower = self.posterior.lower
        cross = self.posterior.cross_covariance(self.x[None, :])
        pull = chol.solve_upper(lower, chol.solve_lower(lower, cross))[:, 0]
        unit = self.posterior.hyper.outputscale * self.posterior.standardiser.scale**2
        return unit * np.append(-pull, 1.0)
