# SPDX-License-Identifier: Apache-2.0
"""Looking changes nothing: a study that is looked at takes the path of one that is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stopwise.acquisition import Acquisition, LogEIPC
from stopwise.core.space import Real, Space
from stopwise.stopping import FixedTrials, StoppingRule
from stopwise.study import Study
from stopwise.testing._law import Case, same
from stopwise.testing._problems import TABLE, TREE, TREE_OPTIONS, cost_of, height, strain

_INITIAL, _STEPS = 4, 3
_NEVER = FixedTrials(10**6)
_LINE: Space = {"x": Real(0.0, 1.0)}
_BUDGET = 40.0  # for a while of the table
_QUICK = {"surrogate": "plain"}  # the default model is asked once by each law


def acquisition_looked_at(case: Case[Acquisition]) -> None:
    """Asking a snapshot for an acquisition's supremum does not change what is chosen."""
    acquisition = case.subject

    def look(study: Study) -> None:
        study.snapshot().sup(acquisition)

    options: dict[str, Any] = {"acquisition": acquisition, "stopping": _NEVER}
    for what, space, more in (
        ("tree with limits and a utility", TREE, {**TREE_OPTIONS, **_QUICK}),
        ("table with a budget", TABLE, {"cost": cost_of, "budget": _BUDGET, **_QUICK}),
        ("box", _LINE, {}),
    ):
        _same_path(what, space, {**options, **more}, look)


def rule_looked_at(case: Case[StoppingRule]) -> None:
    """Computing a rule's signal of a snapshot changes neither choices nor verdicts."""
    rule = case.subject

    def look(study: Study) -> None:
        rule.signal(study.snapshot())

    options: dict[str, Any] = {"acquisition": LogEIPC(), "cost": cost_of}
    _same_path("obeyed", TREE, {**options, **TREE_OPTIONS, "stopping": rule}, look)
    by_budget: dict[str, Any] = {"cost": cost_of, "budget": _BUDGET, "watch": [rule], **_QUICK}
    _same_path("watched, with a budget", TABLE, by_budget, look)


def _same_path(
    what: str, space: Space, options: dict[str, Any], look: Callable[[Study], None]
) -> None:
    plain = _path(space, options, lambda _: None)
    for n, (one, other) in enumerate(zip(plain, _path(space, options, look), strict=True)):
        same(f"{what}: step {n}, without looking and with it", one, other)


def _path(space: Space, options: dict[str, Any], look: Callable[[Study], None]) -> list[object]:
    """Every choice and every verdict of a short study that is looked at between its steps."""
    study = Study(space, n_initial=_INITIAL, seed=5, **options)
    path: list[object] = []
    for n in range(_INITIAL + _STEPS):
        for step in (study.should_stop, study.ask):
            if n >= _INITIAL:
                look(study)
            path.append(step())
        [trial] = study.pending
        value = float(height(study.domain.encode(trial.params))[0])
        study.tell(trial, value, outcomes=strain(trial.params) if space is TREE else None)
    return path
