# SPDX-License-Identifier: Apache-2.0
"""Asking: the next trials of a study, from its initial design or chosen by its acquisition."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace

from stopwise.core.numerics.threads import single_threaded
from stopwise.core.search.supremum import Search
from stopwise.core.space.held import Holding
from stopwise.errors import JournalError
from stopwise.record.events import TrialAsked, TrialAskedAgain
from stopwise.record.history import Trial
from stopwise.study.choosing import Choice, Choosing, NothingLeftError
from stopwise.study.context import StudyContext
from stopwise.study.initial_design import InitialDesign
from stopwise.study.spending import Spending


class FewerTrialsWarning(UserWarning):
    """Fewer trials were handed out than were asked for: there are no more."""


def warn_of_fewer(asked: int, given: int, error: NothingLeftError) -> None:
    """Say why fewer trials are handed out; where warnings are errors, the next ask returns them.

    Called by what ``Study.ask`` calls.
    """
    message = f"ask({asked}) gives {given} of {asked} trials: {error.why}."
    warnings.warn(message, FewerTrialsWarning, stacklevel=5)


class Asking:
    """Hands out trials.

    After an ask that was interrupted, the trials that it was about to return come first.
    """

    def __init__(
        self,
        context: StudyContext,
        design: InitialDesign,
        spending: Spending,
        choosing: Choosing,
    ) -> None:
        self._context = context
        self._design = design
        self._spending = spending
        self._choosing = choosing
        self._not_returned: tuple[int, ...] = ()  # numbers of an ask that was interrupted

    def trials(
        self, count: int, holding: Holding | None, search: Search | None = None
    ) -> list[Trial]:
        """The next trials: ``count`` of them, or fewer if there is nothing left but one at least.

        Args:
            count: How many.
            holding: The parameters that are held, if any.
            search: Effort of the search; the study's if left out.
        """
        handed: dict[int, Trial] = {}
        for _ in range(count):
            trial = self._waiting(self._not_returned, handed, holding)
            if trial is None:
                try:
                    trial = self._next(handed, holding, search)
                except NothingLeftError as error:
                    if not handed:
                        raise
                    warn_of_fewer(count, len(handed), error)
                    break
                except JournalError:
                    self._not_returned = tuple(handed)  # the last one was not asked
                    raise
            handed[trial.number] = trial
        # Copies, which the caller may change.
        copies = [replace(trial, params=dict(trial.params)) for trial in handed.values()]
        self._not_returned = ()
        return copies

    def _waiting(
        self, numbers: tuple[int, ...], handed: dict[int, Trial], holding: Holding | None
    ) -> Trial | None:
        """The first pending trial of these numbers that is not handed out and has these values."""
        pending = self._context.state.pending
        for number in numbers:
            trial = None if number in handed else pending.get(number)
            if trial is not None and (holding is None or holding.agrees(trial.params)):
                return trial
        return None

    @single_threaded
    def _next(
        self, handed: dict[int, Trial], holding: Holding | None, search: Search | None
    ) -> Trial:
        began, log = time.perf_counter(), self._context.log
        again = self._waiting(log.state.unanswered, {}, holding)
        if again is not None:
            self._not_returned = (*handed, again.number)
            log.commit(TrialAskedAgain(again.number), began)
            return again
        self._design.plan()
        designed = self._design.next() if holding is None else None
        if designed is not None:
            choice = Choice(designed)
        else:
            choice = self._choosing.choose(holding, search)
            if holding is not None:
                self._design.make_room(choice.params, holding)
        cost = self._spending.foreseen(choice.params, design_done=self._design.is_done)
        trial = Trial(log.state.next, choice.params, cost, choice.repeats, choice.worth)
        self._not_returned = (*handed, trial.number)
        fixed = None if holding is None else holding.fixed
        asked = TrialAsked(
            trial, designed is not None, choice.fitted, choice.promised, choice.foresight, fixed
        )
        log.commit(asked, began)
        return trial
