# SPDX-License-Identifier: Apache-2.0
"""Runs of the evidence on beliefs, made by hand."""

import numpy as np

from stopwise_paper.cell import Cell
from stopwise_paper.runs.beliefs.plan import VARIANTS
from stopwise_paper.runs.beliefs.record import BeliefRun


def made_run(
    variant="paper",
    problem="lcbench:higgs",
    *,
    seed=0,
    lam=0.1,
    regret=(4.0, 3.0, 1.0),
    cost=(2.0, 3.0),
    promised=(1.0, 2.0),
    delivered=(1.0, 0.5),
    rule="pbgi",
    initial_cost=10.0,
    gap=2.0,
    price="proxy",
    evaluations=None,
):
    chosen = VARIANTS[variant]
    cell = Cell.of(
        "beliefs",
        problem,
        price,
        "pbgi",
        lam=None if evaluations else lam,
        seed=seed,
        cap=2,
        surrogate=chosen.surrogate,
        design=chosen.design,
        noise=chosen.noise,
        lowest=0.0 if chosen.bounded else None,
        evaluations=evaluations,
    )
    series = (np.array(s, dtype=float) for s in (regret, cost, promised, delivered))
    return BeliefRun(cell, lam, gap, rule, 4, initial_cost, *series)
