# SPDX-License-Identifier: Apache-2.0
"""A study with stages that is told again what another one was told, at another lam.

It makes no choices of its own: trials are begun and continued as they were. After each report it
can be asked whether it would have stopped, and before each whether going on was worth its price.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stopwise.core.beliefs.prices import is_known
from stopwise.record.events import TrialAsked, TrialContinued
from stopwise.record.history import Observation, Trial
from stopwise.record.staged import Leg, Report
from stopwise.stopping import Verdict
from stopwise.study.event_log import EventLog
from stopwise.study.result import Best
from stopwise.study.study import Study

Telling = Report | Observation


def tellings(study: Study) -> tuple[Telling, ...]:
    """The reports and failures of a study, in order.

    A failure stands after the last report of its trial; one of a trial that never reported stands
    before the first report of a trial that was begun later.
    """
    state = study._context.state  # noqa: SLF001  its own folder
    last, told = state.staged.latest, list[Telling]()
    failed = {o.number: o for o in state.history if o.failed}
    for report in state.staged.reports:
        silent = [n for n in failed if n not in last and n < report.trial]
        told += [failed.pop(n) for n in silent]
        told.append(report)
        if report.trial in failed and report is last[report.trial]:
            told.append(failed.pop(report.trial))
    return (*told, *failed.values())


class StudyToldAgain:
    """A study with another lam, and the same budget and cap, that is told what was told before.

    Args:
        study: The study whose reports are told again.
        lam: What a unit of cost is worth.
        params: The configurations of trials, by number, if they are not those of the study.
    """

    def __init__(
        self, study: Study, lam: float, params: Mapping[int, Mapping[str, Any]] | None = None
    ) -> None:
        state = study._context.state  # noqa: SLF001  as above
        self._params = params or {o.number: o.params for o in state.history} | {
            number: trial.params for number, trial in state.pending.items()
        }
        self._numbers: dict[int, int] = {}  # those of this study, by those of the other
        options = replace(study.options, lam=lam, stopping="pbgi", watch=())
        self._study = Study.__new__(Study)
        self._study._set_up(study.space, options, EventLog())  # noqa: SLF001  as above
        self._is_known = is_known(study.cost_model)

    @property
    def study(self) -> Study:
        """The study that is told."""
        return self._study

    @property
    def spent(self) -> float:
        """What all that was told has cost."""
        return self._study.spent

    @property
    def best(self) -> Best | None:
        """The best result that was told."""
        return self._study.best

    def verdict(self) -> Verdict:
        """Whether it would stop now."""
        return self._study.should_stop()

    def worth_of(self, number: int) -> float | None:
        """How many times its price going on with a trial is worth; None of one to be started."""
        if number not in self._numbers:
            return None
        return self._study.worth_going_on().get(self._numbers[number])

    def tell(self, told: Telling) -> None:
        """Begin or continue a trial as it was, and tell what came of it."""
        number = told.trial if isinstance(told, Report) else told.number
        if number not in self._params:
            return  # given up since
        if isinstance(told, Report):
            trial = self._begun(number, Leg(told.step))
            cost = None if self._is_known else told.cost
            self._study.tell(trial, told.value, cost, step=told.step)
        else:
            stages = self._study.options.stages
            trial = self._begun(number, Leg(stages.last))  # type: ignore[union-attr]
            self._study.tell(trial, told.outcome, told.cost or None)

    def _begun(self, number: int, leg: Leg) -> Trial:
        log = self._study._context.log  # noqa: SLF001  as above
        if number in self._numbers:
            trial = log.state.pending[self._numbers[number]]
            log.commit(TrialContinued(trial.number, leg))
        else:
            trial = Trial(log.state.next, dict(self._params[number]))
            self._numbers[number] = trial.number
            log.commit(TrialAsked(trial, designed=False, fitted=None, leg=leg))
        return trial
