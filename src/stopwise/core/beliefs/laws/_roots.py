# SPDX-License-Identifier: Apache-2.0
"""Fair values as roots of the expected improvement, and roots of increasing functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np

from stopwise.core.beliefs.laws._log_sum import scaled
from stopwise.core.beliefs.laws._patched import patched
from stopwise.core.beliefs.laws.law import FairValue, WithSlopes
from stopwise.core.numerics.arrays import Array, Mask

_MOST_STEPS = 100  # three or four are usual
_CLOSE = 1e-13  # of a log EI (relative where it is larger than 1), or of a z-score
_LEAST_REST = 1e-9  # of 1 - kappa, instead of the limit
_MOST_HALVINGS = 300  # of a bracket: at a jump, where Newton's method has no say, about 60
_HUGE = 1e300


class Rates(NamedTuple):
    """Log EI at a level, with what a root needs.

    Attributes:
        log_ei: With its slopes in the parameters.
        rate: F/EI, the derivative of log EI in the level.
        bend: f/EI with the density f: the second derivative of EI in the level, over EI.
    """

    log_ei: WithSlopes
    rate: Array
    bend: Array


class AtPoints(Protocol):
    """What has an entry for each of some points."""

    def at(self, where: Mask) -> Self:
        """The same at some of the points."""
        ...


class Improvement(AtPoints, Protocol):
    """The parts of a law that are read here."""

    def log_ei(self, level: Array | float) -> WithSlopes:
        """Log of the expected improvement below a level."""
        ...

    def log_cdf(self, level: Array | float) -> Array:
        """Log P(f <= level)."""
        ...

    def log_density(self, level: Array | float) -> Array:
        """Log of the density at a level."""
        ...


L = TypeVar("L", bound=Improvement)
P = TypeVar("P", bound=AtPoints)


def rates(law: Improvement, level: Array) -> Rates:
    """Log EI and its rates, as ratios of logarithms."""
    log_ei = law.log_ei(level)
    with np.errstate(all="ignore"):
        rate = np.exp(law.log_cdf(level) - log_ei.value)
        bend = np.exp(law.log_density(level) - log_ei.value)
    return Rates(log_ei, rate, bend)


def fair_value_at(value: Array, at: Rates) -> FairValue:
    """A fair value with its slopes, -dEI/dparameter over F = -dlogEI/dparameter over the rate.

    Where EI is 0 the fair value is the lowest value that f can have, to rounding; no slopes are
    given.
    """
    log_ei, slopes = at.log_ei
    with np.errstate(all="ignore"):
        limit = np.where(log_ei > 0.0, np.inf, 0.0)
        per_rate = np.where(np.isfinite(log_ei), 1.0 / at.rate, limit)
    return FairValue(value, tuple(scaled(slope, -per_rate) for slope in slopes), per_rate)


def fair_value_from_right(
    law: L, price: Array | float, start: Array, ask: Callable[[L, Array], Rates] = rates
) -> FairValue:
    r"""The levels at which EI is the price, from starts that are not left of them.

    EI is convex and increasing, so a step of Newton's method on EI from the right leads to the
    left, and not beyond the root. (On log EI, which need not be concave, the method can fail.) It
    is slow where EI falls exponentially, so a step takes EI for what it is near by: with
    :math:`\kappa = \mathrm{EI}\,f/F^2`, :math:`\mathrm{EI}^{1 - \kappa}` is linear in the level to
    third order; :math:`\kappa = 0` is Newton's method on EI, 1 on log EI. What leaves the bracket
    of levels seen so far is replaced by its middle.

    Args:
        law: Whose EI.
        price: The price; where it is 0 or infinite, the start is the answer.
        start: Levels at which EI is at least the price.
        ask: Log EI and its rates at a level.
    """
    low = np.full_like(start, -np.inf)
    return _fair_value(law, np.broadcast_to(price, start.shape), (low, start, start), ask)


def fair_value_between(
    law: L, price: Array, guess: Array, start: Array, ask: Callable[[L, Array], Rates]
) -> FairValue:
    """The same from guesses, which may be on either side, below levels that are not left.

    Args:
        law: Whose EI.
        price: The price.
        guess: Where to begin.
        start: Levels at which EI is at least the price.
        ask: Log EI and its rates at a level.
    """
    low = np.full_like(start, -np.inf)
    return _fair_value(law, price, (low, guess, start), ask)


def _fair_value(
    law: L,
    price: Array,
    bracket: tuple[Array, Array, Array],
    ask: Callable[[L, Array], Rates],
    steps: int = _MOST_STEPS,
) -> FairValue:
    """One step, and those that follow for the points that need them.

    Args:
        law: Whose EI.
        price: The price.
        bracket: Levels that are left of the root, the present ones, and levels that are right.
        ask: Log EI and its rates at a level.
        steps: How many may follow.
    """
    left, value, right = bracket
    at = ask(law, value)
    with np.errstate(all="ignore"):
        log_price = np.log(price)
        excess = at.log_ei.value - log_price
        left, right = np.where(excess < 0.0, value, left), np.where(excess > 0.0, value, right)
        rest = np.maximum(1.0 - at.bend / at.rate / at.rate, _LEAST_REST)
        step = np.expm1(-rest * excess) / (rest * at.rate)
        after, middle = value + step, np.where(left > -np.inf, 0.5 * (left + right), value)
        after = np.where((after > left) & (after < right), after, middle)
        todo = np.abs(excess) > _CLOSE * np.maximum(np.abs(log_price), 1.0)
        todo &= ~(np.abs(step) <= np.spacing(np.abs(value))) & (after != value) & (steps > 0)
    fair = fair_value_at(value, at)
    if not todo.any():
        return fair
    there = (left[todo], after[todo], right[todo])
    # steps falls to 0, and the recursion with it.
    return patched(fair, todo, _fair_value(law.at(todo), price[todo], there, ask, steps - 1))


def increasing_root(
    law: P,
    ask: Callable[[P, Array], tuple[Array, Array]],
    low: Array,
    high: Array,
    close: Array | float = _CLOSE,
) -> Array:
    """The roots of an increasing function within a bracket: Newton's method, safeguarded.

    Where a step leaves the bracket, or the last one did not bring the function half as close to
    0, the bracket is halved. At a jump it closes on the jump.

    Args:
        law: What the function is of.
        ask: Its values and derivatives at some points.
        low: Not right of the roots.
        high: Not left of the roots.
        close: What counts as 0 of each function; by default that of a z-score.
    """
    low, high, value = np.array(low), np.array(high), halfway(low, high)
    close = np.broadcast_to(close, value.shape)
    before = np.full_like(value, np.inf)
    todo, steps = low < high, 0
    while todo.any() and steps < _MOST_HALVINGS:
        steps += 1
        level = value[todo]
        now, slope = ask(law.at(todo), level)
        left = low[todo] = np.where(now <= 0.0, level, low[todo])
        right = high[todo] = np.where(now >= 0.0, level, high[todo])
        middle = halfway(left, right)
        with np.errstate(all="ignore"):
            after = level - now / slope
        inside = (after > left) & (after < right) & (np.abs(now) <= 0.5 * before[todo])
        before[todo] = np.abs(now)
        after = np.where(inside, after, middle)
        going = (np.abs(now) > close[todo]) & (left < middle) & (middle < right)
        going &= np.abs(after - level) > np.spacing(np.abs(level))
        value[todo] = np.where(going, after, level)
        todo[todo] = going
    return value


def halfway(low: Array, high: Array) -> Array:
    """The mean of two numbers; of very different ones, that on the scale of their logarithms."""
    low, high = np.maximum(low, -_HUGE), np.minimum(high, _HUGE)
    apart = high - low > 1.0 + 4.0 * np.minimum(np.abs(low), np.abs(high))
    on_log_scale = np.sinh(0.5 * (np.arcsinh(low) + np.arcsinh(high)))
    return np.where(apart, on_log_scale, 0.5 * (low + high))
