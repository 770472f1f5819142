# SPDX-License-Identifier: Apache-2.0
r"""Losses that are linear between knots: their improvements are sums of those of the law.

Between two knots with slope k, :math:`\int F\,dL = k\,[\mathrm{EI}(b) - \mathrm{EI}(a)]`, in
closed form for any law that has one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stopwise.core.beliefs.laws._log_sum import log_sum_with_slopes
from stopwise.core.beliefs.laws.law import Law, WithSlopes
from stopwise.core.numerics.arrays import Array


class _Piece(NamedTuple):
    """A part of the line on which a loss is linear, and its slope there, > 0."""

    low: float
    high: float
    slope: float


@dataclass(frozen=True, slots=True)
class LinearPieces:
    """A loss that is linear between its knots, and beyond them.

    Args:
        knots: Minimised values, increasing; at least one.
        losses: The loss at each, none below the one before.
        before: The slope before the first knot, at least 0.
        after: The slope after the last knot, at least 0.
    """

    knots: tuple[float, ...]
    losses: tuple[float, ...]
    before: float = 0.0
    after: float = 0.0

    @property
    def low(self) -> float:
        """The first loss, or -inf if it falls from there to the left."""
        return self.losses[0] if self.before == 0.0 else -np.inf

    @property
    def high(self) -> float:
        """The last loss, or inf if it rises from there."""
        return self.losses[-1] if self.after == 0.0 else np.inf

    @property
    def by_quadrature(self) -> bool:
        """Its integrals are in closed form."""
        return False

    def __call__(self, y: Array) -> Array:
        """Interpolated between the knots."""
        first, last = self.knots[0], self.knots[-1]
        inner = np.interp(y, self.knots, self.losses)
        below = self.before * np.minimum(y - first, 0.0) if self.before else 0.0
        above = self.after * np.maximum(y - last, 0.0) if self.after else 0.0
        return np.asarray(inner + below + above)

    def log_slope(self, y: Array) -> Array:
        """Log of the slope to the right of y."""
        slopes = np.array([self.before, *self._slopes, self.after])
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(slopes)[np.searchsorted(self.knots, y, side="right")])

    def inverse(self, level: Array) -> Array:
        """The right end of what is at most at the level."""
        slopes = np.array([self.before, *self._slopes, self.after])
        at = np.searchsorted(self.losses, level, side="right")  # of the piece beyond that knot
        origin = np.maximum(at - 1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            beyond = (level - np.array(self.losses)[origin]) / slopes[at]
        flat = np.where(at == 0, -np.inf, np.inf)
        y = np.array(self.knots)[origin] + np.where(slopes[at] > 0.0, beyond, 0.0)
        return np.where(slopes[at] > 0.0, y, flat)

    def log_integral(self, law: Law, low: Array, high: Array) -> WithSlopes:
        """The sum over pieces of the slope times the improvement between their ends."""
        parts = []
        for piece in self._pieces:
            lower, upper = np.maximum(low, piece.low), np.minimum(high, piece.high)
            value, slopes = law.log_ei_between(lower, upper)
            parts.append(WithSlopes(value + np.log(piece.slope), slopes))
        return parts[0] if len(parts) == 1 else log_sum_with_slopes(parts)

    @property
    def _slopes(self) -> tuple[float, ...]:
        steps = np.diff(self.losses) / np.diff(self.knots)
        return tuple(steps.tolist())

    @property
    def _pieces(self) -> list[_Piece]:
        ends = (-np.inf, *self.knots, np.inf)
        slopes = (self.before, *self._slopes, self.after)
        pieces = zip(ends[:-1], ends[1:], slopes, strict=True)
        return [_Piece(*piece) for piece in pieces if piece[-1] > 0.0]
