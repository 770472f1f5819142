# SPDX-License-Identifier: Apache-2.0
"""The inverse of a loss that has none in closed form, by bisection and Newton's method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stopwise.core.beliefs.laws._roots import halfway, increasing_root
from stopwise.core.beliefs.laws.loss import Loss
from stopwise.core.numerics.arrays import Array, Mask

_NARROW = 1.0  # of a bracket, on the scale of arcsinh: from there on Newton's method is faster
_ROUNDINGS = 2.0  # of a level: what is closer is as close as floats get
_SMALLEST = float(np.finfo(np.float64).tiny)


def largest_at_most(loss: Loss, level: Array, first: float, last: float) -> Array:
    """The largest y with L(y) <= level; inf where all are, -inf where none is.

    Args:
        loss: The loss, constant beyond two ends.
        level: Levels, of any shape.
        first: The lower end.
        last: The upper end.
    """
    low, high = loss.low, loss.high
    y = np.where(level >= high, np.inf, -np.inf)
    inside = (level >= low) & (level < high) & np.isfinite(level)
    aimed = _Aimed(loss, level[inside])
    ends = _bracket(aimed, first, last)
    y[inside] = increasing_root(aimed, _Aimed.excess, *ends, close=aimed.rounding)
    return y


def _bracket(aimed: _Aimed, first: float, last: float) -> tuple[Array, Array]:
    """Ends of about one size around each value: the ends of a loss may be 200 orders apart.

    Each round halves the distance; between -1e100 and 1e100 there are nine. Where the lower end is
    the value, both are: Newton's method comes from inside, and would never quite reach it.
    """
    low, high = (np.full(len(aimed.level), end) for end in (first, last))
    while np.any(np.arcsinh(high) - np.arcsinh(low) > _NARROW):
        middle = halfway(low, high)
        below = aimed.loss(middle) <= aimed.level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    over, slope = aimed.excess(low)
    found = (np.abs(over) <= aimed.rounding) & (slope > 0.0)
    return low, np.where(found, low, high)


@dataclass(frozen=True, slots=True, eq=False)
class _Aimed:
    """A loss and the levels whose values are looked for."""

    loss: Loss
    level: Array

    def at(self, where: Mask) -> _Aimed:
        """Some of the levels."""
        return _Aimed(self.loss, self.level[where])

    @property
    def rounding(self) -> Array:
        """How close to a level a loss counts as equal: in proportion, as worth has any unit."""
        return np.maximum(_ROUNDINGS * np.spacing(np.abs(self.level)), _SMALLEST)

    def excess(self, y: Array) -> tuple[Array, Array]:
        """The losses over the levels; equal counts as below, to find the right end."""
        over = self.loss(y) - self.level
        equal = np.abs(over) <= self.rounding
        with np.errstate(over="ignore"):
            return np.where(equal, -_SMALLEST, over), np.exp(self.loss.log_slope(y))
