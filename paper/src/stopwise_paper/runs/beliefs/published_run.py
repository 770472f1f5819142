# SPDX-License-Identifier: Apache-2.0
"""The published belief, read from recorded trajectories in place of running it again.

Trajectories hold every evaluation and PBGI's signal, but not what was promised: the model is
fitted again along the trajectory, on its own schedule, and asked for the expected improvement of
each choice.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from stopwise.math import log_ei
from stopwise_paper.arrays import Array
from stopwise_paper.cell import Cell
from stopwise_paper.problems import Problem, make_problem
from stopwise_paper.runs import store
from stopwise_paper.runs.beliefs.plan import PAPER, part_of, variant_of
from stopwise_paper.runs.beliefs.record import BeliefRun
from stopwise_paper.runs.beliefs.study_run import units_of
from stopwise_paper.runs.models import ObjectiveModel
from stopwise_paper.runs.trajectory import LOG_GAIN_PER_COST, Trajectory

Key = tuple[str, int, float]  # problem, seed, lambda


def published_trajectories(folder: Path) -> dict[Key, Trajectory]:
    """The trajectories of PBGI on LCBench in a folder; none if its file is not there."""
    path = folder / "lcbench.parquet"
    views: Iterable[Trajectory] = store.load_views(path) if path.exists() else ()
    return {
        (view.cell.problem, view.cell.seed, view.cell.lam): view
        for view in views
        if view.cell.acquisition == "pbgi" and view.cell.lam is not None
    }


def published_like(cell: Cell, trajectories: dict[Key, Trajectory]) -> Trajectory | None:
    """The trajectory that has what a cell asks for, if there is one."""
    of_lcbench = part_of(cell) in ("lcbench", "lcbench-100")
    if variant_of(cell) != PAPER or not of_lcbench or cell.lam is None:
        return None
    trajectory = trajectories.get((cell.problem, cell.seed, cell.lam))
    return trajectory if trajectory is not None and cell.cap <= trajectory.T else None


def read_published(cell: Cell, trajectory: Trajectory) -> BeliefRun:
    """The run that a trajectory contains: up to the evaluation at which PBGI's rule stops it."""
    problem, began = make_problem(cell), time.perf_counter()
    lam = float(cell.lam or math.nan)
    signal = trajectory.signals[LOG_GAIN_PER_COST].value[: cell.cap + 1]
    stops = np.flatnonzero(signal <= math.log(lam))
    T = int(stops[0]) if len(stops) and not cell.option("to_the_cap") else cell.cap
    n = trajectory.n_initial
    upto = trajectory.upto(T)
    incumbent = upto.incumbent[n - 1 :]
    return BeliefRun(
        cell,
        lam,
        units_of(problem, cell.cost).gap,
        "pbgi" if len(stops) else "",
        n,
        float(upto.cost[:n].sum()),
        upto.regret,
        upto.cost[n:],
        _promised(upto, problem),
        incumbent[:-1] - incumbent[1:],
        "trajectory",
        time.perf_counter() - began,
    )


def _promised(trajectory: Trajectory, problem: Problem) -> Array:
    """The expected improvement of each choice, (T,), by the model that made it."""
    model = ObjectiveModel.of(trajectory.cell, problem, len(trajectory) + 1)
    X, y, n = _points(trajectory, problem), trajectory.y, trajectory.n_initial
    promised = np.empty(trajectory.T)
    for t in range(trajectory.T):
        posterior = model.update(X[: n + t], y[: n + t], t)
        mean, deviation = posterior(X[n + t : n + t + 1])
        best = float(y[: n + t].min())
        promised[t] = math.exp(log_ei(float(mean[0]), float(deviation[0]), best))
    return promised


def _points(trajectory: Trajectory, problem: Problem) -> Array:
    """The evaluated points: trajectories over a table have row numbers."""
    points = getattr(problem.domain, "points", None)
    return np.asarray(trajectory.x if points is None else points[trajectory.x])
