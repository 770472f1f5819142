# SPDX-License-Identifier: Apache-2.0
"""Deciding in stages: signals of the best action, and verdicts that name paused trials."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from stopwise.core.snapshot import Snapshot
from stopwise.core.stages import Stages
from stopwise.core.traces import Signal, Trace
from stopwise.errors import InputError
from stopwise.record.events import SignalsRecorded
from stopwise.stopping import StoppingRule, Verdict
from stopwise.stopping.signals import BEGUN, EVALUATIONS, GAIN_PER_COST, NOTHING_REMAINS
from stopwise.study.context import StudyContext
from stopwise.study.hard_limits import CAP, EXHAUSTED, failures_verdict
from stopwise.study.result import Paused
from stopwise.study.staged.choosing import StagedChoosing
from stopwise.study.staged.design import StagedDesign


def check_rules(rules: Iterable[StoppingRule]) -> None:
    """Refuse rules whose signal is not known of evaluations in stages."""
    for rule in rules:
        if rule.key not in (GAIN_PER_COST.key, EVALUATIONS.key):
            message = (
                f"{rule.name} cannot decide about evaluations in stages: give 'pbgi', which weighs"
                " each action against its price, or a rule that counts (FixedTrials)."
            )
            raise InputError(message)


class StagedSignals:
    """Records the signals of a study with stages, one at each report."""

    def __init__(
        self, context: StudyContext, choosing: StagedChoosing, design: StagedDesign
    ) -> None:
        self._context = context
        self._choosing = choosing
        self._design = design

    @property
    def traces(self) -> dict[str, Trace]:
        """The recorded signals, by key."""
        return dict(self._context.state.traces)

    def now(self) -> Snapshot:
        """This moment as acquisitions see it."""
        return self._choosing.snapshot()

    def record(self, rules: Iterable[StoppingRule]) -> None:
        """Record the signal of each rule, once for each number of reports."""
        rules = list(rules)
        check_rules(rules)
        began, traces = time.perf_counter(), self._context.state.traces
        n = self._context.state.tellings
        due = {
            rule.key: None
            for rule in rules
            if rule.key not in traces or traces[rule.key].current.n != n
        }
        if due:
            signals = {key: self._signal(key) for key in due}
            self._context.log.commit(SignalsRecorded(signals), began)

    def trace(self, rule: StoppingRule) -> Trace:
        """The trace of a rule; its last signal is computed again if trials were begun since."""
        state = self._context.state
        trace = state.traces[rule.key]
        if state.beside[rule.key] == len(state.pending) and not state.staged.running:
            return trace
        return Trace.of((*trace.signals[:-1], self._signal(rule.key)))

    def _signal(self, key: str) -> Signal:
        state = self._context.state
        n = state.tellings
        if key == EVALUATIONS.key:  # begun ones: a run that is left is never finished
            begun = float(max(state.next - self._design.wanted, 0))
            return Signal(n, n, begun, {BEGUN: begun})
        options = self._choosing.options()
        if options.prospects is None:
            return Signal(n, n, -math.inf, dict(NOTHING_REMAINS))
        row, log_worth = options.prospects.worthiest(options.best)
        lam, price = self._choosing.lam, options.prospects.counting_prices(np.array([row]))[0]
        facts = {"gain": float(math.exp(log_worth) * price), "cost": float(price / lam)}
        return Signal(
            n, n, math.log(lam) + log_worth, {**facts, "cost_spread": 0.0, "spread": 0.0}
        )


class StagedDeciding:
    """Decides whether a study with stages stops, and gives the reason."""

    def __init__(
        self,
        context: StudyContext,
        stages: Stages,
        signals: StagedSignals,
        choosing: StagedChoosing,
        design: StagedDesign,
        rules: list[StoppingRule],
    ) -> None:
        self._context = context
        self._stages = stages
        self._signals = signals
        self._choosing = choosing
        self._design = design
        self._rules = rules

    def verdict(self) -> Verdict:
        """The verdict of the hard limits; if they allow more, that of the rules."""
        verdict = self._decided()
        state, cap = self._context.state, self._cap_in_words()
        if verdict.stop and cap and verdict.rule not in (CAP, EXHAUSTED):
            verdict = replace(verdict, reason=f"{cap}; {verdict.reason}")
        if state.staged.running and verdict.rule != "initial":
            running = f"for new actions; {len(state.staged.running)} still running"
            verdict = replace(verdict, reason=f"{verdict.reason} ({running})")
        return replace(verdict, reason=verdict.reason + self._named()) if verdict.stop else verdict

    def unanswered(self) -> Verdict:
        """The verdict after a resume: go on, since trials that were being run come first."""
        numbers = ", ".join(map(str, self._context.state.unanswered))
        sentence = (
            f"being run when the study was interrupted: trial {numbers}; next() hands them out"
            " again, drop() gives one up: go on"
        )
        return Verdict.not_yet(self._rules[0].name, sentence)

    def _decided(self) -> Verdict:
        state = self._context.state
        failed = failures_verdict(state.history)
        if failed is not None:
            return failed
        is_begun = self._design.is_begun
        if not is_begun and self._design.next() is not None:
            return Verdict.not_yet("initial", self._design.words())
        options = self._choosing.options() if state.reports else None
        if options is None or options.prospects is None:
            return self._nothing_left()
        if not is_begun:
            return Verdict.not_yet("initial", self._design.words())
        if not math.isfinite(options.best):
            n = len(state.pending)
            return Verdict.not_yet(
                "initial", f"no trial has finished yet, and {n} {_are(n)} begun: go on"
            )
        units = self._context.options.units
        traces = [self._signals.trace(rule).in_units(units) for rule in self._rules]
        verdicts = [rule.verdict(trace) for rule, trace in zip(self._rules, traces, strict=True)]
        return next((v for v in verdicts if v.stop), verdicts[0])

    def _nothing_left(self) -> Verdict:
        """Stop: nothing can be started or continued; while trials run, until one reports."""
        state, budget = self._context.state, self._context.budget.total
        if state.staged.running:
            return self._nothing_beside()
        if budget is not None:
            units = self._context.options.units
            spent = f"{units.cost(state.spent)} of the budget of {units.cost(budget)} are spent"
            sentence = f"{spent}, and no start or continuation is expected to be affordable"
            return Verdict(True, "budget", state.spent, budget, f"{sentence}: stop")  # noqa: FBT003
        ended = f"all {state.asked} trials have" if state.asked != 1 else "the only trial has"
        sentence = f"{ended} ended, and no other can be started"
        return Verdict.at_least(EXHAUSTED, state.asked, state.asked, sentence)

    def _nothing_beside(self) -> Verdict:
        """Stop beginning: nothing can be started or continued beside the trials that run."""
        state, cap = self._context.state, self._cap_in_words()
        capped = f" ({cap})" if cap else ""
        sentence = f"nothing new can be begun now{capped}; tell what is running, and ask again"
        name = CAP if cap else EXHAUSTED
        return Verdict.at_least(name, state.asked, state.asked, sentence)

    def _cap_in_words(self) -> str:
        """That as many trials are begun as may be; nothing if more may."""
        asked, most = self._context.state.asked, self._context.options.max_trials
        return f"{asked} of at most {most} trials are begun" if most and asked >= most else ""

    def paused(self) -> tuple[Paused, ...]:
        """The trials that wait at a stage, the best value first."""
        state, price = self._context.state, self._choosing.price_of_finishing
        reached, sign = state.staged.latest, self._context.options.sign
        runs = (
            Paused(dict(trial.params), at.step, at.value, number, at.cost, price(number))
            for number, trial in state.paused.items()
            for at in (reached[number],)
        )
        return tuple(sorted(runs, key=lambda run: sign * run.value))

    def _named(self) -> str:
        """The best paused trial, if it may be better than the result, and what is left to pay."""
        options, best = self._context.options, self._choosing.best
        better = [run for run in self.paused() if options.sign * run.value < best]
        if self._stages.usable or not better:
            return ""
        first, others = better[0], len(better) - 1
        value, at = options.units.value(first.value), f"step {first.step} of {self._stages.last}"
        price = f"to finish it is expected to cost {options.units.cost(first.cost_to_finish)}"
        if not math.isfinite(best):
            among = f", the best of {len(better)} that are paused," if others else ""
            found = f"trial {first.number}{among} has {value} at {at}"
            return f". No trial has finished: {found}; {price}"
        more = f", and {others} more {_are(others)} better too" if others else ""
        return (
            f". Trial {first.number} is paused at {at} with {value}, better than any finished"
            f" one{more}; {price}"
        )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
