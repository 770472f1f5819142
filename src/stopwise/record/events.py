# SPDX-License-Identifier: Apache-2.0
"""Events: everything that can happen to a study, as values.

A study changes by events alone: each is made, written to the journal if there is one, and then
applied to the study's state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from stopwise.core.beliefs.belief import Fitted
from stopwise.core.traces import Signal
from stopwise.record.history import Observation, Trial
from stopwise.stopping.verdict import Verdict


@dataclass(frozen=True, slots=True)
class DesignPlanned:
    """The initial design was settled, or shortened by what nobody can pay.

    Args:
        initial: Observations that are to be there at t = 0.
        queue: What is still to be asked of the design, in order.
    """

    initial: int
    queue: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class LambdaChosen:
    """A budget has set the first lambda."""

    lam0: float


@dataclass(frozen=True, slots=True)
class SignalsRecorded:
    """Rules have taken their signals."""

    signals: Mapping[str, Signal]


@dataclass(frozen=True, slots=True)
class TrialAsked:
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
class TrialAskedAgain:
    """A trial that nobody answered was handed out once more, after a resume."""

    number: int


@dataclass(frozen=True, slots=True)
class TrialTold:
    """An evaluation was reported."""

    observation: Observation


@dataclass(frozen=True, slots=True)
class VerdictGiven:
    """A verdict was given."""

    verdict: Verdict


@dataclass(frozen=True, slots=True)
class TrialDropped:
    """A trial was given up."""

    number: int


@dataclass(frozen=True, slots=True)
class StudyResumed:
    """The study goes on elsewhere: what runs was asked of a process that is gone.

    Args:
        version: Of the stopwise that goes on.
        changed: Options that are others now: name -> old and new.
    """

    version: str
    changed: Mapping[str, Any]


Event: TypeAlias = (
    DesignPlanned
    | LambdaChosen
    | SignalsRecorded
    | TrialAsked
    | TrialAskedAgain
    | TrialTold
    | VerdictGiven
    | TrialDropped
    | StudyResumed
)
