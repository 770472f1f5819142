# SPDX-License-Identifier: Apache-2.0
"""The context of a study: the objects that its parts share."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from stopwise.core.beliefs.laws import Loss
from stopwise.core.beliefs.prices import CostModel
from stopwise.core.space import Domain
from stopwise.record.history import History
from stopwise.record.state import State
from stopwise.study.budget import Budget
from stopwise.study.event_log import EventLog
from stopwise.study.model_updates import ModelUpdates
from stopwise.study.options import StudyOptions


class OwnTime:
    """A stopwatch for the time that is spent in the methods of a study; they may be nested."""

    def __init__(self) -> None:
        self.seconds = 0.0  # of calls that have ended
        self._depth = 0
        self._began = 0.0

    def __enter__(self) -> None:
        if self._depth == 0:
            self._began = time.perf_counter()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._began


@dataclass(slots=True)
class StudyContext:
    """The options, space, cost model, event log, model, budget and loss of a study."""

    options: StudyOptions
    domain: Domain
    cost_model: CostModel
    log: EventLog
    model: ModelUpdates
    budget: Budget
    loss: Loss | None = field(init=False)
    own_time: OwnTime = field(default_factory=OwnTime)
    others_choices: str | None = None  # where others choose, what a lam ladder says of it
    lacking: tuple[str, ...] = ()  # constraints that a journal could not hold, by name

    def __post_init__(self) -> None:
        self.loss = self.options.loss  # a utility that goes the wrong way is refused here

    @property
    def may_repeat(self) -> bool:
        """Whether points may be evaluated again: only where the worth of that can be told.

        Under a utility or beside a fallback it cannot (see ``acquisition.one_observation``).
        """
        return self.options.replicates and self.loss is None and self.options.fallback is None

    @property
    def without_constraints(self) -> str:
        """What is not said where constraints are not at hand, in a sentence; empty otherwise."""
        if not self.lacking:
            return ""
        return (
            f"Without the constraints that are not at hand ({', '.join(self.lacking)}) nothing is"
            " said of what could still be evaluated"
        )

    @property
    def state(self) -> State:
        """The state of the study after all its events."""
        return self.log.state

    @property
    def history(self) -> History:
        """Every observation."""
        return self.log.state.history
