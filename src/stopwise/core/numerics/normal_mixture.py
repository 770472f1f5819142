# SPDX-License-Identifier: Apache-2.0
r"""Expected improvement and fair value of a mixture of normals, for the inner loop of a search.

With weights w, means m and deviations s, :math:`\mathrm{EI}(y) = \sum_i w_i s_i h((y - m_i)/s_i)`.
Arrays have the components along their first axis and the points along their second. All deviations
are positive and finite; what a law may be beyond that (certain values, warps) is elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.standard_improvement import (
    CERTAIN,
    inv_h_of_ratio,
    log_h_and_ratios,
)

_MOST_STEPS = 100  # three or four are usual
_CLOSE = 1e-13  # of log EI, relative where that is larger than 1
_LEAST_REST = 1e-9  # of 1 - kappa, instead of the limit
_MANY = 64  # points from which on those that are done are left behind


class MixtureImprovement(NamedTuple):
    """Log EI at a level, its slopes (components, points), and what a root needs.

    Attributes:
        log_ei: Log of the expected improvement.
        d_mean: Its derivatives in the means, times -1.
        d_std: Its derivatives in the deviations.
        rate: F/EI, the derivative of log EI in the level.
        bend: f/EI with the density f: the second derivative of EI in the level, over EI.
    """

    log_ei: Array
    d_mean: Array
    d_std: Array
    rate: Array
    bend: Array


class Fair(NamedTuple):
    """Fair values, and their derivatives in means, deviations and the log of the price."""

    value: Array
    d_mean: Array
    d_std: Array
    d_log_price: Array


def improvement(
    weights: Array, mean: Array, std: Array, level: Array | float
) -> MixtureImprovement:
    """Log EI of the mixture at a level, with its slopes and rates."""
    with np.errstate(all="ignore"):
        return _improvement(np.log(weights)[:, None] + np.log(std), mean, 1.0 / std, level)


def _improvement(
    log_scale: Array, mean: Array, inverse: Array, level: Array | float
) -> MixtureImprovement:
    log_h, cdf_ratio, pdf_ratio = log_h_and_ratios((level - mean) * inverse)
    terms = log_scale + log_h
    largest = terms.max(axis=0)
    terms -= largest
    parts = np.exp(terms, out=terms)
    total = parts.sum(axis=0)
    parts *= inverse
    parts /= total
    d_mean, d_std = parts * cdf_ratio, parts * pdf_ratio
    bend = (d_std * inverse).sum(axis=0)
    return MixtureImprovement(largest + np.log(total), d_mean, d_std, d_mean.sum(axis=0), bend)


def fair_value(weights: Array, mean: Array, std: Array, price: Array) -> Fair:
    r"""The levels at which EI is the price; nan where they could not be found.

    The search begins at the smallest fair value of a component at price/w, which is right of the
    root. EI is convex and increasing, so Newton's method on EI leads from the right to the root.
    It is slow where EI falls exponentially, so a step takes EI for what it is near by: with
    :math:`\kappa = \mathrm{EI}\,f/F^2`, :math:`\mathrm{EI}^{1 - \kappa}` is linear in the level to
    third order. What leaves the bracket of levels seen so far is replaced by its middle.
    """
    with np.errstate(all="ignore"):
        start = _right_of_root(weights, mean, std, price)
        log_scale = np.log(weights)[:, None] + np.log(std)
        bracket = (np.full_like(start, -np.inf), start, start)
        value, at = _root(log_scale, mean, 1.0 / std, np.log(price), bracket)
        per_rate = 1.0 / at.rate
        value = np.where(np.isfinite(value) & np.isfinite(per_rate), value, np.nan)
        return Fair(value, at.d_mean * per_rate, -at.d_std * per_rate, per_rate)


def _right_of_root(weights: Array, mean: Array, std: Array, price: Array) -> Array:
    """The smallest fair value of a component at price/weight."""
    prices = price / weights[:, None]
    z = inv_h_of_ratio(prices.reshape(-1), std.reshape(-1)).reshape(mean.shape)
    smallest: Array = (mean + np.where(z > CERTAIN, prices, std * z)).min(axis=0)
    return smallest


def _root(
    log_scale: Array,
    mean: Array,
    inverse: Array,
    log_price: Array,
    bracket: tuple[Array, Array, Array],
    steps: int = _MOST_STEPS,
) -> tuple[Array, MixtureImprovement]:
    """The root of log EI = log price, and the improvement there.

    Args:
        log_scale: Log of weight times deviation.
        mean: Means.
        inverse: One over the deviations.
        log_price: Log of the price.
        bracket: Levels that are left of the root, the present ones, and levels that are right.
        steps: The most that may be taken.
    """
    left, value, right = bracket
    todo = np.isfinite(value)
    close = _CLOSE * np.maximum(np.abs(log_price), 1.0)
    for step in range(steps):
        at = _improvement(log_scale, mean, inverse, value)
        excess = at.log_ei - log_price
        left, right = np.where(excess < 0.0, value, left), np.where(excess > 0.0, value, right)
        rest = np.maximum(1.0 - at.bend / at.rate / at.rate, _LEAST_REST)
        move = np.expm1(-rest * excess) / (rest * at.rate)
        after = value + move
        inside = (after > left) & (after < right)
        if not inside.all():
            after = np.where(inside, after, np.where(left > -np.inf, 0.5 * (left + right), value))
        todo &= (np.abs(excess) > close) & (np.abs(move) > np.spacing(np.abs(value)))
        todo &= after != value
        count = np.count_nonzero(todo)
        if not count:
            break
        if value.size > _MANY and 2 * count < value.size:  # the others wait no longer
            of = (log_scale[:, todo], mean[:, todo], inverse[:, todo], log_price[todo])
            ends = (left[todo], after[todo], right[todo])
            value[todo], there = _root(*of, ends, max(steps - step - 1, 1))
            for array, values in zip(at, there, strict=True):
                array[..., todo] = values
            break
        value = np.where(todo, after, value)
    return value, at
