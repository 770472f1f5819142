# SPDX-License-Identifier: Apache-2.0
r"""The expected improvement of a log-normal variable, relative to its level, and its inverse.

For :math:`f = e^{m + sZ}` (Z standard normal) and a level :math:`d = e^{m + \gamma}`,

.. math:: E[\max(d - f, 0)]/d = g(\gamma, s)
    = \Phi(a) - e^{s^2/2 - \gamma}\,\Phi(a - s), \qquad a = \gamma/s:

the price of a put option over its strike (Black 1976), and as an acquisition in Hutter et al.
(2009). Written so, both terms may agree to the last bit, and the factor overflows. With the Mills
ratio R, :math:`q(x) = -R'(x) = 1 - x R(x)` and x = -a,

.. math:: g = \varphi(a)\,[R(x) - R(x + s)] = s\,\varphi(a)\,\int_0^1 q(x + ts)\,dt :

the difference where its terms differ, the integral by Gauss-Legendre where they nearly cancel. The
derivatives of log g in :math:`\gamma` and s are T/g and U/g with
:math:`T = \varphi(a) R(x + s) = \Phi(a) - g` and :math:`U = \varphi(a) - sT`.

Arrays in, arrays out, float64. No function here emits a numpy warning, and nan comes out only
where nan went in.

References:
    Black (1976), The Pricing of Commodity Contracts.
    Hutter et al. (2009), An Experimental Investigation of Model-Based Parameter Optimisation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.numerics import scipy_parts
from stopwise.core.numerics._elementwise import Numbers, as_arrays
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.quadrature import CANCELS, UNIT_NODES, UNIT_WEIGHTS
from stopwise.core.numerics.standard_improvement import (
    LOG_SQRT_2PI,
    log_h_and_ratios,
    mills_tail,
)

_MOST_STEPS = 50  # of Halley's method; two or three are usual, ten were the most in tests
_CLOSE = 1e-6  # a step of Halley's method this small, relative, leaves an error of its cube


def log_lognormal_improvement(gap: ArrayLike, std: ArrayLike) -> tuple[Numbers, Numbers, Numbers]:
    r"""Log of :math:`g(\gamma, s)` with its derivatives in the gap and the deviation.

    Right to 1e-14, relative where the logarithm is larger than 1, for gap/std >= -1e3 and std from
    1e-12 to 1e3; the derivatives to 1e-13 relative (for a positive gap, that in the deviation to
    1e-13 of the sum of its terms).

    Args:
        gap: Log of the level less the mean of log f.
        std: Deviation of log f; 0 gives ``log(1 - exp(-gap))``, -inf for a gap that is not
            positive.

    Example:
        >>> log_g, _, _ = log_lognormal_improvement(np.log(2.0), 0.0)  # f = 1 below a level of 2
        >>> round(float(np.exp(log_g)), 12)
        0.5
    """
    (flat_gap, flat_std), shape = as_arrays(gap, std)
    with np.errstate(all="ignore"):
        a = flat_gap / flat_std
        log_g, d_gap, d_std = (np.full_like(a, np.nan) for _ in range(3))
        certain = (flat_std == 0.0) | np.isinf(a)
        for rows, formula in ((a <= 0.0, _below), (a > 0.0, _above)):
            rows = rows & ~certain  # noqa: PLW2901
            if rows.any():
                log_g[rows], d_gap[rows], d_std[rows] = formula(a[rows], flat_std[rows])
        if certain.any():
            log_g[certain], d_gap[certain], d_std[certain] = _certain(flat_gap[certain])
    return tuple(array.reshape(shape)[()] for array in (log_g, d_gap, d_std))  # type: ignore[return-value]


def _log_density(a: Array) -> Array:
    return -0.5 * a * a - LOG_SQRT_2PI


def _below(a: Array, s: Array) -> tuple[Array, Array, Array]:
    """For a <= 0: the density at a, which may underflow, is taken out of every ratio."""
    x = -a
    (mills, q, _), (beyond, beyond_q, _) = mills_tail(x), mills_tail(x + s)
    drop = mills - beyond
    near = s * q < CANCELS * mills
    if near.any():
        xs, steps = x[near], s[near]
        _, at_nodes, _ = mills_tail(xs + UNIT_NODES[:, None] * steps)
        drop[near] = steps * (UNIT_WEIGHTS @ at_nodes)
    spread = beyond_q + x * beyond  # 1 - s R(x + s), as a sum of positive terms
    return _log_density(a) + np.log(drop), beyond / drop, spread / drop


def _above(a: Array, s: Array) -> tuple[Array, Array, Array]:
    """For a > 0, where nothing that matters underflows."""
    density = np.exp(_log_density(a))
    T = np.where(
        a > s,
        np.exp(s * (0.5 * s - a)) * scipy_parts.special.ndtr(a - s),
        density * mills_tail(np.maximum(s - a, 0.0))[0],
    )
    g = scipy_parts.special.ndtr(a) - T
    near = s < CANCELS * log_h_and_ratios(a)[1]
    if near.any():
        g[near] = _integral(a[near], s[near])
    return np.log(g), T / g, (density - s * T) / g


def _integral(a: Array, s: Array) -> Array:
    """The integral of phi(a) q(t - a) = exp(-a t + t^2/2) h(a - t) over t from 0 to s."""
    t = UNIT_NODES[:, None] * s
    at_nodes = np.exp(t * (0.5 * t - a) + log_h_and_ratios(a - t)[0])
    integral: Array = s * (UNIT_WEIGHTS @ at_nodes)
    return integral


def _certain(gap: Array) -> tuple[Array, Array, Array]:
    """Without a deviation, or so far from the level that it does not matter."""
    gained = gap > 0.0
    log_g = np.where(gained, np.log(-np.expm1(-np.maximum(gap, 0.0))), -np.inf)
    d_gap = np.where(gained, 1.0 / np.expm1(np.maximum(gap, 0.0)), 0.0)
    return log_g, d_gap, np.zeros_like(gap)


def lognormal_gap(log_ratio: ArrayLike, std: ArrayLike) -> Numbers:
    r"""The gap at which :math:`e^\gamma g(\gamma, s) = e^t`: the inverse, for fair values.

    With :math:`t = \log c - m` the level :math:`e^{m + \gamma}` is that at which the expected
    improvement is c. The left side at the result is right to 1e-14, relative where t is large.

    Args:
        log_ratio: t; -inf (nothing is paid) gives -inf if there is a deviation, else 0.
        std: Deviation of log f.

    Example:
        >>> gap = lognormal_gap(-3.0, 0.5)
        >>> round(float(gap + log_lognormal_improvement(gap, 0.5)[0]), 12)
        -3.0
    """
    (t, s), shape = as_arrays(log_ratio, std)
    with np.errstate(all="ignore"):
        gap = np.logaddexp(0.0, t)  # without a deviation: exp(gap) - 1 = exp(t)
        gap[(t == -np.inf) & (s > 0.0)] = -np.inf
        rows = np.isfinite(t) & (s > 0.0)
        if rows.any():
            gap[rows] = s[rows] * _standard_gap(t[rows], s[rows])
    return gap.reshape(shape)[()]


def _standard_gap(t: Array, s: Array) -> Array:
    r"""The a at which :math:`M(a) = s a + \log g(s a, s)` is t, for finite t and s > 0.

    M is the log of an integral of a log-concave function up to a, so it is increasing and concave.
    Halley's method within a bracket: the root is at least t/s, because g < 1, and at most
    :math:`\log(e^t + e^{s^2/2})/s`, because a put is worth at least the strike less the forward.
    """
    left, right = t / s, np.logaddexp(t, 0.5 * s * s) / s
    a = np.clip(_first_guess(t - np.log(s), s), left, right)
    todo, steps = np.arange(a.size), 0
    while todo.size and steps < _MOST_STEPS:
        steps += 1
        now = a[todo]
        excess, step = _halley_step(now, s[todo], t[todo])
        low = left[todo] = np.where(excess <= 0.0, now, left[todo])
        high = right[todo] = np.where(excess >= 0.0, now, right[todo])
        small = np.abs(step) <= _CLOSE * np.maximum(np.abs(now), 1.0)
        after = now - step
        astray = ~small & ((after < low) | (after > high))
        a[todo] = np.where(astray, 0.5 * (low + high), np.clip(after, low, high))
        todo = todo[~small]
    return a


def _halley_step(a: Array, s: Array, t: Array) -> tuple[Array, Array]:
    """M(a) - t, and what Halley's method subtracts from a."""
    log_g, d_gap, d_std = log_lognormal_improvement(s * a, s)
    slope = s * (1.0 + d_gap)
    curvature = s * ((d_std + s * d_gap) / slope - d_gap)  # the second derivative over the first
    excess = s * a + log_g - t
    newton = excess / slope
    return excess, newton / np.maximum(1.0 - 0.5 * newton * curvature, 0.5)


def _first_guess(t: Array, s: Array) -> Array:
    """Start of the inversion where a < 0, and infinity elsewhere: there the bracket is narrow."""
    # log(g/s) is close to log phi(a) - log((x + 1)(x + s + 1)) with x = -a; three fixed points.
    x = np.zeros_like(t)
    for _ in range(3):
        size = -2.0 * (t + LOG_SQRT_2PI + np.log((x + 1.0) * (x + s + 1.0)))
        size = np.maximum(size, 0.0)
        x = size / (s + np.sqrt(s * s + size))  # x^2 + 2 s x = size
    return np.where(x > 0.0, -x, np.inf)
