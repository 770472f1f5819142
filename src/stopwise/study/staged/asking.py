# SPDX-License-Identifier: Apache-2.0
"""Asking in stages: the next action of a study, and whole evaluations for those who want them."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from stopwise.core.numerics.threads import single_threaded
from stopwise.core.search.supremum import Search
from stopwise.core.space.held import Holding
from stopwise.core.stages import Stages
from stopwise.errors import InputError
from stopwise.record.events import Event, TrialAsked, TrialAskedAgain, TrialContinued
from stopwise.record.history import Trial
from stopwise.record.staged import Leg, PassedOver
from stopwise.study.actions import Action, Continue, Start
from stopwise.study.asking import warn_of_fewer
from stopwise.study.choosing import NothingLeftError
from stopwise.study.context import StudyContext
from stopwise.study.staged.choosing import PossibleActions, StagedChoosing
from stopwise.study.staged.design import StagedDesign


class StagedAsking:
    """Hands out the actions of a study with stages.

    After a call that was interrupted, what it was about to return comes first.
    """

    def __init__(
        self,
        context: StudyContext,
        stages: Stages,
        choosing: StagedChoosing,
        design: StagedDesign,
    ) -> None:
        self._context = context
        self._stages = stages
        self._choosing = choosing
        self._design = design
        self._not_returned: tuple[int, ...] = ()  # numbers of a call that was interrupted

    def action(self) -> Action:
        """The next action."""
        action = self._waiting(()) or self._next()
        self._not_returned = ()
        return action

    @single_threaded
    def _next(self) -> Action:
        began, state = time.perf_counter(), self._context.state
        if state.unanswered:
            first = state.unanswered[0]
            self._commit(TrialAskedAgain(first), first, began)
            return self._action(first)
        params = self._design.next()
        if params is not None:
            return self._started(params, Leg(self._stages.steps[0]), began, designed=True)
        if not state.reports:
            raise self._nothing_left()
        options = self._choosing.options()
        if options.prospects is None:
            raise self._nothing_left()
        row, fair_value = self._chosen(options)
        number = options.numbers[row]
        reached = 0 if number is None else state.staged.latest[number].step
        leg = self._choosing.leg_of(options, row, fair_value, self._stages.after(reached))
        leg = replace(leg, passed=self._passed_over(options, number))
        if number is None:
            return self._started(options.params or {}, leg, began)
        leg = replace(leg, since=self._since(number, leg))
        self._commit(TrialContinued(number, leg), number, began)
        return self._action(number)

    def trials(
        self,
        count: int,
        holding: Holding | None,
        search: Search | None = None,  # noqa: ARG002  one interface
    ) -> list[Trial]:
        """New trials to be run to their last step."""
        if holding is not None:
            message = "ask(fixed=...) in a study with stages: leave one of them out."
            raise InputError(message)
        handed: dict[int, Trial] = {}
        for _ in range(count):
            try:
                trial = (self._waiting(handed) or self._whole()).trial
            except NothingLeftError as error:
                if not handed:
                    raise
                warn_of_fewer(count, len(handed), error)
                break
            handed[trial.number] = trial
        self._not_returned = ()
        return list(handed.values())

    @single_threaded
    def _whole(self) -> Action:
        began = time.perf_counter()
        params: Mapping[str, Any] | None = self._design.next()
        if params is None and self._context.state.reports:
            params = self._choosing.options().params
        if params is None:
            raise self._nothing_left()
        return self._started(params, Leg(self._stages.last), began)

    def worths(self) -> dict[int, float]:
        """How many times its price each paused trial is worth going on with, by number."""
        options = self._choosing.options()
        if options.prospects is None:
            return {}
        return {
            number: math.exp(min(options.prospects.log_worth(row, options.best), 700.0))
            for row, number in enumerate(options.numbers)
            if number is not None
        }

    # ------------------------------------------------------------------ details

    def _chosen(self, options: PossibleActions) -> tuple[int, float]:
        """Which action to take, and its fair value, minimised.

        The trial that has reported last goes on, unless its fair value exceeds the one at which
        it was started or taken up.
        """
        prospects, state = options.prospects, self._context.state
        assert prospects is not None  # noqa: S101  the caller has seen to it
        sign = self._context.options.sign
        current = state.staged.reports[-1].trial
        if current in options.numbers and state.staged.legs.get(current):
            row = options.numbers.index(current)
            since = state.staged.legs[current][-1].since
            value = float(prospects.fair_values(np.array([row]))[0])
            if since is not None and value <= sign * since and value < options.best:
                return row, value
        return prospects.lowest()

    def _passed_over(self, options: PossibleActions, chosen: int | None) -> dict[int, PassedOver]:
        """What going on is worth with trials that have reported since the last choice.

        It is recorded, and nothing is decided by it.
        """
        state, prospects = self._context.state, options.prospects
        assert prospects is not None  # noqa: S101  the caller has seen to it
        passed = dict[int, PassedOver]()
        for number in state.staged.passed_over(state.paused, chosen):
            passed[number] = PassedOver()
            if number in options.numbers:
                row = options.numbers.index(number)
                fair_value = float(prospects.fair_values(np.array([row]))[0])
                leg = self._choosing.leg_of(options, row, fair_value, self._stages.last)
                passed[number] = PassedOver(leg.fair_value, leg.worth)
        return passed

    def _since(self, number: int, leg: Leg) -> float | None:
        """The fair value at which a trial was last started or taken up; of now if it is now."""
        staged = self._context.state.staged
        if staged.reports[-1].trial != number:
            return leg.fair_value
        before = staged.legs[number][-1].since
        return leg.fair_value if before is None else before

    def _waiting(self, handed: Collection[int]) -> Action | None:
        """The first action of a call that was interrupted before it returned it."""
        running = self._context.state.staged.running
        numbers = (n for n in self._not_returned if n in running and n not in handed)
        number = next(numbers, None)
        return None if number is None else self._action(number)

    def _commit(self, event: Event, number: int, began: float) -> None:
        """Begin to run a trial; it counts as not returned until its call ends."""
        self._not_returned = (*self._not_returned, number)
        self._context.log.commit(event, began)

    def _action(self, number: int) -> Action:
        """What is being run of a trial."""
        state = self._context.state
        leg = state.staged.running.get(number, Leg(self._stages.last))
        kind = Continue if number in state.staged.latest else Start
        return kind(_copied(state.pending[number]), leg.to_step, leg.fair_value, leg.worth)

    def _started(
        self, params: Mapping[str, Any], leg: Leg, began: float, *, designed: bool = False
    ) -> Action:
        cost = self._choosing.expected_cost(params)
        trial = Trial(self._context.state.next, dict(params), cost)
        leg = replace(leg, since=leg.fair_value)
        self._commit(TrialAsked(trial, designed, None, leg=leg), trial.number, began)
        return self._action(trial.number)

    def _nothing_left(self) -> NothingLeftError:
        state = self._context.state
        ended, running = len(state.history), len(state.staged.running)
        why = (
            f"there is nothing left to start or to continue: {ended} of {state.next} trials"
            f" {'has' if ended == 1 else 'have'} ended, {running} being run"
        )
        return NothingLeftError.of(why, method="next")


def _copied(trial: Trial) -> Trial:
    """A copy, which the caller may change."""
    return replace(trial, params=dict(trial.params))
