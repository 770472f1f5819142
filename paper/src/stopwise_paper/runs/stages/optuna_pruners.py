# SPDX-License-Identifier: Apache-2.0
"""Optuna's TPE with its Hyperband and median pruners, on tables of curves.

TPE suggests points of a continuous space; each is moved to the nearest row of the table that has
not been started yet, and TPE is told of that row. A pruned run is not taken up again, as in
Optuna. If no run is finished at the end, the one that went furthest, and is best there, is
finished.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from stopwise_paper.problems.curve_tables import ETA, CurveTable
from stopwise_paper.runs.stages.ledger import Ledger

if TYPE_CHECKING:
    import optuna

PRUNERS = ("hyperband", "median")


def tpe(table: CurveTable, n: int, seed: int, pruner: str) -> Ledger:
    """A study of n trials.

    Args:
        table: The curves.
        n: Trials, pruned ones included.
        seed: Of TPE and of ties.
        pruner: A name of ``PRUNERS``.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    makers: dict[str, Callable[[], optuna.pruners.BasePruner]] = {
        "hyperband": lambda: optuna.pruners.HyperbandPruner(
            min_resource=1, max_resource=ETA ** (len(table.steps) - 1), reduction_factor=ETA
        ),
        "median": lambda: optuna.pruners.MedianPruner(n_startup_trials=5),
    }
    sampler = optuna.samplers.TPESampler(seed=seed)
    study = optuna.create_study(sampler=sampler, pruner=makers[pruner]())
    ledger, left = Ledger(table), np.ones(len(table), dtype=bool)
    points = table.domain.points
    space: dict[str, optuna.distributions.BaseDistribution] = {
        f"x{j}": optuna.distributions.FloatDistribution(0, 1) for j in range(points.shape[1])
    }
    for _ in range(min(n, len(table))):
        asked = study.ask(space)
        wanted = np.array([asked.params[name] for name in space])
        distances = np.where(left, ((points - wanted) ** 2).sum(axis=1), np.inf)
        row = int(distances.argmin())
        left[row] = False
        _run(ledger, study, asked, row)
    _finish_one(ledger)
    return ledger


def _run(ledger: Ledger, study: optuna.Study, asked: optuna.trial.Trial, row: int) -> None:
    """Pay for stages until the pruner ends the run, it diverges or it is finished."""
    import optuna

    last = len(ledger.table.steps)
    for stage in range(last):
        value = ledger.advance(row)
        if np.isnan(value):
            study.tell(asked, state=optuna.trial.TrialState.FAIL)
            return
        asked.report(value, ETA**stage)
        if stage + 1 < last and asked.should_prune():
            study.tell(asked, state=optuna.trial.TrialState.PRUNED)
            return
    study.tell(asked, value)


def _finish_one(ledger: Ledger) -> None:
    """Finish the run that went furthest, if none is finished."""
    table = ledger.table
    order = sorted(
        ledger.reached,
        key=lambda row: (-ledger.reached[row], table.values[row, ledger.reached[row] - 1]),
    )
    for row in order:
        if ledger.path:
            return
        if np.isfinite(table.values[row, ledger.reached[row] - 1]):
            ledger.finish(row)
