# SPDX-License-Identifier: Apache-2.0
"""The loop: while it is worth it, ask, start, wait, tell. One thread; programs run beside it."""

from __future__ import annotations

import selectors
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from stopwise.core.quantity import quantity
from stopwise.errors import InputError
from stopwise.record.history import Trial
from stopwise.study import Study
from stopwise.tools.runner.config import Config
from stopwise.tools.runner.outcome import Outcome, outcome
from stopwise.tools.runner.process import Ended, Running, start
from stopwise.tools.runner.signals import Signals

_TOGETHER = 0.3  # seconds within which a system that shuts down has signalled everybody

OnChange = Callable[[Study, str], None]
"""Called after every change with the study and one line that says what happened."""
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class End:
    """Why a run ended: ``"verdict"``, ``"failures"`` or ``"interrupted"``, by which signal."""

    why: Literal["verdict", "failures", "interrupted"]
    reason: str
    signal: int = 0


@dataclass(slots=True)
class _Start:
    """A trial whose program runs, what earlier starts of it cost, and how many there were."""

    trial: Trial
    running: Running
    paid: float = 0.0
    failed: int = 0


def drive(config: Config, study: Study, on_change: OnChange, say: Say | None = None) -> End:
    """Run trials until the study stops, the program fails too often, or somebody interrupts.

    However it ends, no program is left running, and what was not told is still pending.

    Args:
        config: What the file says.
        study: A new one, or one that goes on.
        on_change: Called after every change.
        say: Called with what is no change: what a signal does. ``on_change`` if left out.
    """
    return _Loop(config, study, on_change, say or partial(on_change, study)).run()


class _Loop:
    """What runs, and what is still to be done."""

    def __init__(self, config: Config, study: Study, on_change: OnChange, say: Say) -> None:
        self.config, self.study, self.on_change, self.say = config, study, on_change, say
        self.started: list[_Start] = []
        self.failed_in_a_row = 0
        self.signals = Signals()
        self.level = 0  # of the signals, as far as they were acted on

    def run(self) -> End:
        """Until nothing runs and nothing is to be started."""
        with self.signals:
            try:
                while True:
                    self.fill()
                    if not self.started:
                        return self.end()
                    self.wait()
            finally:
                for started in self.started:
                    started.running.close()

    def fill(self) -> None:
        """Start trials while there are free workers and reasons to."""
        while (
            len(self.started) < self.config.workers
            and self.signals.level == 0
            and not self.fails_too_often()
            and not self.study.should_stop().stop
        ):
            trial = self.study.ask()  # first what an earlier run left without answer
            running = start(self.config, trial.number, trial.params)
            self.started.append(_Start(trial, running))
            self.on_change(self.study, f"trial {trial.number} started: {_shown(trial)}")

    def wait(self) -> None:
        """Wait for a program to end or a signal to come, and deal with it."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.signals, selectors.EVENT_READ)
            for started in self.started:
                selector.register(started.running, selectors.EVENT_READ, started)
            ready = [key.data for key, _ in selector.select() if key.data is not None]
        self.heed_signals()
        for started in sorted(ready, key=lambda s: s.trial.number):
            ended = started.running.hear()
            if ended is not None:
                self.finish(started, ended)

    def heed_signals(self) -> None:
        """Say what a new signal means, and at the second one stop what runs."""
        self.signals.clear()
        if self.signals.level == self.level:
            return
        self.level = self.signals.level
        n = len(self.started)
        if self.level == 1:
            line = f"no new trials; {n} running may finish. Once more stops them."
        else:
            line = f"stopping {n} running trials; they are asked again when the run goes on."
            for started in self.started:
                started.running.stop()
        self.say(line)

    def finish(self, started: _Start, ended: Ended) -> None:
        """Tell the study how a trial ended, start it again, or leave it unanswered."""
        started.running.close()
        self.started.remove(started)
        if ended.why == "unstartable":
            message = (
                f"the program {self.config.command[0]!r} cannot be started: {ended.message}. Trial"
                f" {started.trial.number} stays open; correct the command and run again."
            )
            raise InputError(message)
        if self.was_interrupted(ended):
            return
        found = outcome(self.config, started.running, ended)
        if found.cost is not None:
            found = replace(found, cost=found.cost + started.paid)
        elif started.paid:
            found = replace(found, cost=started.paid)
        if not self.is_retried(started, found):
            self.tell(started.trial, found)

    def was_interrupted(self, ended: Ended) -> bool:
        """Whether the program ended because the run is to end, which says nothing of the trial."""
        if ended.why == "stopped":
            return True
        if ended.why == "terminated" or -ended.exit_code in (signal.SIGTERM, signal.SIGHUP):
            # A machine that shuts down signals programs and runner alike, in whatever order.
            time.sleep(_TOGETHER)
        return self.signals.level == 2 and ended.exit_code != 0

    def is_retried(self, started: _Start, found: Outcome) -> bool:
        """Start a failed trial again where the file says so and nobody has interrupted."""
        left = self.config.failures.retry - started.failed
        if found.value is not None or not found.retriable or left < 1 or self.signals.level:
            return False
        trial = started.trial
        again = start(self.config, trial.number, trial.params)
        self.started.append(_Start(trial, again, found.cost or 0.0, started.failed + 1))
        line = f"trial {trial.number} failed ({found.message}) and is started again"
        self.on_change(self.study, line)
        return True

    def tell(self, trial: Trial, found: Outcome) -> None:
        """Tell the study, then whoever looks on."""
        self.study.tell(trial, found.value, found.cost, message=found.message)
        self.failed_in_a_row = 0 if found.value is not None else self.failed_in_a_row + 1
        paid = self.study.history[-1].cost
        cost = f"cost {quantity(paid)}"
        if found.value is None:
            line = f"trial {trial.number} failed ({cost}): {found.message}"
        else:
            best = self.study.best
            best_so_far = "" if best is None else f"; best {quantity(best.value)}"
            line = f"trial {trial.number}: {quantity(found.value)} ({cost}){best_so_far}"
        self.on_change(self.study, line)

    def fails_too_often(self) -> bool:
        """Whether the file's number of failures in a row is reached."""
        return self.failed_in_a_row >= self.config.failures.stop_after

    def end(self) -> End:
        """Why there is nothing left to do."""
        if self.fails_too_often():
            reason = f"{self.failed_in_a_row} trials in a row failed"
            last = next((o.message for o in reversed(self.study.history.observations)), "")
            return End("failures", f"{reason}, the last with: {last}")
        if self.signals.first is not None:
            return End("interrupted", "interrupted", self.signals.first)
        verdict = self.study.should_stop()
        if verdict.rule == "failures":
            return End("failures", verdict.reason)
        return End("verdict", verdict.reason)


def _shown(trial: Trial) -> str:
    return ", ".join(
        f"{name} = {quantity(value) if isinstance(value, float) else value}"
        for name, value in trial.params.items()
    )
