# SPDX-License-Identifier: Apache-2.0
"""The inverse of a loss that has none in closed form, by bisection and Newton's method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stopwise.core.beliefs.laws._roots import increasing_root
from stopwise.core.beliefs.laws.loss import Loss
from stopwise.core.numerics.arrays import Array, Mask


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
    ends = (np.full(len(aimed.level), end) for end in (first, last))
    y[inside] = increasing_root(aimed, _Aimed.excess, *ends)
    return y


@dataclass(frozen=True, slots=True, eq=False)
class _Aimed:
    """A loss and the levels whose values are looked for."""

    loss: Loss
    level: Array

    def at(self, where: Mask) -> _Aimed:
        """Some of the levels."""
        return _Aimed(self.loss, self.level[where])

    def excess(self, y: Array) -> tuple[Array, Array]:
        """The losses over the levels; equal counts as below, to find the right end."""
        over = self.loss(y) - self.level
        smallest = -np.finfo(np.float64).tiny
        with np.errstate(over="ignore"):
            return np.where(over == 0.0, smallest, over), np.exp(self.loss.log_slope(y))
