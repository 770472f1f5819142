# SPDX-License-Identifier: Apache-2.0
"""The state of a study: the result of applying its events in order.

A resumed study applies the same events, so it has the same state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from stopwise.core.beliefs.belief import Fitted
from stopwise.core.beliefs.foresight import Foresight
from stopwise.core.traces import Signal, Trace
from stopwise.record.events import (
    DesignPlanned,
    Event,
    LambdaChosen,
    SignalsRecorded,
    StudyResumed,
    TrialAsked,
    TrialAskedAgain,
    TrialDropped,
    TrialTold,
    VerdictGiven,
)
from stopwise.record.history import History, Trial
from stopwise.record.promises import Promise
from stopwise.stopping.verdict import Verdict


@dataclass(slots=True)
class State:
    """The state of a study; only ``apply`` changes it.

    Args:
        history: Every observation.
        pending: Trials that were asked for and not yet told, by number.
        unanswered: Numbers of trials that were pending when the study was resumed and were not
            handed out again since, oldest first.
        next: Number of the next trial.
        asked: Number of trials handed out.
        initial: Size of the initial design; None before the first ask.
        queue: Points of the initial design that are still to be asked.
        traces: Recorded signals, by key.
        beside: Number of trials that were pending when each key was last recorded.
        fitted: Hyper-parameters of the model that made the last choice.
        fitted_at: Length of the history at that choice.
        foresights: What was foreseen of the pending trials, by number.
        told_choices: What was foreseen of choices that were told, and their values, in the order
            of telling; None is the value of one that failed.
        promises: The gains promised by choices of the acquisition, and those that came, by number.
        chosen_with: Of each pending trial that promised a gain, the hyper-parameters of the model
            that chose it, and the length of the history then.
        lam0: The first lambda, if it was computed from a budget.
        verdict: The last verdict; None after anything that may change it.
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
    foresights: dict[int, Foresight] = field(default_factory=dict)
    told_choices: tuple[tuple[Foresight, float | None], ...] = ()
    promises: dict[int, Promise] = field(default_factory=dict)
    chosen_with: dict[int, tuple[Fitted, int]] = field(default_factory=dict)
    lam0: float | None = None
    verdict: Verdict | None = None

    def apply(self, event: Event) -> None:  # noqa: C901  one case per event
        """Apply an event."""
        match event:
            case DesignPlanned(initial, queue):
                self.initial, self.queue = initial, queue
            case LambdaChosen(lam0):
                self.lam0 = lam0
            case SignalsRecorded(signals):
                self._record(signals)
            case TrialAsked():
                self._ask(event)
            case TrialAskedAgain(number):
                self.unanswered.remove(number)
            case TrialTold():
                self._tell(event)
            case VerdictGiven(verdict):
                self.verdict = verdict
            case TrialDropped(number):
                self._remove(number)
                self.promises.pop(number, None)
                self.verdict = None
            case StudyResumed(_, changed):
                self.unanswered = sorted(self.pending)
                if "budget" in changed:  # the last signals assumed other points to be affordable
                    self._forget_last_signals()
                    self.verdict = None

    def _record(self, signals: Mapping[str, Signal]) -> None:
        for key, signal in signals.items():
            trace = self.traces.get(key, Trace())
            self.traces[key] = Trace.of((*trace.signals, signal))
            self.beside[key] = len(self.pending)

    def _ask(self, event: TrialAsked) -> None:
        self.pending[event.trial.number] = event.trial
        self.next = event.trial.number + 1
        self.asked += 1
        if event.designed:
            self.queue = self.queue[1:]
        if event.fitted is not None:
            self.fitted, self.fitted_at = event.fitted, len(self.history)
            if event.promised is not None:
                number = event.trial.number
                self.promises[number] = Promise(number, event.promised)
                self.chosen_with[number] = event.fitted, len(self.history)
        if event.foresight is not None:
            self.foresights[event.trial.number] = event.foresight
        self.verdict = None

    def _tell(self, event: TrialTold) -> None:
        observation = event.observation
        if observation.number not in self.pending and observation.number < self.next:
            message = f"trial {observation.number} is told and was not asked, or told before"
            raise ValueError(message)
        self.history = self.history.with_(observation)
        foresight = self.foresights.get(observation.number)
        if foresight is not None:
            self.told_choices = (*self.told_choices, (foresight, observation.value))
        if event.delivered is not None:
            promise = self.promises[observation.number]
            self.promises[observation.number] = replace(promise, delivered=event.delivered)
        if observation.number in self.pending:
            self._remove(observation.number)
        else:  # data from elsewhere
            self.next = observation.number + 1
        if observation.failed:  # the signals of this n were computed without the failure
            self._forget_last_signals()
        self.verdict = None

    def _forget_last_signals(self) -> None:
        n = len(self.history.succeeded)
        self.traces = {key: trace.upto(n - 1) for key, trace in self.traces.items()}

    def _remove(self, number: int) -> None:
        del self.pending[number]
        self.foresights.pop(number, None)
        self.chosen_with.pop(number, None)
        if number in self.unanswered:
            self.unanswered.remove(number)
