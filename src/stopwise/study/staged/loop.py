# SPDX-License-Identifier: Apache-2.0
"""The loop of ``minimize`` and ``maximize`` with stages: start, continue and report."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from typing import Any

from stopwise.core.stages import Stages
from stopwise.errors import InputError, shown
from stopwise.record.history import Trial
from stopwise.study.actions import Action
from stopwise.study.display import Silent
from stopwise.study.staged.runs import Advanced, Run
from stopwise.study.study import Study

Objective = Callable[..., Any]


class StagedLoop:
    """Runs the trials of a study with stages.

    Args:
        objective: A generator function, or a function that takes ``report``; see ``minimize``.
        study: The study.
        cost: The option ``cost`` as it was given.
        progress: The display.
    """

    def __init__(self, objective: Objective, study: Study, cost: object, progress: Silent) -> None:
        stages = study.options.stages
        assert isinstance(stages, Stages)  # noqa: S101  options are checked
        self._objective = objective
        self._study = study
        self._stages = stages
        self._cost = cost if isinstance(cost, str) else None
        self._progress = progress
        self._runs: dict[int, Run] = {}
        # Of each run: what its trial had cost and reached before it began (after a resume).
        self._before: dict[int, tuple[float, int]] = {}
        self._seconds: dict[int, float] = {}
        self._anew: set[int] = set()  # runs that may go on from a later checkpoint than was told

    def in_turn(self) -> None:
        """One leg after the other, until a rule or a hard limit ends the run."""
        try:
            while self._goes_on():
                action = self._study.next()
                self._progress.changed(self._study)
                self._tell(action, self._run_of(action.trial).advance(action.to_step or 0))
        finally:
            self._close()

    def side_by_side(self, executor: Executor, slots: int) -> None:
        """Up to ``slots`` legs at once; the rules are asked again whenever one ends."""
        if isinstance(executor, ProcessPoolExecutor):
            message = (
                "stages= with an executor of processes: paused runs wait in this process, so give"
                " a ThreadPoolExecutor, or let stopwise run start programs."
            )
            raise InputError(message)
        running: dict[Future[Advanced], Action] = {}
        try:
            while True:  # ends when nothing runs and no more may begin
                while len(running) < slots and self._goes_on():
                    action = self._study.next()
                    run = self._run_of(action.trial)
                    running[executor.submit(run.advance, action.to_step or 0)] = action
                    self._progress.changed(self._study)
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=lambda f: running[f].trial.number):
                    self._tell(running.pop(future), future.result())
        finally:
            wait(running)
            self._close()

    def _goes_on(self) -> bool:
        verdict = self._study.should_stop()
        self._progress.changed(self._study)
        return not verdict.stop

    def _run_of(self, trial: Trial) -> Run:
        """The run of a trial; begun anew if it was paused in a process that has ended."""
        number = trial.number
        if number not in self._runs:
            curve = self._study.curves.get(number)
            late = self._stages.steps if curve else ()
            self._runs[number] = Run(self._objective, dict(trial.params), number, late)
            self._before[number] = (curve[-1].cost, curve[-1].step) if curve else (0.0, 0)
            self._seconds[number] = 0.0
            if curve:
                self._anew.add(number)
        return self._runs[number]

    def _tell(self, action: Action, advanced: Advanced) -> None:
        """Tell what a leg reported, and how it ended."""
        trial, number = action.trial, action.trial.number
        base, reached = self._before[number]
        self._seconds[number] += advanced.seconds
        seconds = base + self._seconds[number] if self._cost == "seconds" else None
        told, due = reached, 0 if number in self._anew else action.to_step or 0
        self._anew.discard(number)
        for step, value, cost in advanced.reports:
            if step not in self._stages.steps or step <= reached:
                continue
            passes = step > due > told
            if passes and step < self._stages.last:
                self._refuse(advanced, action)
            paid = (
                seconds if self._cost != "reported" else self._reported(number, step, value, cost)
            )
            self._study.tell(trial, value, paid, step=step)
            told = step
            if passes:  # its final value is paid for, and told
                self._refuse(advanced, action)
            if trial.number not in {t.number for t in self._study.pending}:
                self._end(number)  # at its last step, or it has diverged
                return
        self._before[number] = base, max(told, reached)
        if advanced.ended:
            self._end(number)
            self._tell_end(trial, advanced, told, seconds)
        elif told < (action.to_step or 0):
            self._refuse(advanced, action)

    def _reported(self, number: int, step: int, value: object, cost: float | None) -> float | None:
        """What a trial has cost so far as its run reports it; a failure may leave it out."""
        if cost is not None:
            return self._before[number][0] + cost
        if value is None:
            return None
        message = (
            f"trial {number} reported step {step} without a cost: with cost='reported'"
            " yield (step, value, cost), or call report(step, value, cost), with what the"
            " run has cost so far. What was told before is kept."
        )
        raise InputError(message)

    def _tell_end(
        self, trial: Trial, advanced: Advanced, told: int, seconds: float | None
    ) -> None:
        """Tell that a run has ended before its last stage, with what it has cost until then."""
        at, last, paid = told, self._stages.last, seconds
        if advanced.reports:
            step, _, cost = advanced.reports[-1]
            at = max(step, told)
            if self._cost == "reported" and cost is not None:
                paid = self._before[trial.number][0] + cost
        where = f"the run ended at step {at} of {last} without a word"
        message = advanced.error or f"{where}: it is to report up to its last stage"
        # How far a run came that raised before it reported anything is not known.
        known = at > 0 and (advanced.reports or not advanced.error)
        self._study.tell(trial, None, paid, step=at if known else None, message=message)

    def _refuse(self, advanced: Advanced, action: Action) -> None:
        """Refuse reports that pass a stage by; what was told before is kept."""
        steps = [step for step, _, _ in advanced.reports]
        message = (
            f"trial {action.trial.number} reported steps {shown(steps)} and not {action.to_step}:"
            f" the stages of this study are {self._stages}. Report at these, or give other stages."
        )
        raise InputError(message)

    def _end(self, number: int) -> None:
        self._runs.pop(number).close()

    def _close(self) -> None:
        for run in self._runs.values():
            run.close()
        self._runs = {}
