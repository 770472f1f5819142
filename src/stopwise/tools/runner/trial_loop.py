# SPDX-License-Identifier: Apache-2.0
"""The trial loop: ask, start, wait and tell, as long as the study does not stop.

The loop has one thread; programs run beside it as processes.
"""

from __future__ import annotations

import selectors
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from stopwise.core.units import SECONDS, amount, settings
from stopwise.errors import InputError
from stopwise.record.history import Trial
from stopwise.study import Study
from stopwise.study.measured_beyond import beyond_words
from stopwise.study.saving import tell_or_save
from stopwise.tools.runner.config import Config
from stopwise.tools.runner.interrupts import Interrupts
from stopwise.tools.runner.process import ProgramEnd, RunningProgram, start
from stopwise.tools.runner.program_result import ProgramResult, read_result

_TOGETHER = 0.3  # seconds within which a system that shuts down has signalled all processes

OnChange = Callable[[Study, str], None]
"""Called after every change with the study and one line that says what happened."""
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RunEnd:
    """Why a run ended: a verdict of the study, failures, or a signal, and which one."""

    why: Literal["verdict", "failures", "interrupted"]
    reason: str
    signal: int = 0


@dataclass(slots=True)
class StartedTrial:
    """A trial whose program runs, what its earlier starts cost, and how many of them failed."""

    trial: Trial
    running: RunningProgram
    paid: float = 0.0
    failed: int = 0
    since: float = field(default_factory=time.monotonic)


def run_trials(
    config: Config, study: Study, on_change: OnChange, say: Say | None = None
) -> RunEnd:
    """Run trials until the study stops, the program fails too often, or the user interrupts.

    However it ends, no program is left running, and trials that were not told stay pending.

    Args:
        config: The configuration.
        study: A new one, or one that goes on.
        on_change: Called after every change.
        say: Called with messages that are no changes: what a signal does. ``on_change`` if left
            out.
    """
    if config.stages is None:
        return TrialLoop(config, study, on_change, say or partial(on_change, study)).run()
    from stopwise.tools.runner.staged_trial_loop import StagedTrialLoop  # it builds on this module

    return StagedTrialLoop(config, study, on_change, say or partial(on_change, study)).run()


def with_earlier_starts(result: ProgramResult, started: StartedTrial) -> ProgramResult:
    """A result that costs what earlier starts of the trial have cost, too."""
    if result.cost is not None:
        return replace(result, cost=result.cost + started.paid)
    return replace(result, cost=started.paid) if started.paid else result


