# SPDX-License-Identifier: Apache-2.0
"""Events: everything that can happen to a study, as values.

A study changes by events alone: each is made, written to the journal if there is one, and then
applied to the study's state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from stopwise.core.beliefs.belief import Fitted
from stopwise.core.beliefs.foresight import Foresight
from stopwise.core.traces import Signal
from stopwise.record.history import Observation, Trial
from stopwise.record.staged import Leg, Report
from stopwise.stopping.verdict import Verdict


@dataclass(frozen=True, slots=True)
class DesignPlanned:
    """The initial design was fixed, or shortened because its next point is too expensive.

    Args:
        initial: Number of observations at t = 0.
        queue: Points of the design that are still to be asked, in order.
    """

    initial: int
    queue: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class LambdaChosen:
    """The first lambda was computed from the budget."""

    lam0: float


@dataclass(frozen=True, slots=True)
class SignalsRecorded:
    """Signals of stopping rules were recorded."""

    signals: Mapping[str, Signal]


@dataclass(frozen=True, slots=True)
class TrialAsked:
    """A trial was handed out.

    Args:
        trial: The trial.
        designed: Whether it is the next point of the initial design.
        fitted: The hyper-parameters of the model that chose it, from which the next fit starts;
            None if no model chose it.
        promised: The gain that this model expects of it; None if no model chose it.
        foresight: How likely each belief of the model thinks that gain; None if there is only one
            belief, or if no model chose it.
        fixed: Parameters that were held at given values, if any.
        leg: To which stage it is to be run, in a study with stages.
    """

    trial: Trial
    designed: bool
    fitted: Fitted | None
    promised: float | None = None
    foresight: Foresight | None = None
    fixed: Mapping[str, Any] | None = None
    leg: Leg | None = None


@dataclass(frozen=True, slots=True)
class TrialAskedAgain:
    """A trial that was never told was handed out again, after a resume."""

    number: int


@dataclass(frozen=True, slots=True)
class TrialTold:
    """An evaluation was reported.

    Args:
        observation: The evaluation.
        delivered: The gain that came of it, if one was promised.
        further: Repeats of the evaluation that were reported with it.
        step: The stage of its value, in a study with stages.
    """

    observation: Observation
    delivered: float | None = None
    further: tuple[Observation, ...] = ()
    step: int | None = None


@dataclass(frozen=True, slots=True)
class StageReported:
    """A trial that is not finished has reached a stage."""

    report: Report


@dataclass(frozen=True, slots=True)
class TrialContinued:
    """A paused trial is run to a further stage."""

    number: int
    leg: Leg


@dataclass(frozen=True, slots=True)
class TrialAmended:
    """The report of an evaluation was corrected.

    Args:
        observation: The evaluation as it is now known.
        delivered: What came of promises, anew, by the number of the trial: its own and those of
            trials that were told after it.
        step: With stages, the step of the value, if there is one now.
    """

    observation: Observation
    delivered: Mapping[int, float] = field(default_factory=dict)
    step: int | None = None


@dataclass(frozen=True, slots=True)
class VerdictGiven:
    """A verdict was given."""

    verdict: Verdict


@dataclass(frozen=True, slots=True)
class TrialDropped:
    """A pending trial was given up: it will not be told."""

    number: int


@dataclass(frozen=True, slots=True)
class StudyResumed:
    """The study was resumed, mostly after the process that had its pending trials has ended.

    Args:
        version: Version of stopwise that resumed it.
        changed: Options that were changed: name -> (old, new).
        again: Whether pending trials are to be handed out again; not if others are at work on
            them.
    """

    version: str
    changed: Mapping[str, Any]
    again: bool = True


Event: TypeAlias = (
    DesignPlanned
    | LambdaChosen
    | SignalsRecorded
    | TrialAsked
    | TrialAskedAgain
    | TrialTold
    | StageReported
    | TrialContinued
    | TrialAmended
    | VerdictGiven
    | TrialDropped
    | StudyResumed
)
