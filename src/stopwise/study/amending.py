# SPDX-License-Identifier: Apache-2.0
"""Amending: a report that was wrong is corrected, a trial that nobody will tell given up."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from stopwise.core.checks import checked_cost
from stopwise.core.stages import Stages
from stopwise.record.events import TrialAmended, TrialDropped
from stopwise.record.history import Observation
from stopwise.record.outcomes import Outcome, outcome_of
from stopwise.study.context import StudyContext
from stopwise.study.exclusive import exclusive
from stopwise.study.identifying import TrialGiven, pending_trial, told_trial
from stopwise.study.promising import Promising
from stopwise.study.readable import ReadableStudy
from stopwise.study.telling import beyond_limits, outcome_told

AS_TOLD: Final[Any] = type("AsTold", (), {"__repr__": lambda _: "as told"})()
"""Stands for what stays as it was told; None would be a failure."""


class AmendableStudy(ReadableStudy):
    """The part of ``Study`` that corrects reports and gives trials up."""

    _promising: Promising

    @exclusive
    def drop(self, trial: TrialGiven) -> None:
        """Give a trial up: it will not be told, and its configuration may be chosen again.

        Args:
            trial: One of ``pending``, its number or its params.
        """
        began = time.perf_counter()
        self._context.log.check_writable()
        number = pending_trial(self._context, trial).number
        self._context.log.commit(TrialDropped(number), began)

    @exclusive
    def amend(
        self,
        trial: TrialGiven,
        value: float | Outcome | None = AS_TOLD,
        cost: float = AS_TOLD,
        *,
        message: str = "",
        outcomes: Mapping[str, float] | None = None,
    ) -> None:
        """Correct the report of a trial; what is left out stays as it was told.

        From now on everything is believed as if the trial had been told so. What was chosen,
        promised and decided meanwhile stays on record, and so does the first report.

        Args:
            trial: One that was told, its number or its params; of params that were told more
                than once the number says which.
            value: The right value; None if the evaluation failed, or an outcome.
            cost: The right cost.
            message: Why the evaluation failed, if it did.
            outcomes: What was measured besides, all of it.
        """
        began, context = time.perf_counter(), self._context
        context.log.check_writable()
        told = told_trial(context, trial)
        amended = _amended(context, told, value, cost, message, outcomes)
        if amended == told:
            return
        delivered = self._promising.anew(context.history.amended(amended), told.number)
        stages = context.options.stages
        step = None
        if isinstance(stages, Stages) and amended.value is not None:
            step = stages.last
        context.log.commit(TrialAmended(amended, delivered, step), began)


def _amended(  # what a report consists of
    context: StudyContext,
    told: Observation,
    value: Any,  # noqa: ANN401  as a user gives it
    cost: Any,  # noqa: ANN401
    message: str,
    outcomes: Mapping[str, float] | None,
) -> Observation:
    """The observation with what is right."""
    measured = (told.outcomes or None) if outcomes is None else outcomes
    given = _by_the_user(context, told) if value is AS_TOLD else value
    outcome, kept = told.outcome, told.outcomes
    if value is not AS_TOLD or outcomes is not None or message:
        outcome, kept = outcome_told(context, told.number, given, message, measured)
    paid = told.cost if cost is AS_TOLD else checked_cost(cost)
    return replace(told, outcome=outcome, cost=paid, outcomes=kept)


def _by_the_user(context: StudyContext, told: Observation) -> Outcome:
    """The outcome as it was told: without the message that the study has made of broken limits."""
    made = beyond_limits(told.outcomes, context.options.limits)
    if not (told.infeasible and told.message == made):
        return told.outcome
    return outcome_of(told.value)