class TrialLoop:
    """The state of a run: the trials that run, failures in a row, and interrupts."""

    def __init__(self, config: Config, study: Study, on_change: OnChange, say: Say) -> None:
        self.config, self.study, self.on_change, self.say = config, study, on_change, say
        self.started: list[StartedTrial] = []
        self.failed_in_a_row = 0
        self.interrupts = Interrupts(self.announce)
        self.level = 0  # of the interrupts that were acted on
        self.announced = 0  # of the interrupts that were spoken of

    def run(self) -> RunEnd:
        """Run until no trial runs and none is to be started."""
        with self.interrupts:
            try:
                while True:  # every pass waits for a trial's end; rules and limits end the trials
                    self.fill()
                    if not self.started:
                        return self.end()
                    self.wait()
            finally:
                self.close()

    def close(self) -> None:
        """Let go of all programs; those that still run are killed."""
        for started in self.started:
            started.running.close()

    def may_begin(self) -> bool:
        """Whether a worker is free and the run goes on."""
        return (
            len(self.started) < self.config.workers
            and self.interrupts.level == 0
            and not self.fails_too_often()
            and not self.study.should_stop().stop
        )

    def fill(self) -> None:
        """Start trials while workers are free and the run goes on."""
        while self.may_begin():
            trial = self.study.ask()  # trials that an earlier run left pending come first
            running = start(self.config, trial.number, trial.params)
            self.started.append(StartedTrial(trial, running))
            self.on_change(self.study, f"trial {trial.number} started: {settings(trial.params)}")

    def wait(self) -> None:
        """Wait for the end of a program or for a signal, and handle it."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.interrupts, selectors.EVENT_READ)
            for started in self.started:
                selector.register(started.running, selectors.EVENT_READ, started)
            ready = [key.data for key, _ in selector.select() if key.data is not None]
        self.handle_interrupts()
        for started in sorted(ready, key=lambda s: s.trial.number):
            ended = started.running.hear()
            if ended is not None:
                self.finish(started, ended)

    def handle_interrupts(self) -> None:
        """Act on a new signal: at the second one stop the running programs."""
        self.interrupts.clear()
        self.announce()
        if self.interrupts.level == self.level:
            return
        self.level = self.interrupts.level
        if self.level > 1:
            for started in self.started:
                started.running.stop()

    def announce(self) -> None:
        """Say what a new signal does, and when; at once, whatever else is being done."""
        level, n = self.interrupts.level, len(self.started)
        if level == self.announced:
            return
        if level > 1:
            line = f"stopping {n} running trials; they are asked again when the run goes on."
        elif n:
            line = f"no new trials; {n} running may finish{self.when()}. Once more stops them."
        else:
            line = "no new trials; the run ends when the model is done with what it computes."
        self.say(line)
        self.announced = level

    def when(self) -> str:
        """When the running trials are expected to end, as a clause; empty if nobody knows."""
        if not self.config.cost.is_time:
            return ""
        now = time.monotonic()
        ends = [(s.since, s.trial.expected_cost) for s in self.started]
        left = [since + cost - now for since, cost in ends if cost is not None]
        if len(left) < len(ends):
            return ""
        seconds = float(round(max(*left, 0.0)))
        return f" (in about {amount(seconds, SECONDS)})"

    def finish(self, started: StartedTrial, ended: ProgramEnd) -> None:
        """Tell the study how a trial ended, start it again, or leave it pending."""
        started.running.close()
        self.started.remove(started)
        self.check_startable(started, ended)
        if self.was_interrupted(ended):
            return
        result = with_earlier_starts(read_result(self.config, started.running, ended), started)
        if not self.is_retried(started, result):
            self.tell(started.trial, result)

    def check_startable(self, started: StartedTrial, ended: ProgramEnd) -> None:
        """Refuse a program that cannot be started."""
        if ended.why == "unstartable":
            message = (
                f"the program {self.config.command[0]!r} cannot be started: {ended.message}. Trial"
                f" {started.trial.number} stays open; correct the command and run again."
            )
            raise InputError(message)

    def was_interrupted(self, ended: ProgramEnd) -> bool:
        """Whether the program ended because the run is to end, which is no failure."""
        if ended.why == "stopped":
            return True
        if ended.why == "terminated" or -ended.exit_code in (signal.SIGTERM, signal.SIGHUP):
            # A machine that shuts down signals the programs and the runner, in any order.
            time.sleep(_TOGETHER)
        return self.interrupts.level == 2 and ended.exit_code != 0

    def is_retried(self, started: StartedTrial, result: ProgramResult) -> bool:
        """Start a failed trial again if the file says so and the run was not interrupted."""
        left = self.config.failures.retry - started.failed
        if result.value is not None or not result.retriable or left < 1 or self.interrupts.level:
            return False
        self.start_again(started, result.cost or 0.0)
        line = f"trial {started.trial.number} failed ({result.message}) and is started again"
        self.on_change(self.study, line)
        return True

    def start_again(self, started: StartedTrial, paid: float) -> None:
        """Start the program of a trial that has failed once more."""
        trial = started.trial
        again = start(self.config, trial.number, trial.params)
        self.started.append(StartedTrial(trial, again, paid, started.failed + 1))

    def tell(self, trial: Trial, result: ProgramResult, *, step: int | None = None) -> None:
        """Tell the study the result, and report the change."""
        tell_or_save(
            self.study,
            trial,
            result.value,
            result.cost,
            message=result.message,
            outcomes=result.outcomes,
            step=step,
        )
        self.failed_in_a_row = 0 if result.value is not None else self.failed_in_a_row + 1
        told = self.study.history[-1]
        cost, units = self.config.cost.words(told.cost), self.study.options.units
        if result.value is None:
            line = f"trial {trial.number} failed after {cost}: {result.message}"
        else:
            best = self.study.best
            best_so_far = "" if best is None else f"; best {units.value(best.value, best.std)}"
            line = f"trial {trial.number}: {units.value(result.value)} for {cost}{best_so_far}"
            line += f"; {beyond_words(units)}, {told.message}" if told.infeasible else ""
        self.on_change(self.study, line)

    def fails_too_often(self) -> bool:
        """Whether as many trials in a row have failed as the file allows."""
        return self.failed_in_a_row >= self.config.failures.stop_after

    def end(self) -> RunEnd:
        """Why the run has ended."""
        if self.fails_too_often():
            reason = f"{self.failed_in_a_row} trials in a row failed"
            last = next((o.message for o in reversed(self.study.history.observations)), "")
            return RunEnd("failures", f"{reason}, the last with: {last}")
        if self.interrupts.first is not None:
            return RunEnd("interrupted", "interrupted", self.interrupts.first)
        verdict = self.study.should_stop()
        if verdict.rule == "failures":
            return RunEnd("failures", verdict.reason)
        return RunEnd("verdict", verdict.reason)
