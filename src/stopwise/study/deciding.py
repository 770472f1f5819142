# SPDX-License-Identifier: Apache-2.0
"""Deciding: the verdict of a study, from its hard limits and its stopping rules."""

from __future__ import annotations

from dataclasses import replace

from stopwise.core.quantity import quantity
from stopwise.stopping import StoppingRule, Verdict
from stopwise.study.context import StudyContext
from stopwise.study.hard_limits import (
    cap_verdict,
    exhausted_verdict,
    failures_verdict,
    is_exhausted,
    money_verdict,
)
from stopwise.study.initial_design import InitialDesign
from stopwise.study.snapshots import Snapshots
from stopwise.study.spending import Spending


class Deciding:
    """Whether to stop, and why."""

    def __init__(
        self,
        context: StudyContext,
        design: InitialDesign,
        spending: Spending,
        snapshots: Snapshots,
        rules: list[StoppingRule],
    ) -> None:
        self._context = context
        self._design = design
        self._spending = spending
        self._snapshots = snapshots
        self._rules = rules

    def verdict(self) -> Verdict:
        """The hard limits first, then the rules, from what is recorded."""
        state = self._context.state
        limit = self._hard_limit()
        verdict = self._of_rules() if limit is None else limit
        if state.pending and verdict.rule != "initial":
            running = f"for new trials; {len(state.pending)} still running"
            verdict = replace(verdict, reason=f"{verdict.reason} ({running})")
        return verdict

    def unanswered(self) -> Verdict:
        """After a resume: go on, since what was begun is to be finished first."""
        numbers = ", ".join(map(str, self._context.state.unanswered))
        rule = self._rules[0].name if self._rules else "budget"
        sentence = (
            f"asked for before the study was resumed, and never answered: trial {numbers}; ask()"
            " hands them out again, drop() gives one up: go on"
        )
        return Verdict.not_yet(rule, sentence)

    def _hard_limit(self) -> Verdict | None:
        """What the study itself says before any rule is asked."""
        context, state = self._context, self._context.state
        failed = failures_verdict(state.history)
        if failed is not None:
            return failed
        if is_exhausted(context):
            return exhausted_verdict(len(context.domain))  # type: ignore[arg-type]  # it is finite
        ended = cap_verdict(state.asked, context.options.max_trials) or self._of_budget()
        if ended is not None:
            return ended
        told, size = len(state.history.succeeded), self._design.size
        if told < size:
            return Verdict.not_yet("initial", f"initial design, {told} of {size}", float(told))
        return None

    def _of_budget(self) -> Verdict | None:
        """Stop if nothing that could be asked for is expected to be affordable."""
        budget, state = self._context.budget.total, self._context.state
        told = len(state.history.succeeded)
        if budget is None or (state.initial is None and not told):
            return None  # the first ask refuses what does not pay for the design
        cheapest = self._snapshots.now().cheapest if told else self._design.cheapest()
        left = self._spending.left
        if left > 0 and cheapest <= self._spending.most_payable:
            return None
        return money_verdict(
            spent=state.history.spent, budget=budget, left=left, cheapest=cheapest
        )

    def _of_rules(self) -> Verdict:
        """Of the rules that are to be obeyed the first that stops answers."""
        verdicts = [rule.verdict(self._snapshots.trace(rule)) for rule in self._rules]
        if not verdicts:  # the budget alone decides
            left, budget = self._spending.left, self._context.budget.total or 0.0
            sentence = f"{quantity(left)} of {quantity(budget)} are left: go on"
            verdicts = [Verdict.not_yet("budget", sentence)]
        return next((v for v in verdicts if v.stop), verdicts[0])
