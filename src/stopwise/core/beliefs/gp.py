# SPDX-License-Identifier: Apache-2.0
r"""Exact Gaussian-process regression with a constant mean: the posterior and its gradients.

Inputs are encoded (unit cube); outputs are standardised inside and in the user's units outside.
With :math:`K = \sigma_f^2 k(X, X) + \sigma_n^2 I = L L^T`, residual :math:`v = L^{-1}(y - m)`
and :math:`u(x) = L^{-1} k(X, x)`:

- mean :math:`m + u^T v`, variance :math:`\sigma_f^2 - u^T u`.
- The posterior of the first k observations is the leading block of L, v and u: ``prefix`` is free.
- One more observation is one more row of L and v: ``append``.

**Interpolation.** Where observations carry no noise, :math:`\sigma_n^2` is only a nugget for the
factorisation, and its own uncertainty must not look like something to be gained. The mean above
is the linear predictor :math:`m + w^T(y - m)` with :math:`w = K^{-1}k`; if the data are exact, its
mean squared error is exactly :math:`\sigma_f^2 - u^T u - \sigma_n^2 w^T w`. ``interpolate=True``
uses that, and it falls to zero beside the data as the nugget alone does not allow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.beliefs.kernel import (
    from_pairs,
    matern52,
    matern52_and_slope,
    pair_square_distances,
    scaled_square_distances,
)
from stopwise.core.numerics import cholesky as chol
from stopwise.core.numerics.arrays import Array, Indices
from stopwise.errors import InputError

AnyArray = TypeVar("AnyArray", Array, Indices)

_BLOCK = 512  # rows per pass over many candidates: bounds memory, keeps temporaries in cache
_ROUNDING = 1e-13  # spread of y below this fraction of |y| is rounding, not signal
_NO_SPREAD = 1e-10  # of |y|: what counts as a deviation of values that have none


class Normal(NamedTuple):
    """Means and standard deviations, elementwise."""

    mean: Array
    std: Array


@dataclass(frozen=True, slots=True)
class Standardiser:
    """The affine map between the user's units and the model's: z = (y - shift)/scale."""

    shift: float = 0.0
    scale: float = 1.0

    @classmethod
    def of(cls, y: Array) -> Standardiser:
        """Mean 0, deviation 1.

        One value says nothing of the unit and keeps it (scale 1). Several without any spread say
        that next to nothing varies: their scale is tiny beside them, so that nothing is expected
        to be gained.
        """
        _reject_non_finite(y)
        if not y.size:
            return cls()
        largest = float(np.max(np.abs(y))) or 1.0
        scaled = y / largest  # so that squares neither over- nor underflow
        shift = float(np.mean(scaled)) * largest
        if y.size == 1:
            return cls(shift)
        spread = float(np.std(scaled, ddof=1))
        return cls(shift, (spread if spread > _ROUNDING else _NO_SPREAD) * largest)

    def forward(self, y: Array) -> Array:
        """User's units to the model's."""
        _reject_non_finite(y)
        return (y - self.shift) / self.scale


@dataclass(frozen=True, slots=True, eq=False)  # arrays have no plain equality
class Hyperparameters:
    """What a fit decides, in standardised units.

    Args:
        lengthscales: One per parameter, in units of the encoded cube.
        outputscale: Prior variance of f.
        noise: Variance of an observation about f (or the nugget where there is none).
        mean: The constant prior mean.
    """

    lengthscales: Array
    outputscale: float = 1.0
    noise: float = 1e-9
    mean: float = 0.0

    def __post_init__(self) -> None:
        own = np.array(self.lengthscales, dtype=np.float64)
        object.__setattr__(self, "lengthscales", _frozen(own))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hyperparameters) and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(self._numbers)

    @property
    def _numbers(self) -> tuple[float, ...]:
        return (self.outputscale, self.noise, self.mean, *self.lengthscales.ravel().tolist())


@dataclass(frozen=True, eq=False)  # no slots: what derives from the fields is cached
class Posterior:
    """What is believed of a function after n observations. Immutable; see ``condition``."""

    X: Array
    hyper: Hyperparameters
    standardiser: Standardiser
    groups: Indices
    interpolate: bool
    lower: Array
    whitener: Array  # L^-1: products with it are faster than solves, and as accurate
    residual: Array
    jitter: float

    def __len__(self) -> int:
        """Number of observations."""
        return int(self.residual.size)

    # ------------------------------------------------------------------ values

    def __call__(self, X: Array) -> Normal:
        """Mean and deviation of f at the rows of X, in the user's units."""
        mean, variance = np.empty(len(X)), np.empty(len(X))
        for start in range(0, len(X), _BLOCK):
            rows = slice(start, start + _BLOCK)
            cross = self.cross_covariance(X[rows])
            u = chol.times_lower(self.whitener, cross)
            mean[rows] = self.residual @ u
            variance[rows] = self._variance(u)
        return self._user_units(mean, variance)

    def with_gradient(self, X: Array) -> tuple[Normal, Array, Array]:
        """``(Normal, d mean/dx, d std/dx)`` at the rows of X; meant for a few rows at a time."""
        scaled = X * self._inverse_scales
        squares = scaled_square_distances(scaled, self._scaled).T  # Fortran-ordered for BLAS
        k, slope = matern52_and_slope(squares)
        k *= self.hyper.outputscale
        slope *= self.hyper.outputscale
        u = chol.times_lower(self.whitener, k)
        w = self._unwhitened(u)
        variance = self.hyper.outputscale - np.vecdot(u.T, u.T)
        pull = w  # d variance = -2 pull^T dk
        if self.interpolate:
            noise = self.nugget
            variance -= noise * np.vecdot(w.T, w.T)
            pull = w + noise * self._unwhitened(chol.times_lower(self.whitener, w))
        normal = self._user_units(self.residual @ u, variance)
        d_mean, d_half_variance = self._through_kernel(slope, pull, scaled)
        # d std = d variance/(2 std), in the user's units; none where nothing is uncertain.
        std = normal.std[:, None]
        scale_over_std = np.divide(
            -self.standardiser.scale, std, out=np.zeros_like(std), where=std > 0
        )
        return normal, d_mean, d_half_variance * scale_over_std

    def covariance(self, A: Array, B: Array) -> Array:
        """Posterior covariances of f between the rows of A and of B, in squared user's units."""
        scales = self._inverse_scales
        u_a = chol.times_lower(self.whitener, self.cross_covariance(A))
        if A is B:  # every pair once
            value = from_pairs(matern52(pair_square_distances(A * scales)), len(A))
            np.fill_diagonal(value, 1.0)
            u_b = u_a
        else:
            value = matern52(scaled_square_distances(A * scales, B * scales))
            u_b = chol.times_lower(self.whitener, self.cross_covariance(B))
        value *= self.hyper.outputscale
        value -= u_a.T @ u_b
        if self.interpolate:
            w_a = self._unwhitened(u_a)
            w_b = w_a if A is B else self._unwhitened(u_b)
            value -= self.nugget * (w_a.T @ w_b)
        value *= self.standardiser.scale**2
        return value

    # ------------------------------------------------------------- conditioning

    def append(self, x: Array, y: float) -> Posterior:
        """The posterior with one more observation, at unchanged hyper-parameters: O(n^2)."""
        x = np.asarray(x, dtype=np.float64)
        cross = self.cross_covariance(x[None, :])
        row = chol.times_lower(self.whitener, cross)[:, 0]
        square = self.hyper.outputscale + self.nugget - float(row @ row)
        target = float(self.standardiser.forward(np.array(y, dtype=np.float64))) - self.hyper.mean
        X = _frozen(np.vstack([self.X, x]))
        if square <= 0.0:  # a duplicate beyond what the nugget allows: factorise anew, with jitter
            seen = self.lower @ self.residual  # y - m of what is already there
            return _factorised(replace(self, X=X), np.append(seen, target))
        pivot = math.sqrt(square)
        whitener_row = -self._unwhitened(row[:, None])[:, 0] / pivot
        innovation = (target - float(row @ self.residual)) / pivot
        return replace(
            self,
            X=X,
            lower=_frozen(chol.append_row(self.lower, row, pivot)),
            whitener=_frozen(chol.append_row(self.whitener, whitener_row, 1.0 / pivot)),
            residual=_frozen(np.append(self.residual, innovation)),
        )

    def prefix(self, k: int) -> Posterior:
        """The posterior given only the first k observations, at the same hyper-parameters."""
        if not 0 <= k <= len(self):
            message = f"prefix({k}) of {len(self)} observations: k must be from 0 to {len(self)}."
            raise InputError(message)
        return replace(
            self,
            X=self.X[:k],
            lower=_frozen(np.asfortranarray(self.lower[:k, :k])),
            whitener=_frozen(np.asfortranarray(self.whitener[:k, :k])),
            residual=self.residual[:k],
        )

    @property
    def log_likelihood(self) -> float:
        """Log marginal likelihood of the standardised observations."""
        n = len(self)
        quadratic = float(self.residual @ self.residual)
        return -0.5 * (quadratic + chol.log_determinant(self.lower) + n * math.log(2.0 * math.pi))

    # ------------------------------------------------------------------ details

    @property
    def nugget(self) -> float:
        """Noise and jitter on the diagonal, standardised."""
        return self.hyper.noise + self.jitter

    @cached_property
    def _inverse_scales(self) -> Array:
        """1/length scale of each column."""
        return 1.0 / self.hyper.lengthscales[self.groups]

    @cached_property
    def _scaled(self) -> Array:
        """The data, in length scales."""
        return self.X * self._inverse_scales

    @cached_property
    def _scaled_and_one(self) -> Array:
        """The data, in length scales, and a column of ones, with which a product sums."""
        return np.hstack([self._scaled, np.ones((len(self._scaled), 1))])

    @cached_property
    def _weights(self) -> Array:
        """K^-1 (y - m), as a column."""
        return self._unwhitened(self.residual[:, None])

    def cross_covariance(self, X: Array) -> Array:
        """Prior covariance of data and X, (n, rows), standardised; Fortran-ordered for solves."""
        cross = matern52(scaled_square_distances(X * self._inverse_scales, self._scaled)).T
        cross *= self.hyper.outputscale
        return cross

    def _unwhitened(self, u: Array) -> Array:
        """L^-T u; of a whitened k, the weights w."""
        return chol.times_upper(self.whitener, u)

    def _variance(self, u: Array) -> Array:
        variance: Array = self.hyper.outputscale - np.einsum("ij,ij->j", u, u)
        if self.interpolate:
            w = self._unwhitened(u)
            variance -= self.nugget * np.einsum("ij,ij->j", w, w)
        return variance

    def _through_kernel(self, slope: Array, pull: Array, scaled: Array) -> Array:
        """Sums over data of weight * dk/dx, where dk/dx = -slope (x - x_data)/lengthscale^2.

        The weights are those of the mean, and ``pull``: (2, rows, width), scaled as a mean is.
        """
        rows, width = scaled.shape
        weighted = np.empty((2, rows, len(slope)))
        np.multiply(slope.T, self._weights[:, 0], out=weighted[0])
        np.multiply(slope.T, pull.T, out=weighted[1])
        sums = weighted.reshape(2 * rows, -1) @ self._scaled_and_one
        sums = sums.reshape(2, rows, width + 1)
        towards = sums[:, :, :-1] - scaled * sums[:, :, -1:]
        return np.asarray(towards * (self._inverse_scales * self.standardiser.scale))

    def _user_units(self, mean: Array, variance: Array) -> Normal:
        scale, shift = self.standardiser.scale, self.standardiser.shift
        std = np.sqrt(np.maximum(variance, 0.0))
        return Normal((mean + self.hyper.mean) * scale + shift, std * scale)


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
        standardiser: Map to standardised units; that of y if left out.
        groups: Column -> parameter; one parameter per column if left out.
        interpolate: Whether the data are exact and the noise is only a nugget.

    Returns:
        A frozen posterior; ``posterior.jitter`` says what the factorisation had to add.
    """
    X, y = as_data(X, y)
    standardiser = Standardiser.of(y) if standardiser is None else standardiser
    groups = _frozen(np.arange(X.shape[1]) if groups is None else np.array(groups))
    empty = np.empty((0, 0), order="F")
    own = _frozen(X.copy())
    blank = Posterior(own, hyper, standardiser, groups, interpolate, empty, empty, y, 0.0)
    return _factorised(blank, standardiser.forward(y) - hyper.mean)


def as_data(X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Inputs (n, width) and observations (n,) as float64, or an error that says what they are."""
    inputs, values = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if inputs.ndim != 2 or values.shape != inputs.shape[:1]:
        message = (
            f"X has shape {inputs.shape} and y has shape {values.shape}: give one row of X per"
            " value of y, (n, width) and (n,)."
        )
        raise InputError(message)
    return inputs, values


def _factorised(posterior: Posterior, centred: Array) -> Posterior:
    """The posterior with its factor computed from scratch."""
    scaled = posterior._scaled  # noqa: SLF001  same module
    covariance = matern52(scaled_square_distances(scaled, scaled))
    covariance *= posterior.hyper.outputscale
    covariance[np.diag_indices_from(covariance)] += posterior.hyper.noise
    lower, jitter = chol.factorise(covariance)
    residual = chol.solve_lower(lower, centred[:, None])[:, 0]
    return replace(
        posterior,
        lower=_frozen(lower),
        whitener=_frozen(chol.inverse_factor(lower)),
        residual=_frozen(residual),
        jitter=jitter,
    )


def _reject_non_finite(y: Array) -> None:
    bad = np.flatnonzero(~np.isfinite(y))
    if bad.size:
        message = (
            f"observations must be finite: observation {bad[0]} is {float(y.flat[bad[0]])!r}"
            f" ({bad.size} of {y.size} are not finite). Report a failed evaluation as failed"
            " instead of giving nan or inf."
        )
        raise InputError(message)


def _frozen(array: AnyArray) -> AnyArray:
    array.flags.writeable = False
    return array
