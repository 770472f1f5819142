# SPDX-License-Identifier: Apache-2.0
r"""A posterior seen from one point: how uncertain is f(x) - f(x*)?

With noisy observations the value of the best point is uncertain too, and what counts is the
difference: a point that cannot be told from x* gains nothing, however uncertain both are.

.. math:: \mathrm{Var}(f(x) - f(x^*)) = s^2(x) + s^2(x^*) - 2\,\mathrm{cov}(x, x^*)

The covariance is a sum of kernels about the data and x*, so its gradient is one as well. Where
outputs are warped, the difference is taken before the warp is undone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.kernel_basis import KernelBasis
from stopwise.core.beliefs.laws import Law, Normal
from stopwise.core.numerics import cholesky
from stopwise.core.numerics.arrays import Array


@dataclass(frozen=True, eq=False)  # no slots: what derives from the fields is cached
class DifferencePosterior:
    """The mean of f(x), and the deviation of f(x) - f(x*), over x."""

    posterior: Posterior
    x: Array

    def law(self, X: Array) -> Law:
        """The law with these means and deviations, in the user's units."""
        return self.posterior.hyper.warp.law(self(X))

    def law_with_gradient(self, X: Array) -> tuple[Law, tuple[Array, ...]]:
        """The law and the gradients of its parameters in x."""
        normal, *gradients = self.with_gradient(X)
        return self.posterior.hyper.warp.law(normal), tuple(gradients)

    def __call__(self, X: Array) -> Normal:
        """Means of f, and deviations of the difference, at the rows of X."""
        mean, std = self.posterior(X)
        covariance = self._basis.values(self.posterior.scaled(X)) @ self._weights
        return Normal(mean, self._deviation(std, covariance))

    def with_gradient(self, X: Array) -> tuple[Normal, Array, Array]:
        """The same with the gradients of mean and deviation in x."""
        (mean, std), d_mean, d_std = self.posterior.with_gradient(X)
        kernels = self._basis.at(self.posterior.scaled(X))
        deviation = self._deviation(std, kernels.values @ self._weights)
        d_covariance = self.posterior.in_x(kernels.gradients(self._weights)[0], X)
        d_half_variance = std[:, None] * d_std - d_covariance
        safe = np.maximum(deviation, 1e-300)[:, None]
        d_deviation = np.where(deviation[:, None] > 0, d_half_variance / safe, 0.0)
        return Normal(mean, deviation), d_mean, d_deviation

    def _deviation(self, std: Array, covariance: Array) -> Array:
        return np.sqrt(np.maximum(std**2 + self._reference**2 - 2.0 * covariance, 0.0))

    @cached_property
    def _reference(self) -> float:
        """The deviation of f(x*)."""
        return float(self.posterior(self.x[None, :]).std[0])

    @cached_property
    def _basis(self) -> KernelBasis:
        """Kernels about the data and x*."""
        return self.posterior.kernels_about(np.vstack([self.posterior.X, self.x]))

    @cached_property
    def _weights(self) -> Array:
        """Weights of these kernels in the covariance with f(x*), in squared units."""
        lower = self.posterior.lower
        cross = self.posterior.cross_covariance(self.x[None, :])
        pull = cholesky.solve_upper(lower, cholesky.solve_lower(lower, cross))[:, 0]
        unit = self.posterior.hyper.outputscale * self.posterior.standardiser.scale**2
        return unit * np.append(-pull, 1.0)
