# SPDX-License-Identifier: Apache-2.0
r"""The difference posterior: a posterior seen from one point x*, as the law of f(x) - f(x*).

With noisy observations the value of the best point is uncertain too, and what counts is the
difference: a point that cannot be told from x* gains nothing, however uncertain both are.

.. math:: \mathrm{Var}(f(x) - f(x^*)) = s^2(x) + s^2(x^*) - 2\,\mathrm{cov}(x, x^*)

The covariance is a sum of kernels about the data and x*, so its gradient is one as well.

The law is that of value + f(x) - f(x*), where the value is what is believed of f(x*): its mean, or
in an ensemble the one value that all components are compared with. Where outputs are warped, f(x*)
= w^-1(z*) with a normal z*, and given z* the warped f(x) is normal. The law is then a mixture over
the nodes of a quadrature of z*; at x = x* every component of it is certain of the value. A soft
warp is the identity up to its knee, and the best point is below it as a rule: f(x) - f(x*) is then
the difference of the normals for all levels that an improvement is about, and no nodes are needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.kernel_basis import KernelBasis
from stopwise.core.beliefs.laws import Bounded, Law, Mixture, Normal, Shifted
from stopwise.core.beliefs.surrogate import Marginals
from stopwise.core.beliefs.warps import DEFAULT_WARP, Clipped, SoftWarp, Warp
from stopwise.core.numerics import cholesky
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.limits import LARGEST_VALUE

_SURELY = 4.0  # deviations: z* is above the knee with a probability of 3e-5
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)  # of the quadrature of z*


def difference_posterior(posterior: Posterior, x: Array, value: float | None = None) -> Marginals:
    """The posterior of value + f - f(x), jointly.

    Args:
        posterior: The posterior.
        x: The point that f is compared with.
        value: What is believed of f(x); the posterior's own median if left out.
    """
    if posterior.hyper.warp == DEFAULT_WARP:
        shift = 0.0 if value is None else value - float(posterior(x[None, :]).mean[0])
        return DifferencePosterior(posterior, x, shift)
    if value is None:
        value = float(posterior.law(x[None, :]).median[0])
    warp, at_x = posterior.hyper.warp, posterior(x[None, :])
    mean, std = float(at_x.mean[0]), float(at_x.std[0])
    if isinstance(warp, SoftWarp) and mean + _SURELY * std <= warp.knee:
        shift = value - mean
        moved = replace(warp, knee=warp.knee + shift)
        return SoftDifference(DifferencePosterior(posterior, x, shift), moved)
    return WarpedDifference(DifferencePosterior(posterior, x), value)


@dataclass(frozen=True, eq=False)  # no slots: what derives from the fields is cached
class DifferencePosterior:
    """The mean of f(x), and the deviation of f(x) - f(x*), over x; for outputs without a warp.

    Args:
        posterior: The posterior.
        x: x*.
        shift: Added to the means: the value less the mean of f(x*).
    """

    posterior: Posterior
    x: Array
    shift: float = 0.0

    def law(self, X: Array) -> Law:
        """The normal law with these means and deviations."""
        return self(X)

    def law_with_gradient(self, X: Array) -> tuple[Law, tuple[Array, ...]]:
        """The law and the gradients of its parameters in x."""
        normal, *gradients = self.with_gradient(X)
        return normal, tuple(gradients)

    def __call__(self, X: Array) -> Normal:
        """Means of f, and deviations of the difference, at the rows of X."""
        mean, std = self.posterior(X)
        return Normal(mean + self.shift, self._deviation(std, self.covariance(X)))

    def covariance(self, X: Array) -> Array:
        """Covariances of f at the rows of X with f(x*)."""
        return np.asarray(self._basis.values(self.posterior.scaled(X)) @ self._weights)

    def covariance_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """The same with gradients in x."""
        kernels = self._basis.at(self.posterior.scaled(X))
        gradient = self.posterior.in_x(kernels.gradients(self._weights)[0], X)
        return kernels.values @ self._weights, gradient

    def with_gradient(self, X: Array) -> tuple[Normal, Array, Array]:
        """The same with the gradients of mean and deviation in x."""
        (mean, std), d_mean, d_std = self.posterior.with_gradient(X)
        covariance, d_covariance = self.covariance_with_gradient(X)
        deviation = self._deviation(std, covariance)
        d_half_variance = std[:, None] * d_std - d_covariance
        d_deviation = _per_deviation(d_half_variance, deviation)
        return Normal(mean + self.shift, deviation), d_mean, d_deviation

    def _deviation(self, std: Array, covariance: Array) -> Array:
        return np.sqrt(np.maximum(std**2 + self.reference**2 - 2.0 * covariance, 0.0))

    @cached_property
    def reference(self) -> float:
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


@dataclass(frozen=True, eq=False, slots=True)
class SoftDifference:
    """The same under a soft warp whose knee is above f(x*), moved with the value.

    Beyond the knee the law is that of a difference to the mean of f(x*); levels there are no
    improvements.
    """

    difference: DifferencePosterior
    warp: SoftWarp

    def law(self, X: Array) -> Law:
        """The softly warped normal difference."""
        return self.warp.law(self.difference(X))

    def law_with_gradient(self, X: Array) -> tuple[Law, tuple[Array, ...]]:
        """The law and the gradients of its parameters in x."""
        normal, *gradients = self.difference.with_gradient(X)
        return self.warp.law(normal), tuple(gradients)


@dataclass(frozen=True, eq=False)  # no slots: what derives from the fields is cached
class WarpedDifference:
    """The same where outputs are warped: a mixture over the nodes of f(x*)."""

    difference: DifferencePosterior
    value: float

    def law(self, X: Array) -> Law:
        """The mixture over the nodes."""
        mean, std = self.difference.posterior(X)
        return self._mixture(mean, std, self.difference.covariance(X))[0]

    def law_with_gradient(self, X: Array) -> tuple[Law, tuple[Array, ...]]:
        """The mixture, and the gradients of mean and deviation at each node."""
        (mean, std), d_mean, d_std = self.difference.posterior.with_gradient(X)
        covariance, d_covariance = self.difference.covariance_with_gradient(X)
        law, slope, rest = self._mixture(mean, std, covariance)
        by_slope = self._per_reference * d_covariance
        d_square = std[:, None] * d_std - slope[:, None] * by_slope
        d_rest = _per_deviation(d_square, rest)
        gradients = [each for node in _NODES for each in (d_mean + node * by_slope, d_rest)]
        return law, tuple(gradients)

    def _mixture(self, mean: Array, std: Array, covariance: Array) -> tuple[Mixture, Array, Array]:
        """The law, the slope of the warped f(x) in a node, and its deviation given z*."""
        warp, difference = self.difference.posterior.hyper.warp, self.difference
        slope = self._per_reference * covariance
        rest = np.sqrt(np.maximum(std**2 - slope**2, 0.0))
        centre = float(difference.posterior(difference.x[None, :]).mean[0])
        at_x = np.minimum(warp.inverse(centre + difference.reference * _NODES), LARGEST_VALUE)
        laws = [
            _shifted_law(warp, Normal(mean + node * slope, rest), self.value - float(there))
            for node, there in zip(_NODES, at_x, strict=True)
        ]
        return Mixture(_WEIGHTS / _WEIGHTS.sum(), laws), slope, rest

    @property
    def _per_reference(self) -> float:
        """One over the deviation of z*; 0 where f(x*) is certain."""
        reference = self.difference.reference
        return 1.0 / reference if reference > 0.0 else 0.0


def _per_deviation(d_half_variance: Array, deviation: Array) -> Array:
    """Gradients of a deviation from those of half its square; none where nothing is uncertain."""
    by = deviation[:, None]
    return np.divide(d_half_variance, by, out=np.zeros_like(d_half_variance), where=by > 0.0)


def _shifted_law(warp: Warp, normal: Normal, shift: float) -> Law:
    """The law of f + shift; warps and bounds move with it, which a mixture can ask faster."""
    if warp == DEFAULT_WARP:
        return Normal(normal.mean + shift, normal.std)
    if isinstance(warp, SoftWarp):
        return replace(warp, knee=warp.knee + shift).law(Normal(normal.mean + shift, normal.std))
    if isinstance(warp, Clipped) and warp.low + shift < warp.high + shift:
        inside = _shifted_law(warp.of, normal, shift)
        return Bounded(inside, warp.low + shift, warp.high + shift)
    return Shifted(warp.law(normal), shift)
