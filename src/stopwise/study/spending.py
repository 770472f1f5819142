# SPDX-License-Identifier: Apache-2.0
"""Spending: the expected costs of trials, and the rest of the budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stopwise.core.beliefs.prices import is_known
from stopwise.study.context import StudyContext


class Spending:
    """The costs that were paid, those expected of pending trials, and the rest of the budget."""

    def __init__(self, context: StudyContext) -> None:
        self._context = context

    def expected(self, params: Mapping[str, Any]) -> float:
        """Expected cost of an evaluation; 0 while nothing is known of costs."""
        return self._context.model.expected_cost(params, self._context.state)

    @property
    def committed(self) -> float:
        """Costs that were paid, then those expected of pending trials, added up in this order."""
        state = self._context.state
        running = (self.expected(trial.params) for trial in state.pending.values())
        return sum(running, state.history.spent)

    @property
    def left(self) -> float:
        """What may still be spent; infinite without a budget."""
        budget = self._context.budget
        return budget.left(0.0) if budget.total is None else budget.left(self.committed)

    @property
    def most_payable(self) -> float:
        """The most that one more evaluation may cost."""
        budget = self._context.budget
        committed = 0.0 if budget.total is None else self.committed
        return budget.most_payable(committed)

    def foreseen(self, params: Mapping[str, Any], *, design_done: bool) -> float | None:
        """Expected cost of a trial; None while too few costs were paid to learn it."""
        known = is_known(self._context.cost_model) or design_done
        return self.expected(params) if known else None

    def is_payable(self, params: Mapping[str, Any]) -> bool:
        """Whether an evaluation is expected to be affordable."""
        return self._context.budget.total is None or self.expected(params) <= self.most_payable
