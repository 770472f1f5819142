# SPDX-License-Identifier: Apache-2.0
"""The trial loop in stages: programs are started, paused at a stage, taken up again, and left.

At the step that it was to reach a program is stopped at once (SIGSTOP), and the study decides what
is next. If that is another trial, the program waits where it is; or, with ``pause =
"checkpoint"``, it is ended, and started again with its checkpoint when it is taken up. What a
program prints before it is stopped is told when its trial is taken up, so that no choice depends
on how quick it was.
"""

from __future__ import annotations

import json
import selectors
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from stopwise.core.checks import checked_whole
from stopwise.core.quantity import quantity
from stopwise.core.units import settings
from stopwise.errors import StopwiseError
from stopwise.record.history import Trial
from stopwise.study import Study
from stopwise.study.actions import Action
from stopwise.study.saving import tell_or_save
from stopwise.tools.progress.view import leg_words
from stopwise.tools.runner.config import Config
from stopwise.tools.runner.process import ProgramEnd
from stopwise.tools.runner.program_result import (
    ProgramResult,
    cost_by_clock,
    read_report,
    read_result,
)
from stopwise.tools.runner.staged_program import StagedProgram, checkpoint_of, start_staged
from stopwise.tools.runner.trial_loop import (
    OnChange,
    RunEnd,
    Say,
    StartedTrial,
    TrialLoop,
    with_earlier_starts,
)


@dataclass(slots=True)
class _StagedTrial(StartedTrial):
    """A trial whose program runs, is paused, or has ended and is not all told.

    Args:
        program: The program.
        to_step: The step that it is to reach.
        began: The last stage that earlier starts had told.
        reached: The last stage that was told.
        printed: The last step of this start that was looked at; 0 before the first.
        cost: What this start had cost then.
        final: What it printed at the last stage.
        heard: What it has printed and is not looked at yet, with the seconds it had run then.
        ended: How it ended, once it has.
        left: Whether it has ended, or was ended, because its trial was left.
    """

    program: StagedProgram = None  # type: ignore[assignment]  # fields before it have defaults
    to_step: int = 0
    began: int = 0
    reached: int = 0
    printed: int = 0
    cost: float = 0.0
    final: ProgramResult | None = None
    heard: deque[tuple[dict[str, Any], float]] = field(default_factory=deque)
    ended: ProgramEnd | None = None
    left: bool = False


