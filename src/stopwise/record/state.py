# SPDX-License-Identifier: Apache-2.0
"""The state of a study: the result of its events, in order.

A resumed study has the same events, so it has the same state. A state is immutable: an event
gives a new one, so a study goes from one state to the next by one assignment, which cannot be
interrupted half-way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from stopwise.core.beliefs.belief import Fitted
from stopwise.core.beliefs.foresight import Foresight
from stopwise.core.traces import Signal, Trace
from stopwise.record.events import (
    DesignPlanned,
    Event,
    LambdaChosen,
    SignalsRecorded,
    StageReported,
    StudyResumed,
    TrialAmended,
    TrialAsked,
    TrialAskedAgain,
    TrialContinued,
    TrialDropped,
    TrialTold,
    VerdictGiven,
)
from stopwise.record.history import History, Observation, Trial
from stopwise.record.promises import Promise
from stopwise.record.staged import Report, Staged
from stopwise.stopping.verdict import Verdict

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class State:
    """The state of a study.

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
        told_choices: What was foreseen of choices that were told, and their values, by number and
            in the order of telling; None is the value of one that failed.
        promises: The gains promised by choices of the acquisition, and those that came, by number.
        chosen_with: Of each pending trial that promised a gain, the hyper-parameters of the model
            that chose it, and the length of the history then.
        lam0: The first lambda, if it was computed from a budget.
        verdict: The last verdict; None after anything that may change it.
        staged: Reports of stages, and the trials that are being run; empty without stages.
    """

    history: History = field(default_factory=History)
    pending: Mapping[int, Trial] = field(default_factory=dict)
    unanswered: tuple[int, ...] = ()
    next: int = 0
    asked: int = 0
    initial: int | None = None
    queue: tuple[Mapping[str, Any], ...] = ()
    traces: Mapping[str, Trace] = field(default_factory=dict)
    beside: Mapping[str, int] = field(default_factory=dict)
    fitted: Fitted | None = None
    fitted_at: int = -1
    foresights: Mapping[int, Foresight] = field(default_factory=dict)
    told_choices: Mapping[int, tuple[Foresight, float | None]] = field(default_factory=dict)
    promises: Mapping[int, Promise] = field(default_factory=dict)
    chosen_with: Mapping[int, tuple[Fitted, int]] = field(default_factory=dict)
    lam0: float | None = None
    verdict: Verdict | None = None
    staged: Staged = field(default_factory=Staged)

    def after(self, event: Event) -> State:  # noqa: C901, PLR0911, PLR0912  one case per event
        """The state after one more event.

        An event that has happened already changes nothing: version 0.1 wrote some events twice if
        it was interrupted. One that contradicts the state raises a ValueError.
        """
        match event:
            case DesignPlanned(initial, queue):
                return replace(self, initial=initial, queue=queue)
            case LambdaChosen(lam0):
                return replace(self, lam0=lam0)
            case SignalsRecorded(signals):
                return self._with_signals(signals)
            case TrialAsked():
                return self._asked(event)
            case TrialAskedAgain(number):
                if number not in self.pending:
                    raise ValueError(f"trial {number} is asked again and is not pending")
                return replace(self, unanswered=_without(self.unanswered, number))
            case TrialTold():
                return self._told(event)
            case StageReported(report):
                return self._reported(report)
            case TrialContinued(number, leg):
                if number not in self.pending:
                    raise ValueError(f"trial {number} is continued and is not pending")
                staged = self.staged.begun(number, leg, self.paused)
                return replace(self, staged=staged, verdict=None)
            case TrialAmended():
                return self._amended(event)
            case VerdictGiven(verdict):
                return replace(self, verdict=verdict)
            case TrialDropped(number):
                return self._dropped(number)
            case StudyResumed(_, changed, again):
                begun = (n for n in sorted(self.pending) if n not in self.paused)
                unanswered = tuple(begun) if again else self.unanswered
                state = replace(self, unanswered=unanswered)
                if "budget" not in changed:
                    return state
                # The last signals assumed other points to be affordable.
                return replace(state, traces=_forgotten(self.traces, self.tellings), verdict=None)

    @property
    def paused(self) -> Mapping[int, Trial]:
        """Pending trials that have reached a stage and are not being run, by number."""
        reached = self.staged.latest if self.staged.reports else {}
        waiting = (n for n in self.pending if n in reached and n not in self.staged.running)
        return {n: self.pending[n] for n in waiting}

    @property
    def reports(self) -> tuple[Report, ...]:
        """Reports of stages, without those of trials that were given up."""
        known = {*self.pending, *(o.number for o in self.history)}
        return tuple(report for report in self.staged.reports if report.trial in known)

    @property
    def tellings(self) -> int:
        """The number of observations that signals are recorded at; with stages, of reports.

        An evaluation in stages that failed counts too, since signals know of it.
        """
        n = len(self.history.succeeded)
        if not self.staged.reports:
            return n
        return len(self.staged.reports) + len(self.history) - n

    @property
    def spent(self) -> float:
        """Costs that were charged, those of trials that have not finished included."""
        told = {o.number for o in self.history} if self.staged.reports else ()
        unfinished = (r.cost for n, r in self.staged.latest.items() if n not in told)
        return sum(unfinished, self.history.spent)

    def observed(self, number: int) -> Observation | None:
        """The observation of a trial; None if it was not told."""
        return next((o for o in self.history if o.number == number), None)

    def given_up(self, number: int) -> bool:
        """Whether a trial was dropped: it has a number, and is neither pending nor told."""
        asked = number < self.next and number not in self.pending
        return asked and self.observed(number) is None

    def _with_signals(self, signals: Mapping[str, Signal]) -> State:
        traces, beside = dict(self.traces), dict(self.beside)
        for key, signal in signals.items():
            trace = traces.get(key, Trace())
            if len(trace) and trace.current.n == signal.n:
                continue  # recorded already
            traces[key] = Trace.of((*trace.signals, signal))
            beside[key] = len(self.pending)
        return replace(self, traces=traces, beside=beside)

    def _asked(self, event: TrialAsked) -> State:
        trial, number = event.trial, event.trial.number
        if self.pending.get(number) == trial:
            return self
        if number != self.next:
            raise ValueError(f"trial {number} is asked, and the next one is {self.next}")
        changes: dict[str, Any] = {
            "pending": {**self.pending, number: trial},
            "next": number + 1,
            "asked": self.asked + 1,
            "queue": self.queue[1:] if event.designed else self.queue,
            "verdict": None,
        }
        if event.leg is not None:
            changes["staged"] = self.staged.begun(number, event.leg, self.paused)
        if event.foresight is not None:
            changes["foresights"] = {**self.foresights, number: event.foresight}
        if event.fitted is not None:
            n = len(self.history)
            changes |= {"fitted": event.fitted, "fitted_at": n}
            if event.promised is not None:
                promise = Promise(number, event.promised)
                changes["promises"] = {**self.promises, number: promise}
                changes["chosen_with"] = {**self.chosen_with, number: (event.fitted, n)}
        return replace(self, **changes)

    def _reported(self, report: Report) -> State:
        if report.trial not in self.pending:
            raise ValueError(f"trial {report.trial} is reported and is not pending")
        unanswered = _without(self.unanswered, report.trial)
        staged = self.staged.reported(report)
        return replace(self, staged=staged, unanswered=unanswered, verdict=None)

    def _told(self, event: TrialTold) -> State:
        observation, number = event.observation, event.observation.number
        if number not in self.pending and number != self.next:
            if self.observed(number) == observation:
                return self
            raise ValueError(f"trial {number} is told and was not asked, or told before")
        told_choices, promises, traces = self.told_choices, self.promises, self.traces
        history = self.history.with_(observation, *event.further)
        if any(o.number < max(self.next, number + 1) for o in event.further):
            raise ValueError(f"repeats of trial {number} have the numbers of other trials")
        if number in self.foresights:
            told_choices = {**told_choices, number: (self.foresights[number], observation.value)}
        if event.delivered is not None:
            promise = replace(promises[number], delivered=event.delivered)
            promises = {**promises, number: promise}
        if event.step is None and any(o.failed for o in (observation, *event.further)):
            # The signals of this n were computed without the failure.
            traces = _forgotten(traces, len(history.succeeded))
        return replace(
            self,
            **self._not_pending(number),
            history=history,
            told_choices=told_choices,
            promises=promises,
            traces=traces,
            next=max(self.next, *(o.number + 1 for o in (observation, *event.further))),
            initial=self._initial_with(event.further),
            staged=self._staged_after(event),
            verdict=None,
        )

    def _staged_after(self, event: TrialTold) -> Staged:
        """The stages with the last report of a trial that is told."""
        told, staged = event.observation, self.staged
        if event.step is not None and told.value is not None:
            staged = staged.reported(Report(told.number, event.step, told.value, told.cost))
        return staged.ended(told.number) if told.number in staged.running else staged

    def _initial_with(self, further: tuple[Observation, ...]) -> int | None:
        """The size of the initial design: repeats of its evaluations are part of it."""
        if self.initial is None or len(self.history.succeeded) >= self.initial:
            return self.initial
        return self.initial + sum(not o.failed for o in further)

    def _amended(self, event: TrialAmended) -> State:
        """The state with another report of a trial; models are fitted anew.

        Signals, verdicts and choices that were made meanwhile stay on record, except the signals
        of the present number of observations, by which nothing was decided for good.
        """
        observation = event.observation
        told = self.observed(observation.number)
        if told is None:
            raise ValueError(f"trial {observation.number} is amended and was not told")
        if told == observation:
            return self
        history = self.history.amended(observation)
        delivered = event.delivered.items()
        changed = {n: replace(self.promises[n], delivered=gain) for n, gain in delivered}
        told_choices = dict(self.told_choices)
        if observation.number in told_choices:
            foresight, _ = told_choices[observation.number]
            told_choices[observation.number] = foresight, observation.value
        return replace(
            self,
            history=history,
            told_choices=told_choices,
            promises={**self.promises, **changed},
            traces=_forgotten(self.traces, self.tellings),
            fitted_at=-1,  # no choice was made with these data
            staged=self.staged.amended(
                observation.number,
                observation.value,
                observation.cost,
                had_value=told.value is not None,
                step=event.step,
            ),
            verdict=None,
        )

    def _dropped(self, number: int) -> State:
        if number not in self.pending:
            if self.given_up(number):
                return self
            raise ValueError(f"trial {number} is dropped and was not pending")
        promises = _less(self.promises, number)
        staged = self.staged.ended(number)
        return replace(
            self, **self._not_pending(number), promises=promises, staged=staged, verdict=None
        )

    def _not_pending(self, number: int) -> dict[str, Any]:
        """The fields that change when a trial is no longer pending."""
        if number not in self.pending:
            return {}
        return {
            "pending": _less(self.pending, number),
            "foresights": _less(self.foresights, number),
            "chosen_with": _less(self.chosen_with, number),
            "unanswered": _without(self.unanswered, number),
        }


def _forgotten(traces: Mapping[str, Trace], n: int) -> dict[str, Trace]:
    """Traces without the signals of the present number of observations."""
    return {key: trace.upto(n - 1) for key, trace in traces.items()}


def _less(by_number: Mapping[int, T], number: int) -> dict[int, T]:
    return {n: value for n, value in by_number.items() if n != number}


def _without(numbers: tuple[int, ...], number: int) -> tuple[int, ...]:
    return tuple(n for n in numbers if n != number)
