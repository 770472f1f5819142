# SPDX-License-Identifier: Apache-2.0
"""Deciding: the verdict of a study, from its hard limits and its stopping rules."""

from __future__ import annotations

import math
from dataclasses import replace

from stopwise.core.beliefs.prices import is_known
from stopwise.core.checks import listed
from stopwise.core.space import Finite
from stopwise.errors import InputError
from stopwise.stopping import StoppingRule, Verdict, make_rule
from stopwise.stopping.signals import EVALUATIONS, GAIN_PER_COST, gained
from stopwise.study.budget_worth import BudgetWorth, worth_by_budget
from stopwise.study.context import StudyContext
from stopwise.study.feasible_worth import most_worth, verdict_by_most, weighs_price
from stopwise.study.hard_limits import (
    CAP,
    budget_verdict,
    cap_verdict,
    exhausted_verdict,
    failures_verdict,
    is_exhausted,
)
from stopwise.study.initial_design import InitialDesign
from stopwise.study.measured_beyond import none_keeps
from stopwise.study.options import Rules, StudyOptions
from stopwise.study.snapshots import Snapshots
from stopwise.study.spending import Spending

NOTHING_FEASIBLE = "limits"  # the name of the verdict while nothing keeps the limits


def made_rules(rules: Rules, lam: float | None) -> list[StoppingRule]:
    """Rules from their names; rules as they are."""
    return [make_rule(rule, lam) for rule in listed(rules)]


def obeyed_rules(options: StudyOptions) -> list[StoppingRule]:
    """The rules that stop a study: none where its budget or its number of trials decides."""
    if options.budget_decides or options.trials_decide:
        return []
    rules = made_rules(options.stopping, options.lam)
    if not rules and options.budget is None:
        message = (
            "stopping=[] would never stop: give a rule; sw.stopping.FixedTrials(n) or"
            " max_trials= stop after a number, and watch= takes rules that are only recorded."
        )
        raise InputError(message)
    return rules