class StagedTrialLoop(TrialLoop):
    """The state of a run in stages: trials that run, and those that are paused with a program."""

    started: list[_StagedTrial]  # type: ignore[assignment]

    def __init__(self, config: Config, study: Study, on_change: OnChange, say: Say) -> None:
        super().__init__(config, study, on_change, say)
        assert config.stages is not None  # noqa: S101  the caller has seen to it
        self.stages, self.settings = config.stages.stages, config.stages
        self.paused: dict[int, _StagedTrial] = {}
        self.has_warned = False

    # ------------------------------------------------------------------ the loop

    def fill(self) -> None:
        """Start and continue trials while workers are free and the run goes on."""
        while self.may_begin():
            self.begin(self.study.next())
        if self.settings.pause == "checkpoint":
            for staged in list(self.paused.values()):
                if staged.ended is None:
                    self.finish(staged, staged.program.end())

    def begin(self, action: Action) -> None:
        """Start the program of a trial, or let it go on."""
        trial, to_step = action.trial, action.to_step or self.stages.last
        staged = self.paused.pop(trial.number, None)
        words = leg_words(self.study, trial.number)
        if staged is None:
            curve = self.study.curves.get(trial.number)
            paid, reached = (curve[-1].cost, curve[-1].step) if curve else (0.0, 0)
            self.on_change(self.study, f"{words}: {settings(trial.params)}")
            self.launch(trial, to_step, paid=paid, reached=reached)
        else:
            self.on_change(self.study, words)
            staged.to_step = to_step
            self.started.append(staged)
            self.look(staged)

    def launch(
        self, trial: Trial, to_step: int, *, paid: float, reached: int, failed: int = 0
    ) -> None:
        """Start the program of a trial, whose earlier starts have come so far for so much."""
        program = start_staged(self.config, trial.number, trial.params, to_step)
        self.started.append(
            _StagedTrial(
                trial,
                program.program,
                0.0 if self.config.cost.kind == "none" else paid,
                failed,
                program=program,
                to_step=to_step,
                began=reached,
                reached=reached,
            )
        )

    def wait(self) -> None:
        """Wait for a line or the end of a program, or for a signal, and handle it."""
        trials = [s for s in (*self.started, *self.paused.values()) if s.ended is None]
        with selectors.DefaultSelector() as selector:
            selector.register(self.interrupts, selectors.EVENT_READ)
            for staged in trials:
                selector.register(staged.running, selectors.EVENT_READ)
                selector.register(staged.program.pipe, selectors.EVENT_READ)
            ready = {key.fd for key, _ in selector.select()}
        self.handle_interrupts()
        for staged in sorted(trials, key=lambda s: s.trial.number):
            if staged.program.pipe in ready:
                self.hear(staged, staged.program.answers())
            if staged.ended is None and staged.running.fileno() in ready:
                ended = staged.running.hear()
                if ended is not None:
                    self.finish(staged, ended)

    def end(self) -> RunEnd:
        """Why the run has ended; programs that are paused end with it."""
        for staged in self.paused.values():
            if staged.ended is None:
                staged.program.end()
        return super().end()

    def close(self) -> None:
        """Let go of all programs; those that still run or are paused are killed."""
        for staged in (*self.started, *self.paused.values()):
            staged.program.close()

    def when(self) -> str:
        """Nothing: a leg is a part of a trial, and its end is near."""
        return ""

    # ------------------------------------------------------------------ reports

    def hear(self, staged: _StagedTrial, answers: Iterable[dict[str, Any]]) -> None:
        """Take in what a program has printed; at the stage that it was to reach it is paused."""
        for answer in answers:
            staged.heard.append((answer, staged.program.seconds()))
            step = answer[self.settings.key]
            if step in self.stages.steps[:-1] and step >= staged.to_step:
                staged.program.pause()
        if staged.trial.number not in self.paused:
            self.look(staged)

    def look(self, staged: _StagedTrial) -> None:
        """Tell what was heard, up to the stage that is to be reached, and what follows from it."""
        while staged.heard and staged.reached < staged.to_step and staged.final is None:
            wrong = self.report(staged, *staged.heard.popleft())
            if wrong is not None:
                self.fail(staged, wrong)
                return
        if staged.final is None and staged.reached >= staged.to_step:
            self.started = [s for s in self.started if s is not staged]
            self.paused[staged.trial.number] = staged
        elif staged.ended is not None:
            self.settle(staged, staged.ended)
        else:
            staged.program.go_on()

    def report(
        self, staged: _StagedTrial, answer: dict[str, Any], seconds: float
    ) -> ProgramResult | None:
        """Tell one report; what is wrong with it, if anything is."""
        result = read_report(self.config, answer, seconds)
        try:
            step = checked_whole(f"{self.settings.key!r}", answer[self.settings.key])
        except StopwiseError as error:
            return replace(result, value=None, message=str(error).removesuffix("."))
        wrong = self.what_is_wrong(staged, step, result)
        if wrong:
            if staged.printed < step <= self.stages.last:
                staged.printed = step
            return replace(result, value=None, message=wrong)
        if not staged.printed:
            self.warn_if_anew(staged, step)
        staged.printed, staged.cost = step, result.cost or 0.0
        if step == self.stages.last:
            staged.final = result
        elif step in self.stages.steps and step > staged.reached:
            self.tell_stage(staged, step, result)
        return None

    def warn_if_anew(self, staged: _StagedTrial, step: int) -> None:
        """Say once that a program which was to go on from its checkpoint begins anew."""
        is_anew = staged.began >= self.stages.steps[0] >= step
        if self.has_warned or not is_anew or self.settings.pause != "checkpoint":
            return
        self.has_warned = True
        number, path = staged.trial.number, checkpoint_of(self.config, staged.trial.number)
        self.say(
            f"trial {number} had come to step {staged.began} and prints step {step} again: it did"
            f" not go on from {path.name}, and what is run again costs again"
        )

    def what_is_wrong(self, staged: _StagedTrial, step: int, result: ProgramResult) -> str:
        """Why a report cannot be told; empty if it can."""
        if step <= staged.printed:
            return f"step {step} came after step {staged.printed}: steps go forward"
        if step > self.stages.last:
            return f"step {step} is beyond the last stage, {self.stages.last}"
        if step <= staged.reached:
            return ""  # told by an earlier start
        due = self.stages.after(staged.reached)
        if step > due and (staged.printed or not staged.began):  # else from a later checkpoint
            return f"step {due} was passed by; stages are {self.stages}, and step {step} came"
        if result.cost is not None and result.cost < staged.cost:
            went = f"from {quantity(staged.cost)} to {quantity(result.cost)}"
            return f"the cost went {went}: it is that of the run so far, and does not shrink"
        return f"at step {step}: {result.message}" if result.value is None else ""

    def tell_stage(self, staged: _StagedTrial, step: int, result: ProgramResult) -> None:
        """Tell the study the value at a stage, and report the change."""
        result = with_earlier_starts(result, staged)
        tell_or_save(self.study, staged.trial, result.value, result.cost, step=step)
        staged.reached = step
        units, number = self.study.options.units, staged.trial.number
        told = self.study.curves[number][-1]
        cost = self.config.cost.words(told.cost)
        line = f"trial {number} at step {step} of {self.stages.last}: {units.value(told.value)}"
        self.on_change(self.study, f"{line} for {cost}")

    # ------------------------------------------------------------------ ends

    def finish(self, started: StartedTrial, ended: ProgramEnd) -> None:
        """A program has ended: tell what it printed before, and how it ended."""
        assert isinstance(started, _StagedTrial)  # noqa: S101  all trials of this loop are
        answers, number = list(started.program.last_answer()), started.trial.number
        started.ended = ended
        started.program.close()
        self.check_startable(started, ended)
        started.left = number in self.paused and self.is_gone(ended)
        self.hear(started, answers)
        if started.left and (self.settings.pause == "stop" or not started.heard):
            del self.paused[number]  # it is started again if it is taken up

    def is_gone(self, ended: ProgramEnd) -> bool:
        """Whether a paused program was ended by somebody, or has ended with its checkpoint."""
        by_itself = ended.why == "ended" and ended.exit_code >= 0
        return not by_itself or (self.settings.pause == "checkpoint" and ended.exit_code == 0)

    def settle(self, staged: _StagedTrial, ended: ProgramEnd) -> None:
        """Tell how a program ended that was being run."""
        self.started = [s for s in self.started if s is not staged]
        by_itself = ended.why == "ended" and ended.exit_code == 0
        if staged.final is not None and (by_itself or staged.left):
            for answer, _ in staged.heard:
                self.say_not_told(staged, answer)
            by_clock = cost_by_clock(self.config, ended.seconds)
            cost = staged.final.cost if by_clock is None else max(by_clock, staged.cost)
            self.told_or_retried(staged, replace(staged.final, cost=cost))
        elif staged.left or not self.was_interrupted(ended):
            result = self.so_far(staged, ended)
            advanced = by_itself and staged.reached > staged.began
            if staged.left or (advanced and self.settings.pause == "checkpoint"):
                paid = with_earlier_starts(result, staged).cost or 0.0
                self.launch(staged.trial, staged.to_step, paid=paid, reached=staged.reached)
            else:
                self.told_or_retried(staged, result)

    def say_not_told(self, staged: _StagedTrial, answer: dict[str, Any]) -> None:
        """Say that something came after the last stage."""
        step, number = f"{answer[self.settings.key]!r:.40}", staged.trial.number
        last = self.stages.last
        self.say(f"trial {number} printed step {step} after its last stage, {last}: not told")

    def so_far(self, staged: _StagedTrial, ended: ProgramEnd) -> ProgramResult:
        """What a program without a result has cost, and why it has none."""
        if ended.why == "ended" and ended.exit_code == 0:
            line = {
                self.settings.key: self.stages.after(staged.reached),
                self.config.value.key: 0.5,
            }
            message = (
                f"the program ended at step {staged.printed} of {self.stages.last} without a word:"
                f" it is to print a line of JSON at each stage, such as {json.dumps(line)}"
            )
            result = ProgramResult(None, cost_by_clock(self.config, ended.seconds), message)
        else:
            result = read_result(self.config, staged.running, ended)
        cost = staged.cost if result.cost is None else max(result.cost, staged.cost)
        return replace(result, cost=cost or None)

    def fail(self, staged: _StagedTrial, wrong: ProgramResult) -> None:
        """End a program that has printed something wrong."""
        if staged.ended is None:
            staged.ended = staged.program.end()
            for _ in staged.program.last_answer():  # kept in its folder, and not told
                pass
            staged.program.close()
        self.started = [s for s in self.started if s is not staged]
        cost = max(wrong.cost or 0.0, staged.cost) or None
        self.told_or_retried(staged, replace(wrong, cost=cost))

    def told_or_retried(self, staged: _StagedTrial, result: ProgramResult) -> None:
        """Tell how a trial ended, or start it again if the file says so."""
        result = with_earlier_starts(result, staged)
        if self.config.cost.kind == "none":
            result = replace(result, cost=None)
        if not self.is_retried(staged, result):
            step = self.stages.last if result.value is not None else staged.printed
            self.tell(staged.trial, result, step=step if step > staged.reached else None)

    def start_again(self, started: StartedTrial, paid: float) -> None:
        """Start the program of a trial that has failed once more."""
        assert isinstance(started, _StagedTrial)  # noqa: S101  all trials of this loop are
        self.launch(
            started.trial,
            started.to_step,
            paid=paid,
            reached=started.reached,
            failed=started.failed + 1,
        )
