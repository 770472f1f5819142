# SPDX-License-Identifier: Apache-2.0
"""Actions in stages: what starting or continuing an evaluation is worth for its price.

The law of the final value, the steps that its mean is expected to take at the stages to come, and
the price of each of them give an action its fair value; against a value in hand, its gain and the
price that counts. Both know that the evaluation may be left at every stage.

The price that counts lies between that of the next stage, as if all were known after it, and that
of all stages, as if leaving were not allowed. So most actions need not be looked at closely to
find the best one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from stopwise.core.beliefs.laws import Law
from stopwise.core.numerics.arrays import Array, Indices
from stopwise.core.numerics.limits import LARGEST_AMOUNT, LEAST_AMOUNT
from stopwise.core.numerics.staged_value import equivalent_price


class BestAction(NamedTuple):
    """The best action by some number, and the number."""

    row: int
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class Prospects:
    """Evaluations that can be started or continued, at an exchange rate.

    Args:
        law: The law of their final values, in objective units.
        steps_of: Rows that have as many stages to come -> the deviations of the steps that their
            means are expected to take, (rows, stages).
        prices: Of each, the cost of the stages to come, in units of cost.
        lam: Objective units per unit of cost.
    """

    law: Law
    steps_of: Callable[[Indices], Array]
    prices: Sequence[Array]
    lam: float
    _counting: dict[int, float] = field(default_factory=dict, init=False)  # a memo, by row

    def __len__(self) -> int:
        """Number of actions."""
        return len(self.prices)

    def counting_prices(self, rows: Indices) -> Array:
        """In objective units, the single price at which some have the same fair value."""
        due = [int(i) for i in rows if int(i) not in self._counting]
        ahead = {i: self.prices[i].size for i in due}
        for count in sorted(set(ahead.values())):
            same = [i for i in due if ahead[i] == count]
            steps = self.steps_of(np.array(same))
            costs = np.stack([self.prices[i] for i in same])
            counting = equivalent_price(steps, _amounts(self.lam, costs))
            self._counting.update(zip(same, counting.tolist(), strict=True))
        return np.array([self._counting[int(i)] for i in rows])

    def fair_values(self, rows: Indices) -> Array:
        """Of some, the final value that one would have in hand to be indifferent to each."""
        return np.asarray(self._law_at(rows).fair_value(self.counting_prices(rows)).value)

    def lowest(self) -> BestAction:
        """The action with the lowest fair value."""
        low = np.asarray(self.law.fair_value(self._next).value)
        high = np.asarray(self.law.fair_value(self._total).value)
        rows = np.flatnonzero(low <= high.min())
        values = self.fair_values(rows)
        best = int(np.argmin(values))
        return BestAction(int(rows[best]), float(values[best]))

    def log_worth(self, row: int, best: float) -> float:
        """Log of the expected gain of an action over the price that counts.

        Args:
            row: Which action.
            best: The best final value in hand.
        """
        rows = np.array([row])
        gain = float(self._law_at(rows).log_ei(best).value[0])
        return gain - math.log(float(self.counting_prices(rows)[0]))

    def worthiest(self, best: float) -> BestAction:
        """The action that gains most for its price, and the log of its gain over that.

        It is above 0 if and only if the fair value of some action is below ``best``.
        """
        log_gain = np.asarray(self.law.log_ei(best).value)
        low, high = log_gain - np.log(self._total), log_gain - np.log(self._next)
        rows = np.flatnonzero(high >= low.max())
        worth = log_gain[rows] - np.log(self.counting_prices(rows))
        top = int(np.argmax(worth))
        return BestAction(int(rows[top]), float(worth[top]))

    def _law_at(self, rows: Indices) -> Law:
        """The law of some, which are in order."""
        mask = np.zeros(len(self), dtype=bool)
        mask[rows] = True
        return self.law.at(mask)

    @property
    def _next(self) -> Array:
        """The price of the next stage of each, in objective units."""
        return _amounts(self.lam, np.array([prices[0] for prices in self.prices]))

    @property
    def _total(self) -> Array:
        """The price of all stages to come, in objective units."""
        return _amounts(self.lam, np.array([prices.sum() for prices in self.prices]))


def _amounts(lam: float, costs: Array) -> Array:
    """What costs are worth, within the range of amounts."""
    with np.errstate(over="ignore"):
        return np.clip(lam * costs, LEAST_AMOUNT, LARGEST_AMOUNT)
