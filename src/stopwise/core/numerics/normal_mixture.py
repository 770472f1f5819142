# SPDX-License-Identifier: Apache-2.0
r"""Expected improvement and fair value of a mixture of normals, for the inner loop of a search.

With weights w, means m and deviations s, :math:`\mathrm{EI}(y) = \sum_i w_i s_i h((y - m_i)/s_i)`.
Arrays have the components along their first axis and the points along their second. All deviations
are positive and finite; what a law may be beyond that (certain values, warps) is elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

import numpy as np

from stopwise.core.numerics.arrays import Array, Mask
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


class Improving(Protocol):
    """A mixture at some points, for the search of its fair values."""

    def at(self, points: Mask) -> Self:
        """The mixture at some of the points."""
        ...

    def improvement(self, level: Array) -> MixtureImprovement:
        """Log EI at a level, with its slopes and rates."""
        ...


class Normals(NamedTuple):
    """A mixture of normals.

    Attributes:
        log_scale: Log of weight times deviation.
        mean: Means.
        inverse: One over the deviations.
    """

    log_scale: Array
    mean: Array
    inverse: Array

    @classmethod
    def of(cls, weights: Array, mean: Array, std: Array) -> Normals:
        """The mixture with these weights, (components,)."""
        return cls(np.log(weights)[:, None] + np.log(std), mean, 1.0 / std)

    def at(self, points: Mask) -> Normals:
        """The mixture at some of the points."""
        return Normals(*(array[:, points] for array in self))

    def improvement(self, level: Array | float) -> MixtureImprovement:
        """Log EI at a level, with its slopes and rates."""
        return _improvement(*self, level)


def improvement(
    weights: Array, mean: Array, std: Array, level: Array | float
) -> MixtureImprovement:
    """Log EI of the mixture at a level, with its slopes and rates."""
    with np.errstate(all="ignore"):
        return Normals.of(weights, mean, std).improvement(level)


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


def root_from_right(mixture: Improving, price: Array, start: Array) -> Fair:
    r"""The levels at which EI is the price, from levels that are not left of them.

    EI is convex and increasing, so Newton's method on EI leads from the right to the root. It is
    slow where EI falls exponentially, so a step takes EI for what it is near by: with
    :math:`\kappa = \mathrm{EI}\,f/F^2`, :math:`\mathrm{EI}^{1 - \kappa}` is linear in the level to
    third order. What leaves the bracket of levels seen so far is replaced by its middle.
    """
    with np.errstate(all="ignore"):
        bracket = (np.full_like(start, -np.inf), start, start)
        value, at = _root(mixture, np.log(price), bracket)
        per_rate = 1.0 / at.rate
        value = np.where(np.isfinite(value) & np.isfinite(per_rate), value, np.nan)
        return Fair(value, at.d_mean * per_rate, -at.d_std * per_rate, per_rate)


def joined(where: Mask, there: Fair, elsewhere: Fair) -> Fair:
    """The fair values at all points from those at some of them and at the others."""

    def both(one: Array, other: Array) -> Array:
        array = np.empty((*one.shape[:-1], where.size))
        array[..., where], array[..., ~where] = one, other
        return array

    return Fair(*map(both, there, elsewhere))


def components_at_price(weights: Array, mean: Array, std: Array, price: Array) -> Array:
    """The fair values of the components, each at price/weight."""
    prices = price / weights[:, None]
    z = inv_h_of_ratio(prices.reshape(-1), std.reshape(-1)).reshape(mean.shape)
    return np.asarray(mean + np.where(z > CERTAIN, prices, std * z))


def _root(
    mixture: Improving,
    log_price: Array,
    bracket: tuple[Array, Array, Array],
    steps: int = _MOST_STEPS,
) -> tuple[Array, MixtureImprovement]:
    """The root of log EI = log price, and the improvement there.

    Args:
        mixture: Whose EI.
        log_price: Log of the price.
        bracket: Levels that are left of the root, the present ones, and levels that are right.
        steps: The most that may be taken.
    """
    left, value, right = bracket
    todo = np.isfinite(value)
    close = _CLOSE * np.maximum(np.abs(log_price), 1.0)
    for step in range(steps):
        at = mixture.improvement(value)
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
            ends = (left[todo], after[todo], right[todo])
            of = (mixture.at(todo), log_price[todo], ends)
            value[todo], there = _root(*of, max(steps - step - 1, 1))
            for array, values in zip(at, there, strict=True):
                array[..., todo] = values
            break
        value = np.where(todo, after, value)
    return value, at
