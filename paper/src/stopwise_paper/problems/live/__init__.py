# SPDX-License-Identifier: Apache-2.0
"""Objectives that train a model at each evaluation, one file each."""

from __future__ import annotations

from functools import lru_cache

import stopwise as sw
from stopwise.errors import InputError
from stopwise_paper.problems.live.after_bayesmark import AFTER_BAYESMARK
from stopwise_paper.problems.live.boosters import BOOSTERS
from stopwise_paper.problems.live.boosting import BOOSTING
from stopwise_paper.problems.live.network import NETWORK
from stopwise_paper.problems.live.objective import LiveObjective, Trained, check_sklearn
from stopwise_paper.problems.live.pipeline import PIPELINE
from stopwise_paper.problems.live.problem import LiveProblem
from stopwise_paper.problems.live.reference import reference_of

__all__ = [
    "OBJECTIVES",
    "LiveObjective",
    "LiveProblem",
    "Trained",
    "check_sklearn",
    "live_problem",
]

OBJECTIVES: dict[str, LiveObjective] = {
    "live:digits-network": NETWORK,
    "live:diabetes-boosting": BOOSTING,
    "live:digits-pipeline": PIPELINE,
    "live:cancer-boosters": BOOSTERS,
    **AFTER_BAYESMARK,
}


@lru_cache(maxsize=len(OBJECTIVES))
def live_problem(name: str) -> LiveProblem:
    """The problem of one of ``OBJECTIVES``."""
    if name not in OBJECTIVES:
        message = f"there is no live objective {name!r}; there are {', '.join(OBJECTIVES)}."
        raise InputError(message)
    check_sklearn()
    reference = reference_of(name)
    objective = OBJECTIVES[name]
    domain = sw.space.Mixed.of(objective.space)
    return LiveProblem(objective, domain, reference, facts={"reference": reference.versions})
