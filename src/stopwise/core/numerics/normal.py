# SPDX-License-Identifier: Apache-2.0
r"""Expected improvement and fair value of a normal variable.

With :math:`h(z) = z\,\Phi(z) + \varphi(z)` (``standard_improvement.py``) the expected improvement
of a normal variable with mean m and deviation s over a value y is :math:`s\,h((y - m)/s)`. Hence

- log EI      :math:`= \log s + \log h((y - m)/s)`                       (Eq. 4 of Xie et al. 2026)
- fair value  :math:`= m + s\,h^{-1}(c/s)`, which solves EI(g) = c       (Eq. 3 of Xie et al. 2026)

Arrays in, arrays out, float64, minimisation. No function here emits a numpy warning, and nan comes
out only where nan went in.

References:
    Xie et al. (2026), Cost-aware Stopping for Bayesian Optimization.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.numerics._elementwise import Numbers, as_arrays, refuse_negative
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.standard_improvement import CERTAIN, inv_h_of_ratio, log_h_and_ratios


def _log_improvement(gap: Array, s: Array) -> tuple[Array, Array, Array]:
    """Log s h(gap/s) with its derivatives in gap and s."""
    z = gap / s
    log_h_z, cdf_ratio, pdf_ratio = log_h_and_ratios(z)
    certain = (z > CERTAIN) | (s == 0)
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
    refuse_negative("std", std)
    (m, s, y), shape = as_arrays(mean, std, best)
    value, d_gap, d_std = _log_ei(m, s, y)
    return value.reshape(shape)[()], -d_gap.reshape(shape)[()], d_std.reshape(shape)[()]


def log_ei_of_many(mean: Array, std: Array, best: float) -> tuple[Array, Array, Array]:
    """``log_ei_partials`` of arrays of one length over one value, as a search asks for it."""
    if (std < 0.0).any():
        refuse_negative("std", std)
    value, d_gap, d_std = _log_ei(mean, std, best)
    return value, -d_gap, d_std


def _log_ei(m: Array, s: Array, y: Array | float) -> tuple[Array, Array, Array]:
    """Log EI with its derivatives in gap and deviation."""
    with np.errstate(all="ignore"):
        gap = y - m
        value, d_gap, d_std = _log_improvement(gap, s)
        if not math.isfinite((gap + s).sum()):
            _correct_non_finite(m, s, np.broadcast_to(y, m.shape), value, d_gap, d_std)
    return value, d_gap, d_std


def _correct_non_finite(
    m: Array, s: Array, y: Array, value: Array, d_gap: Array, d_std: Array
) -> None:
    """Correct log EI and its derivatives, in place, where the gap is infinite or nan."""
    gap = y - m
    wide = np.isinf(gap) & np.isfinite(m) & np.isfinite(y)
    if wide.any():  # the difference overflows, its logarithm does not
        narrow = np.where(s[wide] > 1e-300, 0.25 * s[wide], s[wide])  # else z is infinite
        quarter = _log_improvement(0.25 * y[wide] - 0.25 * m[wide], narrow)
        value[wide] = quarter[0] + math.log(4.0)
        d_gap[wide], d_std[wide] = 0.25 * quarter[1], 0.25 * quarter[2]
    missing = np.isnan(m) | np.isnan(s) | np.isnan(y)
    undecided = np.isnan(value) & ~missing  # inf - inf or inf/inf: the gap decides
    value[undecided] = np.where(gap[undecided] > 0, np.inf, -np.inf)
    d_gap[undecided], d_std[undecided] = 0.0, 0.0
    for array in (value, d_gap, d_std):
        array[missing] = np.nan


def _fair_value(m: Array, s: Array, c: Array) -> tuple[Array, Array]:
    """The fair value g, and z = (g - m)/s. An infinite mean decides, then the price, then s."""
    z = inv_h_of_ratio(c, s)
    value = m + np.where(z > CERTAIN, c, s * z)
    if np.isfinite(value).all():
        return value, z
    # Two huge terms of opposite sign: the sum may be finite where a term is not.
    huge = np.isinf(value) & np.isfinite(m) & np.isfinite(s) & np.isfinite(z)
    value[huge] = 2.0 * (0.5 * m[huge] + (0.5 * s[huge]) * z[huge])
    return np.where(np.isinf(m) & ~np.isnan(z), m, value), z


def _checked_box(
    mean: ArrayLike, std: ArrayLike, cost: ArrayLike
) -> tuple[list[Array], tuple[int, ...]]:
    refuse_negative("std", std)
    refuse_negative("cost", cost)
    return as_arrays(mean, std, cost)


def pbgi(mean: ArrayLike, std: ArrayLike, cost: ArrayLike) -> Numbers:
    r"""Fair value of a normal box, :math:`g = m + s\,h^{-1}(c/s)`: EI over g is the cost.

    The Pandora's Box Gittins index (Eq. 3 of Xie et al. 2026). Open a box while its fair
    value is below the best value in hand.

    Args:
        mean: Mean m of the value in the box.
        std: Deviation s >= 0; 0 gives ``mean + cost``.
        cost: Price c >= 0, in objective units; 0 with s > 0 gives ``-inf``.

    Returns:
        g, with an error below ``1e-12 (|m| + |g - m|)``; infinite only where g overflows.

    Example:
        >>> g = pbgi(1.0, 0.5, 0.01)
        >>> round(float(np.exp(log_ei(1.0, 0.5, g))), 12)  # EI over the fair value is the price
        0.01
    """
    (m, s, c), shape = _checked_box(mean, std, cost)
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
    (m, s, c), shape = _checked_box(mean, std, cost)
    with np.errstate(all="ignore"):
        value, z = _fair_value(m, s, c)
        certain = z > CERTAIN
        _, cdf_ratio, pdf_ratio = log_h_and_ratios(z)
        d_std = np.where(certain, 0.0, -pdf_ratio / cdf_ratio)
        d_log_cost = np.where(certain, c, s / cdf_ratio)
    d_mean = np.ones_like(value)
    if not np.isfinite(value).all():
        at_no_cost, missing = z == -np.inf, np.isnan(value)
        d_std[at_no_cost], d_log_cost[at_no_cost] = -np.inf, 0.0
        for array in (d_mean, d_std, d_log_cost):
            array[missing] = np.nan
    return tuple(a.reshape(shape)[()] for a in (value, d_mean, d_std, d_log_cost))  # type: ignore[return-value]
