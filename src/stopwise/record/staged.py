# SPDX-License-Identifier: Apache-2.0
"""Evaluations in stages, as a study keeps them: what was reported, and what is being run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Report:
    """The value of a trial at one of its stages.

    Args:
        trial: Number of the trial.
        step: The step at which it was reported.
        value: The value of the objective.
        cost: What the trial has cost so far, all stages together.
    """

    trial: int
    step: int
    value: float
    cost: float


@dataclass(frozen=True, slots=True)
class PassedOver:
    """What going on with a paused trial was worth when another action was chosen.

    Args:
        fair_value: Its fair value, in the user's units; None if what was left of the budget did
            not pay for its next stage.
        worth: How many times its price going on was worth, against the best finished value; None
            before any trial has finished.
    """

    fair_value: float | None = None
    worth: float | None = None


@dataclass(frozen=True, slots=True)
class Leg:
    """One leg of a trial: from where it is to a further stage, and why it was worth going.

    Args:
        to_step: The step to which it is to be run.
        fair_value: The fair value of going on, in the user's units; None if no model chose.
        worth: How many times its price going on was worth, against the best finished value; None
            before any trial has finished.
        since: The fair value at which the trial was last started, or taken up after others.
        passed: Paused trials that had reported since the choice before and were passed over for
            this one, by number; journals that were written earlier do not have it.
    """

    to_step: int
    fair_value: float | None = None
    worth: float | None = None
    since: float | None = None
    passed: Mapping[int, PassedOver] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Left:
    """Where and why a trial was left: the first choice after its last report was another one.

    Args:
        step: The step at which it waits.
        chosen: Number of the trial that was begun or continued instead.
        chosen_fair_value: The fair value of that.
        going_on: What going on was worth then; None if the journal does not say.
    """

    step: int
    chosen: int
    chosen_fair_value: float
    going_on: PassedOver | None


@dataclass(frozen=True, slots=True)
class Staged:
    """The reports of a study, in order, the legs that are being run, and why trials were left.

    All but the reports are by the number of the trial.
    """

    reports: tuple[Report, ...] = ()
    running: Mapping[int, Leg] = field(default_factory=dict)
    legs: Mapping[int, tuple[Leg, ...]] = field(default_factory=dict)
    left: Mapping[int, Left] = field(default_factory=dict)

    @property
    def latest(self) -> dict[int, Report]:
        """The last report of each trial that has one."""
        return {report.trial: report for report in self.reports}

    def passed_over(self, paused: Iterable[int], chosen: int | None) -> list[int]:
        """Of paused trials those that were not left before at their step, but for the chosen."""
        latest, left = self.latest, self.left
        others = (n for n in paused if n != chosen)
        return [n for n in others if n not in left or left[n].step != latest[n].step]

    def begun(self, number: int, leg: Leg, paused: Iterable[int]) -> Staged:
        """With a leg that is being run; if a model chose it, others were left for it."""
        legs = {**self.legs, number: (*self.legs.get(number, ()), leg)}
        left, latest, fair_value = dict(self.left), self.latest, leg.fair_value
        if fair_value is not None:
            for n in self.passed_over(paused, number):
                left[n] = Left(latest[n].step, number, fair_value, leg.passed.get(n))
        return replace(self, running={**self.running, number: leg}, legs=legs, left=left)

    def reported(self, report: Report) -> Staged:
        """With a report; a leg that has reached its stage is no longer run."""
        last = self.latest.get(report.trial)
        if last == report:
            return self
        if last is not None and (report.step <= last.step or report.cost < last.cost):
            raise ValueError(f"trial {report.trial} is reported at step {report.step} again")
        leg = self.running.get(report.trial)
        arrived = leg is not None and report.step >= leg.to_step
        staged = replace(self, reports=(*self.reports, report))
        return staged.ended(report.trial) if arrived else staged

    def amended(
        self, number: int, value: float | None, cost: float, *, had_value: bool, step: int | None
    ) -> Staged:
        """With another final report of a trial that was told; without one if it has failed.

        Args:
            number: Number of the trial.
            value: The right value; None if it has failed.
            cost: The right cost.
            had_value: Whether it was told with a value, so that its last report is the final one.
            step: The step of the value.
        """
        last = self.latest.get(number) if had_value else None
        if last is None:  # what was reported on the way stays
            final = () if value is None or step is None else (Report(number, step, value, cost),)
            return replace(self, reports=(*self.reports, *final))
        right = () if value is None else (replace(last, value=value, cost=cost),)
        at = self.reports.index(last)
        return replace(self, reports=(*self.reports[:at], *right, *self.reports[at + 1 :]))

    def ended(self, number: int) -> Staged:
        """With a trial that is not run now."""
        return replace(self, running={n: leg for n, leg in self.running.items() if n != number})
