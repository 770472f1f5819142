# SPDX-License-Identifier: Apache-2.0
"""Short studies in which a rule is asked at every step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stopwise.acquisition import LogEIPC
from stopwise.stopping import FixedTrials, StoppingRule
from stopwise.stopping.verdict import Verdict
from stopwise.study import Study
from stopwise.testing._problems import TABLE, TREE, TREE_OPTIONS, cost_of, height, strain

_INITIAL, _STEPS = 4, 8
_NEVER = FixedTrials(10**6)


def live(
    rules: Sequence[StoppingRule], *, steps: int = _STEPS, obeyed: bool = True, tree: bool = False
) -> tuple[Study, dict[int, Verdict]]:
    """A study that goes on whatever its rules say, and what they said, by t.

    Args:
        rules: What is asked.
        steps: Evaluations after the initial design.
        obeyed: Whether the rules are given as ``stopping=`` or as ``watch=``.
        tree: Whether the study has conditions, constraints, limits and a utility.
    """
    followed = list(rules) if obeyed and rules else [_NEVER]
    study = Study(
        TREE if tree else TABLE,
        **(TREE_OPTIONS if tree else {}),
        cost=cost_of,
        acquisition=LogEIPC(),
        stopping=followed,
        watch=() if obeyed else list(rules),
        n_initial=_INITIAL,
        seed=5,
    )
    verdicts = {}
    for n in range(_INITIAL + steps + 1):
        verdict = study.should_stop()
        if n >= _INITIAL:
            verdicts[n - _INITIAL] = verdict
        if n < _INITIAL + steps:
            trial = study.ask()
            value = float(height(study.domain.encode(trial.params))[0])
            study.tell(trial, value, outcomes=strain(trial.params) if tree else None)
    return study, verdicts


def told(study: Study) -> list[dict[str, Any]]:
    """What a study evaluated, in order."""
    return [dict(observation.params) for observation in study.history]
