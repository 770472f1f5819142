# SPDX-License-Identifier: Apache-2.0
"""The part of ``Study`` that knows of stages."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stopwise.core.numerics.threads import single_threaded
from stopwise.record.history import Trial
from stopwise.record.staged import Left, Leg, Report
from stopwise.study.actions import Action, Start
from stopwise.study.amending import AmendableStudy
from stopwise.study.asking import Asking
from stopwise.study.exclusive import exclusive
from stopwise.study.result import Paused

if TYPE_CHECKING:
    from stopwise.study.staged.parts import StagedParts


class StagedStudy(AmendableStudy):
    """The part of ``Study`` that starts, continues and leaves evaluations in stages."""

    _staged: StagedParts | None
    _asking: Asking

    @exclusive
    @single_threaded
    def next(self) -> Action:
        """The next action: ``Start`` a trial or ``Continue`` a paused one, to a step.

        Tell what came of it with ``tell(trial, value, cost, step=...)``; then ask again. A trial
        that is not continued stays paused, at no cost. Without stages it is what ``ask`` gives.
        """
        self._context.log.check_writable()
        if self._staged is None:
            return Start(self._asking.trials(1, None)[0], None)
        return self._staged.asking.action()

    @property
    @exclusive
    def curves(self) -> Mapping[int, tuple[Report, ...]]:
        """The reports of each trial, by its number; empty without stages."""
        curves: dict[int, list[Report]] = {}
        for report in self._context.state.staged.reports:
            curves.setdefault(report.trial, []).append(report)
        return {number: tuple(reports) for number, reports in curves.items()}

    @property
    @exclusive
    def legs(self) -> Mapping[int, tuple[Leg, ...]]:
        """How far each trial was to be run, each time that it was, and what that was worth."""
        return dict(self._context.state.staged.legs)

    @property
    @exclusive
    def why_left(self) -> Mapping[int, Left]:
        """Where and why each paused trial was left, by its number.

        A trial after whose last report nothing was chosen yet is not among them.
        """
        state = self._context.state
        latest, left = state.staged.latest, state.staged.left
        return {n: left[n] for n in state.paused if n in left and left[n].step == latest[n].step}

    @property
    @exclusive
    def paused(self) -> tuple[Trial, ...]:
        """Trials that have reached a stage and are not being run."""
        return tuple(self._context.state.paused.values())

    @exclusive
    @single_threaded
    def paused_runs(self) -> tuple[Paused, ...]:
        """How far each paused trial is, and what it is expected to cost to finish it.

        The best value comes first. Empty without stages.
        """
        return () if self._staged is None else self._staged.deciding.paused()

    @exclusive
    @single_threaded
    def worth_going_on(self) -> dict[int, float]:
        """How many times its price going on with each paused trial is worth now, by number.

        Below 1 it is left. Empty without stages, and before any trial has finished.
        """
        if self._staged is None or not self._design.is_done:
            return {}
        return self._staged.asking.worths()

    def _tell_stage(
        self,
        trial: Trial | Mapping[str, Any],
        value: Any,  # noqa: ANN401  as it was told
        cost: float | Sequence[float] | None,
        of_stage: tuple[int | None, bool | None, bool | None],
        message: str,
    ) -> None:
        """Report a trial at a stage: step, whether it is done, whether it is charged."""
        step, done, charge = of_stage
        began = time.perf_counter()
        assert self._staged is not None  # noqa: S101  the caller has seen to it
        event = self._staged.telling.event(
            trial,
            value,
            cost,  # type: ignore[arg-type]  # checked there
            step=step,
            done=done,
            charge=charge,
            message=message,
        )
        if event is not None:
            self._context.log.commit(event, began)