class Deciding:
    """Decides whether a study stops, and gives the reason."""

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
        """The verdict of the hard limits; if they allow more, that of the rules."""
        state = self._context.state
        limit = self._hard_limit()
        verdict = self._beside_fallback(self._of_rules()) if limit is None else limit
        if state.pending and verdict.rule != "initial":
            running = f"for new trials; {len(state.pending)} still running"
            verdict = replace(verdict, reason=f"{verdict.reason} ({running})")
        return verdict

    def unanswered(self) -> Verdict:
        """The verdict after a resume: go on, since trials that were begun are finished first."""
        numbers = ", ".join(map(str, self._context.state.unanswered))
        rule = self._rules[0].name if self._rules else "budget"
        sentence = (
            f"asked for before the study was resumed, and never answered: trial {numbers}; ask()"
            " hands them out again, drop() gives one up: go on"
        )
        return Verdict.not_yet(rule, sentence)

    def _hard_limit(self) -> Verdict | None:
        """The verdict of a hard limit or of an unfinished design; None if the rules decide."""
        context, state = self._context, self._context.state
        failed = failures_verdict(state.history)
        if failed is not None:
            return failed
        if is_exhausted(context):
            return exhausted_verdict(len(context.domain))  # type: ignore[arg-type]  # it is finite
        ended = self._of_cap() or self._of_budget()
        if ended is not None:
            return ended
        n, size = len(state.history.succeeded), self._design.size
        if n < size:
            gone = len(state.history) - n if context.options.failures == "chance" else 0
            return Verdict.not_yet("initial", _designing(self._design.progress, gone), float(n))
        if context.options.limits is not None and math.isinf(self._snapshots.now().best):
            return self._while_nothing_feasible()
        return None

    def _while_nothing_feasible(self) -> Verdict:
        """The verdict while nothing keeps the limits.

        Rules that count may stop, and rules about prices where the worth of values is bounded.
        """
        counting = [rule for rule in self._rules if rule.key == EVALUATIONS.key]
        by_most = self._by_most_worth()
        ended = next(filter(None, [*map(self._of_rule, counting), *by_most]), None)
        if ended is not None:
            return ended
        why = by_most[0].reason if by_most else self._why_nothing_decides()
        return Verdict.not_yet(NOTHING_FEASIBLE, why)

    def _by_most_worth(self) -> list[Verdict]:
        """Of each rule about prices, by what a value that keeps the limits is worth at most."""
        most, options = most_worth(self._context.options), self._context.options
        if most is None or most.key not in self._context.state.traces:
            return []
        trace, none = self._snapshots.trace(most), _none_of(self._context)
        return [
            verdict_by_most(rule, trace, f"{none}; {most.reason(rule, trace, options.currency)}")
            for rule in self._rules
            if weighs_price(rule)
        ]

    def _of_cap(self) -> Verdict | None:
        """Stop at the cap on trials; where it alone decides, with the worth of one more."""
        options = self._context.options
        worth = self._next_in_words() if options.trials_decide else ""
        return cap_verdict(self._context.state.asked, options.max_trials, worth)

    def _of_budget(self) -> Verdict | None:
        """Stop if no configuration that could be asked for is expected to be affordable."""
        budget, state = self._context.budget.total, self._context.state
        n = len(state.history.succeeded)
        known = is_known(self._context.cost_model)
        if budget is None or (known and state.initial is None and not n):
            return None  # the first ask refuses a budget that does not pay for the design
        cheapest = self._snapshots.now().cheapest if n else self._design.cheapest()
        left = self._spending.left
        if left > 0 and cheapest <= self._spending.most_payable:
            return None
        worth = self._worth() if n else None
        return budget_verdict(
            self._context.options.units,
            spent=state.history.spent,
            budget=budget,
            left=left,
            cheapest=cheapest,
            worth="" if worth is None else worth.after_the_last,
        )

    def _worth(self) -> BudgetWorth | None:
        """Whether going on is worth it at the lam that a budget has set, if it alone decides."""
        return worth_by_budget(self._context, self._snapshots.now())

    def _of_rules(self) -> Verdict:
        """The verdict of the first rule that stops; if none does, of the first rule."""
        verdicts = [self._of_rule(rule) for rule in self._rules]
        if not verdicts and self._context.budget.total is None:  # the number of trials decides
            counted = f"{self._context.state.asked} of {self._context.options.max_trials} trials"
            verdicts = [Verdict.not_yet(CAP, f"{counted}{self._next_in_words()}: go on")]
        elif not verdicts:  # the budget alone decides
            left, budget = self._spending.left, self._context.budget.total or 0.0
            units, worth = self._context.options.units, self._worth()
            clause = "" if worth is None else worth.while_money_is_left
            sentence = f"{units.cost(left)} of {units.cost(budget)} are left{clause}: go on"
            verdicts = [Verdict.not_yet("budget", sentence)]
        return next((v for v in verdicts if v.stop), verdicts[0])

    def _next_in_words(self) -> str:
        """A clause about the gain and the cost of the best remaining candidate, once recorded."""
        trace = self._snapshots.traces.get(GAIN_PER_COST.key)
        if trace is None or not len(trace):
            return ""
        now = trace.current
        cost = now.facts["cost"]
        if math.isnan(cost):
            return "; no remaining candidate can gain anything"
        what = f"is expected to {gained(now)} and costs {now.units.cost(cost)}"
        return f"; the best remaining candidate {what}"

    def _beside_fallback(self, verdict: Verdict) -> Verdict:
        """The verdict, which names the fallback while nothing that keeps the limits is better."""
        fallback = self._context.options.fallback
        if fallback is None or not self._snapshots.now().rests_on_fallback:
            return verdict
        said = self._context.options.units.number(fallback)
        note = f"gains are counted from the fallback of {said}: nothing better keeps all limits"
        return replace(verdict, reason=f"{verdict.reason} ({note})")

    def _of_rule(self, rule: StoppingRule) -> Verdict:
        """The verdict of a rule; one that was not asked has no answer yet."""
        if rule.key in self._context.state.traces:
            return rule.verdict(self._snapshots.trace(rule))
        return Verdict.not_yet(rule.name, self._why_nothing_decides())

    def _why_nothing_decides(self) -> str:
        """Why no rule decides while nothing keeps the limits, and what ends that, in words."""
        ends = self._ends_of_search()
        looks = f"{_none_of(self._context)}, and the study looks for one that does"
        if ends:
            says = "(fallback= would say what it is worth)"
            return f"{looks}, until {' or '.join(ends)} ends it {says}: go on"
        return (
            f"{looks}. Nothing will end that: give fallback= (what you have if none does),"
            " max_trials= or budget=: go on"
        )

    def _ends_of_search(self) -> list[str]:
        """What ends a search for something that keeps the limits, in words."""
        options, counting = self._context.options, EVALUATIONS.key
        ends = {
            "the budget": self._context.budget.total is not None,
            "max_trials": options.max_trials is not None,
            "a rule that counts": any(rule.key == counting for rule in self._rules),
            "the last configuration": isinstance(self._context.domain, Finite),
        }
        return [name for name, is_set in ends.items() if is_set]


def _designing(progress: str, failed: int) -> str:
    """How far the initial design is, and what becomes of failures, in words."""
    sentence = f"initial design, {progress}"
    return f"{sentence}; {failed} failed, and others are tried instead" if failed else sentence


def _none_of(context: StudyContext) -> str:
    """That nothing keeps the limits, in words."""
    return f"none of {len(context.history.succeeded)} evaluations {none_keeps(context.options)}"
