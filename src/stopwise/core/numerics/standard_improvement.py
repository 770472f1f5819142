# SPDX-License-Identifier: Apache-2.0
r"""The expected improvement of a standard normal, its logarithm, and its inverse.

:math:`h(z) = z\,\Phi(z) + \varphi(z)` is E[max(z - Z, 0)] of a standard normal Z. It is increasing
and convex, and log h is concave. Everything is computed through the Mills ratio, so that the
logarithm and its derivative keep their relative precision far into the tail.

Arrays in, arrays out, float64. No function here emits a numpy warning, and nan comes out only
where nan went in.

References:
    Ament et al. (2023), Unexpected Improvements to Expected Improvement, for why logarithms.
    Dekker (1971), A Floating-Point Technique for Extending the Available Precision.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.numerics import scipy_parts
from stopwise.core.numerics._elementwise import Numbers, as_arrays
from stopwise.core.numerics.arrays import Array

_SQRT_2 = math.sqrt(2.0)
_SQRT_HALF_PI = math.sqrt(math.pi / 2.0)
LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
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

CERTAIN = 38.0  # above this z, h(z) = z to the last bit: the improvement is certain
_LOG_MAX = math.log(np.finfo(np.float64).max)
_GAUSSIAN, _LINEAR = -2.8, 8.0  # where the first guess of the inverse changes its form
_NEAR_ZERO = 0.25  # |z| below which the inverse is refined to keep its relative precision
BLOCK = 8192  # elements per pass, so that temporaries stay in cache
_STEPS = 2  # of Halley: an error of 0.09 at worst becomes 2e-5, then rounding
# Below this t the inverse is -sqrt(-2 t) to the last bit, and the ratios overflow.
_LOWEST = -1e300


def mills_tail(x: Array) -> tuple[Array, Array, Array]:
    """Mills ratio R(x), q(x) = 1 - x R(x), and R/q, each to relative precision, for x >= 0."""
    mills = _SQRT_HALF_PI * scipy_parts.special.erfcx(x / _SQRT_2)
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


def log_h_and_ratios(z: Array) -> tuple[Array, Array, Array]:
    """Log h, Phi/h and phi/h from one evaluation of the Mills ratio."""
    x = np.abs(z)
    mills, q, mills_over_q = mills_tail(x)
    half_square = 0.5 * x * x
    negative = z < 0
    if negative.all():  # the common case: few points are evaluated at a time
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
    return np.log(q) - half_square - LOG_SQRT_2PI, mills_over_q, 1.0 / q


def log_h(z: ArrayLike) -> Numbers:
    r"""Log of :math:`h(z) = z\,\Phi(z) + \varphi(z)`, the improvement of a standard normal.

    Right to 1e-13, relative where ``|log h| > 1``, for ``|z| <= 1e8``.

    Example:
        >>> round(float(log_h(0.0)), 6)  # h(0) = phi(0)
        -0.918939
    """
    (flat,), shape = as_arrays(z)
    with np.errstate(all="ignore"):
        value, _, _ = log_h_and_ratios(flat)
    return value.reshape(shape)[()]


def d_log_h(z: ArrayLike) -> Numbers:
    r"""Derivative of ``log_h``: :math:`\Phi(z)/h(z)`, to 1e-12 relative for ``|z| <= 1e8``.

    Example:
        >>> round(float(d_log_h(-1e8)))  # grows as -z, where a naive ratio is noise
        100000000
    """
    (flat,), shape = as_arrays(z)
    with np.errstate(all="ignore"):
        _, ratio, _ = log_h_and_ratios(flat)
    return ratio.reshape(shape)[()]


def _first_guess(t: Array) -> Array:
    """Start of the inversion, within 0.09 of the root, or of it where it is larger than 1."""
    # Far below: log h = -y/2 - log sqrt(2 pi) - log(y + 3 - ...) with y = z^2; two fixed points.
    a = np.maximum(-2.0 * t - 2.0 * LOG_SQRT_2PI, 3.0)
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
        value, slope, pdf_ratio = log_h_and_ratios(z)
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
    (flat,), shape = as_arrays(t)
    with np.errstate(all="ignore"):
        return _in_blocks(flat).reshape(shape)[()]


def _in_blocks(t: Array) -> Array:
    """``inv_log_h`` of a flat array."""
    if t.size <= BLOCK:
        return _inv_log_h(t)
    out = np.empty_like(t)
    for start in range(0, t.size, BLOCK):
        out[start : start + BLOCK] = _inv_log_h(t[start : start + BLOCK])
    return out


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
    half_erf: Array = 0.5 * scipy_parts.special.erf(z / _SQRT_2)
    residual = 0.5 * z + z * half_erf + _PHI_0 * np.expm1(-0.5 * z * z) - excess
    return z - residual / (0.5 + half_erf)


def inv_h_of_ratio(c: Array, s: Array) -> Array:
    """The z at which h(z) = c/s, to relative precision; infinite at the limits of c and s.

    It takes c and s apart because their quotient rounds, which is all there is near z = 0.
    """
    ratio = c / s
    safe = (ratio > 1e-290) & (ratio < 1e290)  # away from under- and overflow
    all_safe, log_ratio = safe.all(), np.log(ratio)
    z = _in_blocks(log_ratio if all_safe else np.where(safe, log_ratio, np.log(c) - np.log(s)))
    near = np.abs(z) < _NEAR_ZERO
    if near.any():
        z[near] = _refine_near_zero(z[near], _excess_over_h0(c[near], s[near]))
    if not all_safe:
        z[(s == c) & ~safe] = np.inf  # both 0 or both infinite: the price decides
    return z
