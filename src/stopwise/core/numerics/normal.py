# SPDX-License-Identifier: Apache-2.0
r"""Expected improvement and the Gittins index of a normal box, through one function.

With :math:`h(z) = z\,\Phi(z) + \varphi(z)` the expected improvement of a normal
variable with mean m and deviation s over a value y is :math:`s\,h((y - m)/s)`.
Hence everything here is ``log h``, its inverse, and composition:

- log EI      :math:`= \log s + \log h((y - m)/s)`                       (Eq. 4 of Xie et al. 2026)
- fair value  :math:`= m + s\,h^{-1}(c/s)`, which solves EI(g) = c       (Eq. 3 of Xie et al. 2026)

Arrays in, arrays out, float64, minimisation. No function here emits a numpy warning,
and nan comes out only where nan went in.

References:
    Xie et al. (2026), Cost-aware Stopping for Bayesian Optimization.
    Ament et al. (2023), Unexpected Improvements to Expected Improvement, for why logs.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, erfcx

from stopwise.core.numerics.arrays import Array
from stopwise.errors import InputError

Numbers: TypeAlias = Any  # an array, or a float64 where all inputs are scalars

_SQRT_2 = math.sqrt(2.0)
_SQRT_HALF_PI = math.sqrt(math.pi / 2.0)
_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
_PHI_0 = 0.3989422804014327  # phi(0) = h(0) = 1/sqrt(2 pi)
_PHI_0_ERROR = -2.49232720227773e-17  # 1/sqrt(2 pi) less the double above
_PHI_0_HIGH = 0.3989422768354416  # its leading 26 bits, for an exact product
_PHI_0_LOW = _PHI_0 - _PHI_0_HIGH

# 1 - x R(x) cancels as 1/x^2 (R: Mills ratio); beyond this x its asymptotic series, 13 terms,
# is exact to rounding, and up to it the cancellation costs at most 4e-14.
_FAR = 14.0
_SERIES = [1.0]
for _k in range(1, 13):
    _SERIES.append(-_SERIES[-1] * (2 * _k + 1))
del _k

_CERTAIN = 38.0  # above this z, h(z) = z to the last bit: what is left to gain is z itself
_LOG_MAX = math.log(np.finfo(np.float64).max)
_GAUSSIAN, _LINEAR = -2.8, 8.0  # where the first guess of the inverse changes its form
_NEAR_ZERO = 0.25  # |z| below which the fair value is refined to keep its relative precision
_BLOCK = 8192  # elements per pass, so that temporaries stay in cache
_STEPS = 2  # of Halley: an error of 0.09 at worst becomes 2e-5, then rounding
_LOWEST = -1e300  # below this t, h^-1 is -sqrt(-2 t) to the last bit, and the ratios overflow


def _tail(x: Array) -> tuple[Array, Array, Array]:
    """Mills ratio R(x), q(x) = 1 - x R(x), and R/q, each to relative precision, for x >= 0."""
    mills = _SQRT_HALF_PI * erfcx(x / _SQRT_2)
    q = 1.0 - x * mills
    ratio = mills / q
    far = x > _FAR
    if far.any():
        xf = x[far]
        inverse = 1.0 / xf
        w = inverse * inverse  # still positive where x^2 has overflowed
        series = np.zeros_like(xf)
        for coefficient in reversed(_SERIES):
            series *= w
            series += coefficient
        q[far] = series * w
        ratio[far] = xf * ((1.0 - q[far]) / series)
    return mills, q, ratio


def _log_h_and_ratios(z: Array) -> tuple[Array, Array, Array]:
    """Log h, Phi/h and phi/h from one evaluation of the Mills ratio."""
    x = np.abs(z)
    mills, q, mills_over_q = _tail(x)
    half_square = 0.5 * x * x
    negative = z < 0
    if negative.all():  # one side as a rule: few points are asked for at a time
        return _below(q, mills_over_q, half_square)
    density = _PHI_0 * np.exp(-half_square)
    h = x + density * q  # h(z) = z + h(-z)
    above = np.log(h), (1.0 - density * mills) / h, density / h
    if not negative.any():
        return above
    below = _below(q, mills_over_q, half_square)
    log_h, cdf_ratio, pdf_ratio = map(np.where, [negative] * 3, below, above)
    return log_h, cdf_ratio, pdf_ratio


def _below(q: Array, mills_over_q: Array, half_square: Array) -> tuple[Array, Array, Array]:
    """Log h, Phi/h and phi/h of z < 0, where h = phi q: phi is taken out of every ratio."""
    return np.log(q) - half_square - _LOG_SQRT_2PI, mills_over_q, 1.0 / q


def _as_arrays(*values: ArrayLike) -> tuple[list[Array], tuple[int, ...]]:
    arrays = [np.asarray(v, dtype=np.float64) for v in values]
    # np.broadcast_arrays would do, at ten times the overhead: this is called on small batches.
    shape = arrays[0].shape
    if any(a.shape not in (shape, ()) for a in arrays):
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
    return [(a if a.shape == shape else _stretched(a, shape)).reshape(-1) for a in arrays], shape


def _stretched(array: Array, shape: tuple[int, ...]) -> Array:
    stretched = np.empty(shape)
    stretched[...] = array
    return stretched


def log_h(z: ArrayLike) -> Numbers:
    r"""Log of :math:`h(z) = z\,\Phi(z) + \varphi(z)`, the improvement of a standard normal.

    Right to 1e-13, relative where ``|log h| > 1``, for ``|z| <= 1e8``.

    Example:
        >>> round(float(log_h(0.0)), 6)  # h(0) = phi(0)
        -0.918939
    """
    (flat,), shape = _as_arrays(z)
    with np.errstate(all="ignore"):
        value, _, _ = _log_h_and_ratios(flat)
    return value.reshape(shape)[()]


def d_log_h(z: ArrayLike) -> Numbers:
    r"""Derivative of ``log_h``: :math:`\Phi(z)/h(z)`, to 1e-12 relative for ``|z| <= 1e8``.

    Example:
        >>> round(float(d_log_h(-1e8)))  # grows as -z, where a naive ratio is noise
        100000000
    """
    (flat,), shape = _as_arrays(z)
    with np.errstate(all="ignore"):
        _, ratio, _ = _log_h_and_ratios(flat)
    return ratio.reshape(shape)[()]


def _first_guess(t: Array) -> Array:
    """Start of the inversion, within 0.09 of the root, or of it where it is larger than 1."""
    # Far below: log h = -y/2 - log sqrt(2 pi) - log(y + 3 - ...) with y = z^2; two fixed points.
    a = np.maximum(-2.0 * t - 2.0 * _LOG_SQRT_2PI, 3.0)
    y = a - 2.0 * np.log(a + 3.0)
    y = a - 2.0 * np.log(np.maximum(y, 0.0) + 3.0)
    below = -np.sqrt(np.maximum(y, 0.0))
    # Above: h is close to softplus(a z)/a with a = log 2/h(0), and to z itself further up.
    v = np.exp(np.minimum(t, _LOG_MAX))
    slope = math.log(2.0) / _PHI_0
    above = np.where(v > _LINEAR, v, np.log(np.expm1(slope * np.minimum(v, _LINEAR))) / slope)
    return np.where(t < _GAUSSIAN, below, above)


def _inv_log_h(t: Array) -> Array:
    """Halley on log h(z) = t, which is increasing and concave."""
    z = _first_guess(t)
    for _ in range(_STEPS):
        value, slope, pdf_ratio = _log_h_and_ratios(z)
        newton = (value - t) / slope
        curvature = pdf_ratio / slope - slope
        z -= newton / (1.0 - 0.5 * newton * curvature)
    z[t > _LOG_MAX] = np.inf
    lowest = t < _LOWEST
    z[lowest] = -_SQRT_2 * np.sqrt(-t[lowest])
    return z


def inv_log_h(t: ArrayLike) -> Numbers:
    r"""The z at which ``log_h(z) = t``, by two steps of Halley's method.

    ``log_h(inv_log_h(t))`` gives t back to 1e-12 for t from -1e6 to 700.

    Example:
        >>> float(log_h(inv_log_h(-50.0)))
        -50.0
    """
    (flat,), shape = _as_arrays(t)
    out = np.empty_like(flat)
    with np.errstate(all="ignore"):
        for start in range(0, flat.size, _BLOCK):
            block = flat[start : start + _BLOCK]
            out[start : start + _BLOCK] = _inv_log_h(block)
    return out.reshape(shape)[()]


def _reject_negative(name: str, given: ArrayLike) -> None:
    values = np.asarray(given, dtype=np.float64).reshape(-1)
    bad = np.flatnonzero(values < 0)
    if bad.size:
        message = (
            f"{name} must not be negative: got {float(values[bad[0]])!r} at position {bad[0]}"
            f" ({bad.size} of {values.size} values). Give {name} >= 0."
        )
        raise InputError(message)


def _log_improvement(gap: Array, s: Array) -> tuple[Array, Array, Array]:
    """Log s h(gap/s) with its derivatives in gap and s."""
    z = gap / s
    log_h_z, cdf_ratio, pdf_ratio = _log_h_and_ratios(z)
    certain = (z > _CERTAIN) | (s == 0)
    if not certain.any():
        return np.log(s) + log_h_z, cdf_ratio / s, pdf_ratio / s
    value = np.where(certain, np.log(np.maximum(gap, 0.0)), np.log(s) + log_h_z)
    d_gap = np.where(certain, np.where(gap > 0, 1.0 / gap, 0.0), cdf_ratio / s)
    d_std = np.where(certain, 0.0, pdf_ratio / s)
    return value, d_gap, d_std


def log_ei(mean: ArrayLike, std: ArrayLike, best: ArrayLike) -> Numbers:
    r"""Log expected improvement below ``best`` of a normal variable, :math:`\log s\,h(z)`.

    Args:
        mean: Posterior mean m.
        std: Posterior deviation s >= 0; 0 gives ``log max(best - mean, 0)``.
        best: The value to improve on (to go below), y.

    Returns:
        The logarithm of E[max(y - f, 0)]; ``-inf`` where nothing can be gained.

    Example:
        >>> round(float(log_ei(0.0, 1.0, -20.0)), 3)  # far too small for EI itself
        -206.918
    """
    return log_ei_partials(mean, std, best)[0]


def log_ei_partials(
    mean: ArrayLike, std: ArrayLike, best: ArrayLike
) -> tuple[Numbers, Numbers, Numbers]:
    r"""``log_ei`` with its derivatives in mean and deviation.

    Returns:
        ``(log EI, d/dmean, d/dstd)``: :math:`-\Phi/(s h)` and :math:`\varphi/(s h)`. The
        derivative in ``best`` is minus that in the mean.
    """
    _reject_negative("std", std)
    (m, s, y), shape = _as_arrays(mean, std, best)
    with np.errstate(all="ignore"):
        gap = y - m
        value, d_gap, d_std = _log_improvement(gap, s)
        if not np.isfinite(gap + s).all():
            _settle_odd_improvements(m, s, y, value, d_gap, d_std)
    return value.reshape(shape)[()], -d_gap.reshape(shape)[()], d_std.reshape(shape)[()]


def _settle_odd_improvements(
    m: Array, s: Array, y: Array, value: Array, d_gap: Array, d_std: Array
) -> None:
    """Put right, in place, what overflow, infinities and nan made of log EI."""
    gap = y - m
    wide = np.isinf(gap) & np.isfinite(m) & np.isfinite(y)
    if wide.any():  # the difference overflows, its logarithm does not
        narrow = np.where(s[wide] > 1e-300, 0.25 * s[wide], s[wide])  # else z is infinite
        quarter = _log_improvement(0.25 * y[wide] - 0.25 * m[wide], narrow)
        value[wide] = quarter[0] + math.log(4.0)
        d_gap[wide], d_std[wide] = 0.25 * quarter[1], 0.25 * quarter[2]
    missing = np.isnan(m) | np.isnan(s) | np.isnan(y)
    undecided = np.isnan(value) & ~missing  # inf - inf or inf/inf: an endless gap decides
    value[undecided] = np.where(gap[undecided] > 0, np.inf, -np.inf)
    d_gap[undecided], d_std[undecided] = 0.0, 0.0
    for array in (value, d_gap, d_std):
        array[missing] = np.nan


def _excess_over_h0(c: Array, s: Array) -> Array:
    """c/s - h(0) to full relative precision, however close the two are."""
    unit, exponent = np.frexp(s)  # powers of two are exact: 0.5 <= unit < 1
    price = np.ldexp(c, -exponent)
    product = unit * _PHI_0
    high = unit * 134217729.0  # 2^27 + 1: Veltkamp's split, then Dekker's exact product
    high -= high - unit
    low = unit - high
    rounding = ((high * _PHI_0_HIGH - product) + high * _PHI_0_LOW + low * _PHI_0_HIGH) + (
        low * _PHI_0_LOW
    )
    return ((price - product) - rounding - unit * _PHI_0_ERROR) / unit


def _refine_near_zero(z: Array, excess: Array) -> Array:
    """One Newton step on h(z) - h(0) = excess, written without cancellation about z = 0."""
    half_erf: Array = 0.5 * erf(z / _SQRT_2)
    residual = 0.5 * z + z * half_erf + _PHI_0 * np.expm1(-0.5 * z * z) - excess
    return z - residual / (0.5 + half_erf)


def _standard_index(s: Array, c: Array) -> Array:
    """The z at which s h(z) = c, to relative precision; infinite at the limits of s and c."""
    ratio = c / s
    safe = (ratio > 1e-290) & (ratio < 1e290)  # away from under- and overflow
    z = np.asarray(inv_log_h(np.where(safe, np.log(ratio), np.log(c) - np.log(s))))
    near = np.abs(z) < _NEAR_ZERO
    if near.any():
        z[near] = _refine_near_zero(z[near], _excess_over_h0(c[near], s[near]))
    z[(s == c) & ~safe] = np.inf  # both 0 or both infinite: the price decides
    return z


def _fair_value(m: Array, s: Array, c: Array) -> tuple[Array, Array]:
    """The fair value g, and z = (g - m)/s. An infinite mean decides, then the price, then s."""
    z = _standard_index(s, c)
    value = m + np.where(z > _CERTAIN, c, s * z)
    # Two huge terms of opposite sign: the sum may be finite where a term is not.
    huge = np.isinf(value) & np.isfinite(m) & np.isfinite(s) & np.isfinite(z)
    value[huge] = 2.0 * (0.5 * m[huge] + (0.5 * s[huge]) * z[huge])
    return np.where(np.isinf(m) & ~np.isnan(z), m, value), z


def _boxes(
    mean: ArrayLike, std: ArrayLike, cost: ArrayLike
) -> tuple[list[Array], tuple[int, ...]]:
    _reject_negative("std", std)
    _reject_negative("cost", cost)
    return _as_arrays(mean, std, cost)


def pbgi(mean: ArrayLike, std: ArrayLike, cost: ArrayLike) -> Numbers:
    r"""Fair value of a normal box, :math:`g = m + s\,h^{-1}(c/s)`: EI over g is the cost.

    The Pandora's Box Gittins index (Eq. 3 of Xie et al. 2026). Open a box while its fair
    value is below the best value in hand.

    Args:
        mean: Mean m of the value in the box.
        std: Deviation s >= 0; 0 gives ``mean + cost``.
        cost: Price c >= 0, in objective units; 0 with s > 0 gives ``-inf``.

    Returns:
        g, with an error below 1e-12 (|m| + |g - m|); infinite only where g overflows.

    Example:
        >>> g = pbgi(1.0, 0.5, 0.01)
        >>> round(float(np.exp(log_ei(1.0, 0.5, g))), 12)  # EI over the fair value is the price
        0.01
    """
    (m, s, c), shape = _boxes(mean, std, cost)
    with np.errstate(all="ignore"):
        value, _ = _fair_value(m, s, c)
    return value.reshape(shape)[()]


def pbgi_partials(
    mean: ArrayLike, std: ArrayLike, cost: ArrayLike
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    r"""``pbgi`` with its derivatives in mean, deviation and *log* cost.

    Returns:
        ``(g, dg/dmean, dg/dstd, dg/dlog cost)``, where :math:`dg/dm = 1`,
        :math:`dg/ds = -\varphi/\Phi` and :math:`dg/d\log c = s h/\Phi` at
        :math:`z = h^{-1}(c/s)`. (dg/dc itself overflows for small costs.)
    """
    (m, s, c), shape = _boxes(mean, std, cost)
    with np.errstate(all="ignore"):
        value, z = _fair_value(m, s, c)
        certain = z > _CERTAIN
        _, cdf_ratio, pdf_ratio = _log_h_and_ratios(z)
        d_std = np.where(certain, 0.0, -pdf_ratio / cdf_ratio)
        d_log_cost = np.where(certain, c, s / cdf_ratio)
    endless = z == -np.inf
    d_std[endless], d_log_cost[endless] = -np.inf, 0.0
    d_mean = np.ones_like(value)
    for array in (d_mean, d_std, d_log_cost):
        array[np.isnan(value)] = np.nan
    return tuple(a.reshape(shape)[()] for a in (value, d_mean, d_std, d_log_cost))  # type: ignore[return-value]
