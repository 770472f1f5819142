# SPDX-License-Identifier: Apache-2.0
r"""The fair value of a box that is paid for in stages and may be left after each of them.

A box holds a value that becomes known stage by stage: at stage k one pays :math:`c_k`, and the
posterior mean of the value moves by a normal step of deviation :math:`s_k`; after the last stage
the mean is the value. Against an alternative g the box is worth, before stage k at the mean m,

.. math:: V_{k-1}(m) = \max(0,\ \mathrm{E}\,V_k(m + s_k Z) - c_k), \qquad V_r(m) = \max(g - m, 0)

because it may be left for nothing. The fair value is the g at which going on is worth nothing,
which by shifting is :math:`m - t`, where t is the mean at which a box with g = 0 is just left. If
leaving were not allowed it would be the fair value at the price :math:`\sum_k c_k`.

Each V is convex, decreasing, and has the slope -1 far to the left, so it is a mixture of hinges
:math:`(t_j - m)_+`, of which the normal expectation is the closed form of expected improvement.
Backward induction puts the last hinge exactly where the box is left, and the others on a grid.

References:
    Gittins, Glazebrook and Weber (2011), Multi-armed Bandit Allocation Indices; Weitzman (1979).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.numerics import scipy_parts
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.normal import log_ei, pbgi

_SQRT_2, _SQRT_2PI = math.sqrt(2.0), math.sqrt(2.0 * math.pi)
_SQRT_HALF_PI = math.sqrt(0.5 * math.pi)
_NODES = 40  # hinges of a value function
_REACH = 5.0  # deviations of what is still to come, over which a value function bends
_ITERATIONS = 60  # of the safeguarded Newton method; a handful are used
_CLOSE = 1e-8  # relative, where it ends
_GRID = np.linspace(0.0, 1.0, _NODES) ** 1.5  # denser where the box is left


class _Hinges:
    """Mixtures of hinges, one a row: value sum_j w_j (t_j - m)_+."""

    def __init__(self, at: Array, weights: Array) -> None:
        self.at = at
        self.weights = weights

    def expected(self, mean: Array, std: Array) -> tuple[Array, Array]:
        """E V(mean + std Z) and minus its slope, at means (rows, points)."""
        gap = self.at[:, None, :] - mean[:, :, None]
        with np.errstate(all="ignore"):
            z = gap / std[:, None, None]
            x = np.abs(z)
            mills = _SQRT_HALF_PI * scipy_parts.special.erfcx(x / _SQRT_2)
            density = np.exp(-0.5 * x * x) / _SQRT_2PI
            tail = density * np.maximum(1.0 - x * mills, 0.0) * std[:, None, None]
            slope = np.where(z < 0.0, density * mills, 1.0 - density * mills)
        known = np.isnan(tail) | (std[:, None, None] == 0.0)  # nothing is uncertain, or far off
        improvement = np.maximum(gap, 0.0) + np.where(known, 0.0, tail)
        slope = np.where(known, (gap > 0.0).astype(float), slope)
        w = self.weights[:, None, :]
        return np.asarray((w * improvement).sum(axis=2)), np.asarray((w * slope).sum(axis=2))


def leaving_means(steps: ArrayLike, prices: ArrayLike) -> Array:
    """The mean at which each box is just left, against an alternative of 0.

    Args:
        steps: Deviation of the step of the mean at each stage that is left, (boxes, stages).
        prices: What each of these stages costs, in objective units and positive.

    Returns:
        t, (boxes,): the fair value is the mean less t.

    Example:
        >>> from stopwise.core.numerics.normal import pbgi
        >>> bool(np.isclose(-leaving_means([[0.5]], [[0.01]])[0], pbgi(0.0, 0.5, 0.01)))
        True
    """
    s, c = np.atleast_2d(np.asarray(steps, float)), np.atleast_2d(np.asarray(prices, float))
    last = s.shape[1] - 1
    rest = np.sqrt((s[:, ::-1] ** 2).cumsum(axis=1))[:, ::-1]  # of all that is still to come
    dearest = -pbgi(0.0, rest, c[:, ::-1].cumsum(axis=1)[:, ::-1])  # leaving is not allowed
    cheapest = -pbgi(0.0, rest, c)  # all is known after the next stage
    root = cheapest[:, last]
    value = _Hinges(np.zeros((len(s), 1)), np.ones((len(s), 1)))
    for k in reversed(range(last)):
        value = _before(value, root, s[:, k + 1], c[:, k + 1], rest[:, k + 1])
        root = _left_at(value, s[:, k], c[:, k], dearest[:, k], cheapest[:, k])
    return np.asarray(root)


def _before(value: _Hinges, root: Array, std: Array, price: Array, rest: Array) -> _Hinges:
    """The value before a stage, as hinges; ``rest`` is the deviation of all that is to come."""
    reach = _REACH * rest + price + np.abs(value.at.max(axis=1) - root)
    nodes = root[:, None] - reach[:, None] * _GRID[None, :]  # from the root to the left
    ahead, _ = value.expected(nodes, std)
    worth = np.maximum(ahead - price[:, None], 0.0)
    worth[:, 0] = 0.0
    slopes = np.diff(worth, axis=1) / -np.diff(nodes, axis=1)  # rising from 0 to 1
    slopes = np.minimum(np.maximum.accumulate(slopes, axis=1), 1.0)
    slopes = np.hstack([np.zeros((len(root), 1)), slopes, np.ones((len(root), 1))])
    return _Hinges(nodes, np.diff(slopes, axis=1))


def _left_at(value: _Hinges, std: Array, price: Array, low: Array, high: Array) -> Array:
    """The mean at which the expected value is the price: Newton on its logarithm, in a bracket."""
    scale, log_price, mean = std + price, np.log(price), 0.5 * (low + high)
    for _ in range(_ITERATIONS):  # pragma: no branch  it ends by far sooner
        ahead, slope = (each[:, 0] for each in value.expected(mean[:, None], std))
        is_low = ahead >= price
        low, high = np.where(is_low, mean, low), np.where(is_low, high, mean)
        with np.errstate(all="ignore"):
            newton = mean + (np.log(ahead) - log_price) * ahead / slope
        inside = (newton >= low) & (newton <= high)
        following = np.where(inside, newton, 0.5 * (low + high))
        moved = np.abs(following - mean)
        mean = following
        if (moved <= _CLOSE * (scale + np.abs(mean))).all():
            break
    return np.asarray(mean)


def equivalent_price(steps: ArrayLike, prices: ArrayLike) -> Array:
    """The single price at which a box without stages has the same fair value.

    It is at most the sum of the prices, which is what one pays if leaving is not allowed, and no
    less than the first of them. A fair value at this price is right for a normal box, and a good
    guess for another law.

    Args:
        steps: Deviation of the step of the mean at each stage that is left, (boxes, stages).
        prices: What each of these stages costs, in objective units and positive.
    """
    s, c = np.atleast_2d(np.asarray(steps, float)), np.atleast_2d(np.asarray(prices, float))
    std = np.sqrt((s**2).sum(axis=1))
    root = leaving_means(s, c)
    price = np.exp(log_ei(root, std, 0.0))
    return np.asarray(np.clip(price, c[:, 0], c.sum(axis=1)))
