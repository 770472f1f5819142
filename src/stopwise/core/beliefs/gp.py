# SPDX-License-Identifier: Apache-2.0
r"""Exact Gaussian-process regression with a constant mean: the posterior and its gradients.

Inputs are encoded (unit cube). Observed values pass through the output warp and are standardised;
a posterior answers in the units of the warp (the user's, unless outputs are warped) when it is
called, and in the user's by its laws. With :math:`K = \sigma_f^2 k(X, X) + \sigma_n^2 I = L L^T`,
residual :math:`v = L^{-1}(y - m)` and :math:`u(x) = L^{-1} k(X, x)`:

- mean :math:`m + u^T v`, variance :math:`\sigma_f^2 - u^T u`.
- The posterior of the first k observations is the leading block of L, v and u: ``prefix`` is free.
- One more observation is one more row of L and v: ``append``.

**Interpolation.** Where observations carry no noise, :math:`\sigma_n^2` is only a nugget for the
factorisation, and the uncertainty that it adds must not look like something to be gained. The mean
above is the linear predictor :math:`m + w^T(y - m)` with :math:`w = K^{-1}k`; if the data are
exact, its mean squared error is exactly :math:`\sigma_f^2 - u^T u - \sigma_n^2 w^T w`.
``interpolate=True`` uses that, and it falls to zero beside the data as the nugget alone does not
allow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from stopwise.core.beliefs._factorisation import centred_targets, factorised, frozen
from stopwise.core.beliefs._moments import moments, moments_and_pull
from stopwise.core.beliefs.distances import from_pairs, pair_square_distances
from stopwise.core.beliefs.hyperparameters import Hyperparameters, ObjectiveFit
from stopwise.core.beliefs.interpolation import Interpolation
from stopwise.core.beliefs.kernel_basis import KernelBasis
from stopwise.core.beliefs.laws import Law, Normal
from stopwise.core.beliefs.observations import as_data
from stopwise.core.beliefs.standardiser import Standardiser
from stopwise.core.numerics import cholesky
from stopwise.core.numerics.arrays import Array, Indices
from stopwise.errors import InputError

if TYPE_CHECKING:
    from stopwise.core.beliefs.followed_table import FollowedTable
    from stopwise.core.beliefs.surrogate import Marginals

__all__ = ["Hyperparameters", "Normal", "Posterior", "Standardiser", "condition"]

_LARGEST = 1e300  # a value in place of a median that overflows, as those of warped laws may
_BLOCK = 512  # rows per pass over many candidates: bounds memory, keeps temporaries in cache


@dataclass(frozen=True, eq=False)  # no slots: what derives from the fields is cached
class Posterior:
    """What is believed of a function after n observations. Immutable; made by ``condition``.

    Attributes:
        X: Observed points, encoded, (n, width).
        hyper: Hyper-parameters, with kernel and warp.
        standardiser: Between the units of the warp and standardised ones.
        groups: Which parameter a column belongs to.
        interpolate: Whether observations are exact and the noise is only a nugget.
        lower: The factor L.
        whitener: Its inverse: products with it are faster than solves, and as accurate.
        residual: v.
        jitter: What the factorisation had to add to the diagonal; 0.0 as a rule.
        interpolation: What many exact observations take off the variance.
    """

    X: Array
    hyper: Hyperparameters
    standardiser: Standardiser
    groups: Indices
    interpolate: bool
    lower: Array
    whitener: Array
    residual: Array
    jitter: float
    interpolation: Interpolation | None
    followed: ClassVar[FollowedTable | None] = None  # what is known of a table: see ``extended``

    def __len__(self) -> int:
        """Number of observations."""
        return int(self.residual.size)

    # ------------------------------------------------------------- what others ask

    @property
    def exact(self) -> bool:
        """Whether observations are exact, so that f is known where it was observed."""
        return self.interpolate

    @property
    def unit(self) -> float:
        """A typical difference of two values of f, in the user's units: the deviation of y."""
        centre = np.array(self.standardiser.shift)
        return self.standardiser.scale * float(self.hyper.warp.inverse_slope(centre))

    @property
    def resolution(self) -> float:
        """What the nugget blurs values of f by; 0.0 where observations are noisy."""
        return self.unit * math.sqrt(self.nugget) if self.interpolate else 0.0

    @cached_property
    def column_lengthscales(self) -> Array:
        """The length scale of each column."""
        return frozen(self.hyper.lengthscales[self.groups])

    @property
    def nugget(self) -> float:
        """Noise and jitter on the diagonal, standardised."""
        return self.hyper.noise + self.jitter

    @property
    def log_likelihood(self) -> float:
        """Log marginal likelihood of the standardised observations."""
        quadratic = float(self.residual @ self.residual)
        constant = len(self) * math.log(2.0 * math.pi)
        return -0.5 * (quadratic + cholesky.log_determinant(self.lower) + constant)

    @property
    def fit(self) -> ObjectiveFit:
        """The hyper-parameters."""
        return ObjectiveFit((self.hyper,))

    @property
    def trust(self) -> float:
        """What it promises is taken as it is."""
        return 1.0

    @property
    def weighted(self) -> tuple[tuple[float, Posterior], ...]:
        """Itself."""
        return ((1.0, self),)

    # ------------------------------------------------------------------ values

    def law(self, X: Array) -> Law:
        """The law of f at the rows of X, in the user's units."""
        return self.hyper.warp.law(self(X))

    def law_with_gradient(self, X: Array) -> tuple[Law, tuple[Array, ...]]:
        """The law and the gradients of its parameters in x; for a few rows at a time."""
        normal, *gradients = self.with_gradient(X)
        return self.hyper.warp.law(normal), tuple(gradients)

    def relative_to(self, x: Array, value: float) -> Marginals:  # noqa: ARG002  it is its own
        """The posterior of value + f - f(x), where the value is its own median of f(x)."""
        from stopwise.core.beliefs.difference_posterior import difference_posterior

        return difference_posterior(self, x)

    def __call__(self, X: Array) -> Normal:
        """Mean and deviation at the rows of X, in the units of the warp."""
        if self.followed is not None and self.followed.is_at(X, len(self)):
            return self._unstandardised(*self.followed.moments(self, X))
        mean, variance = np.empty(len(X)), np.empty(len(X))
        for start in range(0, len(X), _BLOCK):
            rows = slice(start, start + _BLOCK)
            mean[rows], variance[rows] = moments(self, self.cross_covariance(X[rows]))
        return self._unstandardised(mean, variance)

    def with_gradient(self, X: Array) -> tuple[Normal, Array, Array]:
        """``(Normal, d mean/dx, d std/dx)`` at the rows of X; meant for a few rows at a time."""
        kernels = self._basis.at(self._multiplied(X))
        mean, variance, pull = moments_and_pull(self, kernels.values.T)
        normal = self._unstandardised(mean, variance)
        scale = self.standardiser.scale
        gradients = kernels.gradients(self.weights, pull.T)
        gradients *= self._inverse_lengthscales * scale * self.hyper.kernel.warp_slope(X)
        d_mean, d_half_variance = gradients
        # d std = d variance/(2 std); none where nothing is uncertain.
        std = normal.std[:, None]
        scale_over_std = np.divide(-scale, std, out=np.zeros_like(std), where=std > 0)
        return normal, d_mean, d_half_variance * scale_over_std

    def covariance(self, A: Array, B: Array) -> Array:
        """Posterior covariances between the rows of A and of B, in squared units of the warp."""
        u_a = cholesky.times_lower(self.whitener, self.cross_covariance(A))
        if A is B:  # every pair once
            squares = pair_square_distances(self._multiplied(A))
            value = from_pairs(self.hyper.kernel.value(squares), len(A))
            np.fill_diagonal(value, 1.0)
            u_b = u_a
        else:
            value = KernelBasis(self.hyper.kernel, self._multiplied(B)).values(self._multiplied(A))
            u_b = cholesky.times_lower(self.whitener, self.cross_covariance(B))
        value *= self.hyper.outputscale
        value -= u_a.T @ u_b
        if self.interpolate:
            w_a = self._unwhitened(u_a)
            w_b = w_a if A is B else self._unwhitened(u_b)
            value -= self.nugget * (w_a.T @ w_b)
        value *= self.standardiser.scale**2
        return value

    def cross_covariance(self, X: Array) -> Array:
        """Prior covariance of data and X, (n, rows), standardised; Fortran-ordered for solves."""
        return self._basis.values(self._multiplied(X)).T

    def scaled(self, X: Array) -> Array:
        """The rows of X as the kernel sees them: warped, in length scales."""
        return self.hyper.kernel.warp(X) / self.column_lengthscales

    def in_x(self, gradients: Array, X: Array) -> Array:
        """Gradients in scaled inputs as gradients in the rows of X."""
        return gradients / self.column_lengthscales * self.hyper.kernel.warp_slope(X)

    def kernels_about(self, X: Array) -> KernelBasis:
        """The kernel about each row of X, of unit variance, as functions of scaled inputs."""
        return KernelBasis(self.hyper.kernel, self.scaled(X))

    # ------------------------------------------------------------- conditioning

    def append(self, x: Array, y: float) -> Posterior:
        """The posterior with one more observation, at unchanged hyper-parameters: O(n^2)."""
        x = np.asarray(x, dtype=np.float64)
        row = cholesky.times_lower(self.whitener, self.cross_covariance(x[None, :]))[:, 0]
        square = self.hyper.outputscale + self.nugget - float(row @ row)
        target = float(
            centred_targets(np.array(y, dtype=np.float64), self.hyper, self.standardiser)
        )
        X = frozen(np.vstack([self.X, x]))
        if square <= 0.0:  # a duplicate beyond what the nugget allows: factorise anew, with jitter
            before = self.lower @ self.residual  # y - m of the earlier observations
            return factorised(replace(self, X=X), np.append(before, target))
        pivot = math.sqrt(square)
        whitener_row = -self._unwhitened(row[:, None])[:, 0] / pivot
        innovation = (target - float(row @ self.residual)) / pivot
        interpolation = self.interpolation
        if interpolation is not None:
            interpolation = interpolation.grown(self.whitener, whitener_row, 1.0 / pivot)
        return replace(
            self,
            X=X,
            lower=frozen(cholesky.append_row(self.lower, row, pivot)),
            whitener=frozen(cholesky.append_row(self.whitener, whitener_row, 1.0 / pivot)),
            residual=frozen(np.append(self.residual, innovation)),
            interpolation=interpolation,
        )

    def believing(self, x: Array, least: float = -math.inf) -> Posterior:
        """As if x had given the median that is expected there, or ``least`` if that is more."""
        median = float(self.law(x[None, :]).median[0])
        return self.append(x, min(max(least, median), _LARGEST))

    def prefix(self, k: int) -> Posterior:
        """The posterior given only the first k observations, at the same hyper-parameters."""
        if not 0 <= k <= len(self):
            message = f"prefix({k}) of {len(self)} observations: k must be from 0 to {len(self)}."
            raise InputError(message)
        return replace(
            self,
            X=self.X[:k],
            lower=frozen(np.asfortranarray(self.lower[:k, :k])),
            whitener=frozen(np.asfortranarray(self.whitener[:k, :k])),
            residual=self.residual[:k],
            interpolation=None,
        )

    def with_likeliest_mean(self) -> Posterior:
        r"""The posterior at the constant mean that maximises the likelihood.

        That is :math:`1^T K^{-1} y / 1^T K^{-1} 1`; the other hyper-parameters stay. There must be
        an observation.
        """
        if not len(self):
            raise InputError("no observation, no likeliest mean: condition on data first.")
        ones = cholesky.solve_lower(self.lower, np.ones((len(self), 1)))[:, 0]
        rise = float(ones @ self.residual / (ones @ ones))
        return replace(
            self,
            hyper=replace(self.hyper, mean=self.hyper.mean + rise),
            residual=frozen(self.residual - rise * ones),
        )

    # ------------------------------------------------------------------ details

    @cached_property
    def _basis(self) -> KernelBasis:
        """Prior covariances with the data."""
        return KernelBasis(self.hyper.kernel, self._multiplied(self.X), self.hyper.outputscale)

    def _multiplied(self, X: Array) -> Array:
        """As ``scaled``, but by a product, which is faster and may differ in the last bit."""
        return self.hyper.kernel.warp(X) * self._inverse_lengthscales

    @cached_property
    def _inverse_lengthscales(self) -> Array:
        return 1.0 / self.column_lengthscales

    @cached_property
    def weights(self) -> Array:
        """K^-1 (y - m)."""
        return self._unwhitened(self.residual[:, None])[:, 0]

    def _unwhitened(self, u: Array) -> Array:
        """L^-T u; of a whitened k, the weights w."""
        return cholesky.times_upper(self.whitener, u)

    def _unstandardised(self, mean: Array, variance: Array) -> Normal:
        std = np.sqrt(np.maximum(variance, 0.0))
        mean = self.standardiser.inverse(mean + self.hyper.mean)
        return Normal(mean, std * self.standardiser.scale)


