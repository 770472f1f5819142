# SPDX-License-Identifier: Apache-2.0
"""The context of a study: what its parts share."""

from __future__ import annotations

from dataclasses import dataclass

from stopwise.core.beliefs.prices import CostModel
from stopwise.core.space import Domain
from stopwise.record.history import History
from stopwise.record.state import State
from stopwise.study.budget import Budget
from stopwise.study.event_log import EventLog
from stopwise.study.model_updates import ModelUpdates
from stopwise.study.options import StudyOptions


@dataclass(slots=True)
class StudyContext:
    """Options, space, what happened, what is believed, and what may be spent."""

    options: StudyOptions
    domain: Domain
    cost_model: CostModel
    log: EventLog
    model: ModelUpdates
    budget: Budget

    @property
    def state(self) -> State:
        """What the study is after all that happened."""
        return self.log.state

    @property
    def history(self) -> History:
        """Every observation."""
        return self.log.state.history
