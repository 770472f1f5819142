# SPDX-License-Identifier: Apache-2.0
"""Studies of stopwise on tables of curves, run as a user would: asked until they stop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import stopwise as sw
from stopwise_paper.problems.curve_tables import CurveTable
from stopwise_paper.runs.stages.ledger import Ledger

_MOST_RUNS = 100  # evaluations of a study on final values
_MOST_STAGES = 400  # paid for by a study in stages


def whole_runs(table: CurveTable, evaluations: float, seed: int) -> Ledger:
    """Our own full evaluations: the default study on final values, with costs as they are paid.

    Args:
        table: The curves.
        evaluations: Median runs that the gap is worth.
        seed: Of the study.
    """
    ledger = Ledger(table)
    with threadpool_limits(limits=1, user_api="blas"):
        study = sw.Study(table.domain, lam=table.lam(evaluations), cost="reported", seed=seed)
        for _ in range(_MOST_RUNS):
            if study.should_stop():
                break
            trial = study.ask()
            before = ledger.spent
            value = ledger.finish(_row(table, trial.params))
            study.tell(trial, None if np.isnan(value) else value, ledger.spent - before)
    return ledger


def staged_runs(table: CurveTable, evaluations: float, seed: int) -> Ledger:
    """The default study in stages: what it starts and continues is paid for, until it stops."""
    ledger = Ledger(table)
    paid: dict[int, float] = {}  # by row, since it was started
    with threadpool_limits(limits=1, user_api="blas"):
        study = sw.Study(
            table.domain,
            lam=table.lam(evaluations),
            cost="reported",
            seed=seed,
            stages=sw.Stages(table.steps),
        )
        while ledger.stages_paid < _MOST_STAGES and not study.should_stop():
            action = study.next()
            row = _row(table, action.trial.params)
            before = ledger.spent
            value = ledger.advance(row)
            paid[row] = paid.get(row, 0.0) + ledger.spent - before
            told = None if np.isnan(value) else value
            study.tell(action.trial, told, paid[row], step=action.to_step)
    return ledger


def _row(table: CurveTable, params: Mapping[str, Any]) -> int:
    [x] = table.domain.encode(params)
    return int(table.domain.index_of(np.asarray(x)[None, :])[0])