def condition(
    X: Array,
    y: Array,
    hyper: Hyperparameters,
    *,
    standardiser: Standardiser | None = None,
    groups: Indices | None = None,
    interpolate: bool = False,
) -> Posterior:
    """The posterior given observations y (user's units) at the rows of X.

    Args:
        X: Encoded inputs, (n, width); n may be 0.
        y: Observed values, (n,).
        hyper: Hyper-parameters, in standardised units.
        standardiser: Map to standardised units; that of y, warped, if left out.
        groups: Column -> parameter; one parameter per column if left out.
        interpolate: Whether the data are exact and the noise is only a nugget.

    Returns:
        A frozen posterior; ``posterior.jitter`` says what the factorisation had to add.

    Example:
        >>> X, y = np.array([[0.2], [0.8]]), np.array([1.0, 3.0])
        >>> posterior = condition(X, y, Hyperparameters([0.3]), interpolate=True)
        >>> posterior(X).mean.round(6)
        array([1., 3.])
        >>> len(posterior.append(np.array([0.5]), 2.5)), len(posterior.prefix(1))
        (3, 1)
    """
    X, y = as_data(X, y)
    if standardiser is None:
        standardiser = Standardiser.of(hyper.warp.forward(y))
    groups = frozen(np.arange(X.shape[1]) if groups is None else np.array(groups))
    hyper.check_dimension(int(groups.max(initial=-1)) + 1)
    empty = np.empty((0, 0), order="F")
    X = frozen(X.copy())
    blank = Posterior(X, hyper, standardiser, groups, interpolate, empty, empty, y, 0.0, None)
    return factorised(blank, centred_targets(y, hyper, standardiser))
