# SPDX-License-Identifier: Apache-2.0
"""What starting or continuing an evaluation in stages is worth, for its price.

The law of the final value, the steps that its mean is expected to take at the stages to come, and
the price of each of them give the fair value of an action, and the exchange rate at which it is
just worth taking. Both count that the evaluation may be left at every stage.

Either lies between two that are cheap to compute: as if all were known after the next stage, and
as if leaving were not allowed. So most actions need not be looked at closely to find the best one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stopwise.core.beliefs.curves.posterior import Walk
from stopwise.core.beliefs.laws import Law
from stopwise.core.numerics.arrays import Array, Indices
from stopwise.core.numerics.limits import LARGEST_AMOUNT, LEAST_AMOUNT
from stopwise.core.numerics.staged_value import equivalent_price

_ROUNDS = 40  # of the search for an exchange rate; a handful are used
_CLOSE = 1e-7  # in logs, where it ends


class Found(NamedTuple):
    """The best action by some number, and the number."""

    row: int
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class Prospects:
    """Evaluations that can be started or continued.

    Args:
        law: The law of their final values, in objective units.
        walks: How the means of these are expected to move.
        prices: Of each, the cost of the stages to come, in units of cost.
    """

    law: Law
    walks: Sequence[Walk]
    prices: Sequence[Array]

    def __len__(self) -> int:
        """Number of actions."""
        return len(self.walks)

    def of(self, rows: Indices) -> Prospects:
        """Some of them."""
        mask = np.zeros(len(self), dtype=bool)
        mask[rows] = True
        kept = np.flatnonzero(mask)
        return Prospects(
            self.law.at(mask), [self.walks[i] for i in kept], [self.prices[i] for i in kept]
        )

    def equivalent_prices(self, lam: float) -> Array:
        """In objective units, the single price at which each has the same fair value."""
        ahead = np.array([prices.size for prices in self.prices], dtype=np.intp)
        prices = np.empty(len(self))
        for count in np.unique(ahead):
            rows = np.flatnonzero(ahead == count)
            steps = np.stack([self.walks[i].steps for i in rows])
            costs = np.stack([self.prices[i] for i in rows])
            prices[rows] = equivalent_price(steps, _amounts(lam * costs))
        return prices

    def fair_values(self, lam: float) -> Array:
        """The final value that one would have to have in hand to be indifferent to each."""
        return np.asarray(self.law.fair_value(self.equivalent_prices(lam)).value)

    def lowest(self, lam: float) -> Found:
        """The action with the lowest fair value."""
        low = np.asarray(self.law.fair_value(_amounts(lam * self._next)).value)
        high = np.asarray(self.law.fair_value(_amounts(lam * self._total)).value)
        rows = np.flatnonzero(low <= high.min())
        values = self.of(rows).fair_values(lam)
        best = int(np.argmin(values))
        return Found(int(rows[best]), float(values[best]))

    def dearest(self, best: float) -> Found:
        """The action that is worth its price at the highest exchange rate, and its logarithm.

        Args:
            best: The best final value in hand.

        Returns:
            -inf if no action can gain anything.
        """
        log_gain = np.asarray(self.law.log_ei(best).value)
        low, high = log_gain - np.log(self._total), log_gain - np.log(self._next)
        if not np.isfinite(log_gain).any():
            return Found(int(np.argmax(log_gain)), -np.inf)
        for _ in range(_ROUNDS):
            rows = np.flatnonzero(high >= low.max())
            top = rows[int(np.argmax(high[rows]))]
            if high[top] - low.max() <= _CLOSE:
                break
            # The middle of the widest bracket halves it, and rules others out.
            middle = 0.5 * (low[top] + high[top])
            inside = rows[(low[rows] < middle) & (middle < high[rows])]
            price = self.of(inside).equivalent_prices(float(np.exp(middle)))
            worth = np.log(price) <= log_gain[inside]
            low[inside[worth]], high[inside[~worth]] = middle, middle
        row = int(np.argmax(low))
        return Found(row, float(0.5 * (low[row] + high[row])))

    @property
    def _next(self) -> Array:
        """The price of the next stage of each."""
        return np.array([prices[0] for prices in self.prices])

    @property
    def _total(self) -> Array:
        """The price of all stages to come."""
        return np.array([prices.sum() for prices in self.prices])


def _amounts(prices: Array) -> Array:
    """Prices within the range of amounts."""
    return np.clip(prices, LEAST_AMOUNT, LARGEST_AMOUNT)
