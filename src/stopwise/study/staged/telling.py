# SPDX-License-Identifier: Apache-2.0
"""Telling in stages: the event made from what a user reports of a trial that may go on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stopwise.core.beliefs.prices import known_cost
from stopwise.core.checks import check_within_bounds, checked_cost, checked_whole
from stopwise.core.quantity import quantity
from stopwise.core.stages import Stages
from stopwise.errors import InputError, InputTypeError, shown
from stopwise.record.events import StageReported, TrialTold
from stopwise.record.history import Trial
from stopwise.record.outcomes import Pruned
from stopwise.record.staged import Report
from stopwise.study.context import StudyContext
from stopwise.study.identifying import absent
from stopwise.study.telling import Value, observation_of, outcome_told, was_told


def refuse_stages(step: object, done: object) -> None:
    """Refuse a step in a study that has no stages."""
    if step is not None or done is not None:
        message = (
            f"tell(..., step={shown(step)}, done={shown(done)}) in a study without stages: give"
            " the study stages=, such as stages=sw.Stages(81, eta=3), or leave them out."
        )
        raise InputTypeError(message)


class StagedTelling:
    """Makes events of what is told in a study with stages."""

    def __init__(self, context: StudyContext, stages: Stages) -> None:
        self._context = context
        self._stages = stages

    def event(
        self,
        trial: Trial | Mapping[str, Any],
        value: Value,
        cost: float | None,
        *,
        step: int | None,
        done: bool | None,
        charge: bool | None,
        message: str,
    ) -> StageReported | TrialTold | None:
        """The event; None if this very report was told before."""
        number = trial.number if isinstance(trial, Trial) else self._context.state.next
        outcome, _ = outcome_told(self._context, number, value, message, None)
        if step is None and outcome.value is not None:
            self._check_handed_to_last(trial)
        if outcome.value is None:
            ended_at = None if step is None else self._checked_end(trial, step)
            self._check_goes_on(trial, value, ended_at, done)
            return self._failed(trial, value, cost, ended_at, charge=charge, message=message)
        at = self._stages.last if step is None else self._checked_step(step)
        if done is None:
            done = at == self._stages.last
        self._check_done(trial, at, done=done)
        if not done:
            return self._reported(trial, outcome.value, cost, at)
        return self._told(trial, value, cost, at, charge=charge, message=message)

    def _told(
        self,
        trial: Trial | Mapping[str, Any],
        value: Value,
        cost: float | None,
        at: int,
        *,
        charge: bool | None,
        message: str,
    ) -> TrialTold | None:
        """The event of a trial that has ended with its final value."""
        if was_told(self._context, trial, value, cost, charge=charge, message=message):
            return None
        before = self._before(trial)
        if before is not None and not self._is_told(trial):
            self._check_forward(before, at)
        told = observation_of(self._context, trial, value, cost, charge=charge, message=message)
        self._check_cost(before, told.cost)
        return TrialTold(told, step=at)

    def _failed(
        self,
        trial: Trial | Mapping[str, Any],
        value: Value,
        cost: float | None,
        at: int | None,
        *,
        charge: bool | None,
        message: str,
    ) -> TrialTold | None:
        """The event of a trial that has ended without a final value, at a step if that is told."""
        if was_told(self._context, trial, value, cost, charge=charge, message=message):
            return None
        before, paid = self._before(trial), cost
        if paid is None and isinstance(trial, Trial) and not self._is_told(trial):
            paid = self._paid_until_end(trial, before, at)
        told = observation_of(self._context, trial, value, paid, charge=charge, message=message)
        self._check_cost(before, told.cost)
        reached = before.step if before is not None else 0
        return TrialTold(told, step=reached if at is None else at)

    def _reported(
        self, trial: Trial | Mapping[str, Any], value: float, cost: float | None, at: int
    ) -> StageReported | None:
        """The event of a trial that goes on."""
        pending = self._pending(trial, at)
        check_within_bounds(f"trial {pending.number}", value, self._context.options.bounds)
        paid = self._paid(pending, cost, at)
        before = self._before(pending)
        report = Report(pending.number, at, value, paid)
        if before == report:
            return None
        if before is None:
            self._check_first(pending, at)
        else:
            self._check_forward(before, at)
        self._check_cost(before, paid)
        return StageReported(report)

    # ------------------------------------------------------------------ checks

    def _check_handed_to_last(self, trial: Trial | Mapping[str, Any]) -> None:
        """Refuse a value without a step of a trial that was handed out to an earlier stage."""
        state, last = self._context.state, self._stages.last
        if not isinstance(trial, Trial) or trial.number not in state.pending:
            return
        legs = state.staged.legs.get(trial.number)
        if not legs or (to_step := legs[-1].to_step) == last:
            return
        handed = f"trial {trial.number} was handed out to step {to_step} of {last}, and its value"
        raise InputError(
            f"{handed} is told without a step: give step={to_step}, or step={last} if it was run"
            " to its end. Nothing was told."
        ).or_in_shell(
            f"{handed} is told without a step: give --step {to_step}, or --step {last} if it was"
            " run to its end. Nothing was told."
        )

    def _checked_step(self, step: object) -> int:
        at = checked_whole("step", step)
        if at not in self._stages.steps:
            message = (
                f"step={at} is none of this study's stages, {self._stages}: tell the values of"
                " these steps, or give the study other stages."
            )
            raise InputError(message)
        return at

    def _checked_end(self, trial: Trial | Mapping[str, Any], step: object) -> int:
        """The step at which a trial has ended without a value; it may be between two stages."""
        at, before = checked_whole("step", step, most=self._stages.last), self._before(trial)
        if before is not None and at < before.step:
            self._check_forward(before, at)
        return at

    def _check_goes_on(self, trial: Any, value: object, at: int | None, done: object) -> None:  # noqa: ANN401
        """Refuse a trial that goes on without a value."""
        if done is False and not isinstance(value, Pruned):
            where = "" if at is None else f" at step {at}"
            message = (
                f"{_name(trial)} goes on (done=False) and has no value{where}, but"
                f" {shown(value)}: leave out done= to report that it has diverged, or report a"
                " number. Nothing was told."
            )
            raise InputError(message)

    def _check_done(self, trial: Any, at: int, *, done: bool) -> None:  # noqa: ANN401
        last = self._stages.last
        if done and at < last:
            if self._is_told(trial):
                self._pending(trial, at)  # refuses it
            message = (
                f"{_name(trial)} is done at step {at} of {last}: a final value is one of the last"
                f" stage. Tell it with done=False and go on, or give it up: study.tell(trial,"
                " Pruned('...'), cost), with Pruned of stopwise.record.outcomes."
            )
            raise InputError(message)
        if not done and at == last:
            message = f"{_name(trial)} is at its last step, {last}: leave out done=False."
            raise InputError(message)

    def _check_forward(self, before: Report, at: int) -> None:
        if at <= before.step:
            message = (
                f"trial {before.trial} is at step {before.step} already (value {before.value!r}),"
                f" and step {at} is told: steps go forward, and each is told once. If what was"
                f" told is wrong, study.drop({before.trial}) gives the trial up; a final value"
                " can be amended."
            )
            raise InputError(message)

    def _check_first(self, trial: Trial, at: int) -> None:
        """Refuse a first report that passes a stage by.

        One that goes on may come from a later checkpoint than the last that was told.
        """
        leg = self._context.state.staged.running.get(trial.number)
        if leg is not None and leg.to_step < at < self._stages.last:
            message = (
                f"trial {trial.number} was handed out to step {leg.to_step}, and its first value"
                f" is one of step {at}: the stages of this study are {self._stages}. Tell its"
                f" value at step {leg.to_step} first, or give the study other stages. Nothing was"
                " told."
            )
            raise InputError(message)

    def _check_cost(self, before: Report | None, paid: float) -> None:
        if before is not None and paid < before.cost:
            message = (
                f"trial {before.trial} had cost {quantity(before.cost)} at step {before.step},"
                f" and now {quantity(paid)}: a cost is that of the whole trial so far, and does"
                " not shrink."
            )
            raise InputError(message)

    def _pending(self, trial: Trial | Mapping[str, Any], at: int) -> Trial:
        if not isinstance(trial, Trial):
            message = (
                f"params are told at step {at} of {self._stages.last}: a trial that goes on is one"
                " that this study has asked for. Data from elsewhere are told at their last step."
            )
            raise InputError(message)
        pending = self._context.state.pending.get(trial.number)
        if pending is not None:
            return pending
        if self._context.state.observed(trial.number) is None:
            raise absent(self._context, trial.number)
        message = (
            f"trial {trial.number} is done, and a value at step {at} is told of it: its final"
            f" value is corrected by study.amend({trial.number}, value=..., cost=...)."
        )
        raise InputError(message)

    def _is_told(self, trial: Trial | Mapping[str, Any]) -> bool:
        """Whether a trial was told to its end."""
        return isinstance(trial, Trial) and self._context.state.observed(trial.number) is not None

    def _before(self, trial: Trial | Mapping[str, Any]) -> Report | None:
        if not isinstance(trial, Trial):
            return None
        return self._context.state.staged.latest.get(trial.number)

    def _paid(self, trial: Trial, cost: float | None, at: int) -> float:
        """What the trial has cost so far: as told, or its share of a cost that is known."""
        if cost is not None:
            return checked_cost(cost)
        known = known_cost(self._context.cost_model, self._context.domain, trial.params)
        if known is None:
            message = (
                "a cost is missing: this study learns costs from what is paid, so tell what the"
                f" trial has cost up to step {at}: study.tell(trial, value, cost, step={at}). With"
                " minimize(), cost='seconds' measures it, and with cost='reported' it is the third"
                " number that is yielded or given to report()."
            )
            raise InputError(message)
        return known * at / self._stages.last

    def _paid_until_end(self, trial: Trial, before: Report | None, at: int | None) -> float | None:
        """What is taken for the cost of a trial that ended on the way, if nobody says.

        Of a cost that is known it is the share up to the step at which the trial ended; if that
        is not told, up to the step that it was to reach.
        """
        known = known_cost(self._context.cost_model, self._context.domain, trial.params)
        leg = self._context.state.staged.running.get(trial.number)
        upto = leg.to_step if at is None and leg is not None else at
        paid = None if before is None else before.cost
        if known is None or upto is None:
            return paid
        return max(known * upto / self._stages.last, paid or 0.0)


def _name(trial: Any) -> str:  # noqa: ANN401  a trial or params
    return f"trial {trial.number}" if isinstance(trial, Trial) else "data from elsewhere"
