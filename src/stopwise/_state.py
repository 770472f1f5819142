# SPDX-License-Identifier: Apache-2.0
"""What happens to a study, and what it is afterwards.

A study changes by events alone: each is made, written to the journal if there is one, and then
applied here. A resumed study applies the same events, so it cannot be another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from stopwise.history import History, Observation, Trial
from stopwise.models.belief import Fitted
from stopwise.trace import Signal, Trace, Verdict


@dataclass(frozen=True, slots=True)
class Designed:
    """The initial design was settled, or shortened by what nobody can pay.

    Args:
        initial: Observations that are to be there at t = 0.
        queue: What is still to be asked of the design, in order.
    """

    initial: int
    queue: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Settled:
    """A budget has set the first lambda."""

    lam0: float


@dataclass(frozen=True, slots=True)
class Recorded:
    """Rules have taken their signals."""

    signals: Mapping[str, Signal]


@dataclass(frozen=True, slots=True)
class Asked:
    """A trial was handed out.

    Args:
        trial: The trial.
        designed: Whether it was the next of the initial design.
        fitted: The hyper-parameters behind the choice, where the next fit begins; None if there
            was no choice.
    """

    trial: Trial
    designed: bool
    fitted: Fitted | None


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """A trial that nobody answered was handed out once more, after a resume."""

    number: int


@dataclass(frozen=True, slots=True)
class Told:
    """An evaluation was reported."""

    observation: Observation


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict was given."""

    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Dropped:
    """A trial was given up."""

    number: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """The study goes on elsewhere: what runs was asked of a process that is gone.

    Args:
        version: Of the stopwise that goes on.
        changed: Options that are others now: name -> old and new.
    """

    version: str
    changed: Mapping[str, Any]


Event: TypeAlias = (
    Designed | Settled | Recorded | Asked | AskedAgain | Told | Judged | Dropped | Resumed
)


@dataclass(slots=True)
class State:
    """A study's memory; changed by ``apply`` and by nothing else.

    Args:
        history: Every observation.
        pending: Trials that run, by number.
        unanswered: Numbers of those that ran when the study was resumed, oldest first.
        next: Number of the next trial.
        asked: Trials handed out.
        initial: Size of the initial design; None before the first ask.
        queue: Of the initial design, what is still to be asked.
        traces: Recorded signals, by key.
        beside: How many trials ran when each key was recorded last.
        fitted: Hyper-parameters behind the last choice.
        fitted_at: How long the history was then.
        lam0: The first lambda, where a budget has set it.
        verdict: The last verdict, until something is asked or told.
    """

    history: History = field(default_factory=History)
    pending: dict[int, Trial] = field(default_factory=dict)
    unanswered: list[int] = field(default_factory=list)
    next: int = 0
    asked: int = 0
    initial: int | None = None
    queue: tuple[Mapping[str, Any], ...] = ()
    traces: dict[str, Trace] = field(default_factory=dict)
    beside: dict[str, int] = field(default_factory=dict)
    fitted: Fitted | None = None
    fitted_at: int = -1
    lam0: float | None = None
    verdict: Verdict | None = None

    def apply(self, event: Event) -> None:  # noqa: C901  one case an event
        """Let an event happen."""
        match event:
            case Designed(initial, queue):
                self.initial, self.queue = initial, queue
            case Settled(lam0):
                self.lam0 = lam0
            case Recorded(signals):
                self._record(signals)
            case Asked():
                self._ask(event)
            case AskedAgain(number):
                self.unanswered.remove(number)
            case Told(observation):
                self._tell(observation)
            case Judged(verdict):
                self.verdict = verdict
            case Dropped(number):
                self._remove(number)
                self.verdict = None
            case Resumed(_, changed):
                self.unanswered = sorted(self.pending)
                if "budget" in changed:  # other points are affordable than when signals were taken
                    self._forget_last_signals()
                    self.verdict = None

    def _record(self, signals: Mapping[str, Signal]) -> None:
        for key, signal in signals.items():
            trace = self.traces.get(key, Trace())
            self.traces[key] = Trace.of((*trace.signals, signal))
            self.beside[key] = len(self.pending)

    def _ask(self, event: Asked) -> None:
        self.pending[event.trial.number] = event.trial
        self.next = event.trial.number + 1
        self.asked += 1
        if event.designed:
            self.queue = self.queue[1:]
        if event.fitted is not None:
            self.fitted, self.fitted_at = event.fitted, len(self.history)
        self.verdict = None

    def _tell(self, observation: Observation) -> None:
        if observation.number not in self.pending and observation.number < self.next:
            message = f"trial {observation.number} is told and was not asked, or told before"
            raise ValueError(message)
        self.history = self.history.with_(observation)
        if observation.number in self.pending:
            self._remove(observation.number)
        else:  # data from elsewhere
            self.next = observation.number + 1
        if observation.failed:  # what was recorded at this n did not know of the failure
            self._forget_last_signals()
        self.verdict = None

    def _forget_last_signals(self) -> None:
        n = len(self.history.succeeded)
        self.traces = {key: trace.upto(n - 1) for key, trace in self.traces.items()}

    def _remove(self, number: int) -> None:
        del self.pending[number]
        if number in self.unanswered:
            self.unanswered.remove(number)
