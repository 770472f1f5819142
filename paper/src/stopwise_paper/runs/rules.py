# SPDX-License-Identifier: Apache-2.0
"""The rules whose signals a cell records.

Thresholds, lambdas and windows do not matter here: they are set in replay.
"""

from __future__ import annotations

from typing import Any, cast

from stopwise.stopping import (
    GSS,
    PBGI,
    UCBLCB,
    Convergence,
    ProbabilisticRegretBound,
    SRGapMedian,
    StoppingRule,
)
from stopwise_paper.cell import Cell
from stopwise_paper.plugins import load_plugin
from stopwise_paper.problems import Problem

ALWAYS_RECORDED: tuple[StoppingRule, ...] = (
    PBGI(1.0),  # LogEIPC-med reads the same signal
    PBGI(1.0, "before"),
    SRGapMedian(),
    UCBLCB(),
    GSS(),
    Convergence(),
)


def rules_of(cell: Cell, problem: Problem) -> list[StoppingRule]:
    """The rules that a cell records: those of every cell, PRB as it asks, and plugins."""
    estimates = str(cell.option("prb", "bound")).split("+")
    bounds = [
        ProbabilisticRegretBound(problem.epsilon, estimate=cast("Any", estimate))
        for estimate in estimates
        if estimate != "none"
    ]
    plugins = str(cell.option("rules", "")).split(",")
    return [
        *ALWAYS_RECORDED,
        *bounds,
        *(load_plugin(reference) for reference in plugins if reference),
    ]
