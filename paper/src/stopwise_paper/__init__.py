# SPDX-License-Identifier: Apache-2.0
"""The experiments of Xie et al. (2026), Cost-aware Stopping for Bayesian Optimization.

``plan`` lists the cells of an experiment, ``run_cell`` makes a ``Trajectory`` of one cell, and
``run_experiments`` runs and keeps all of them. ``regret_rows`` replays rules on trajectories;
``draw_figures`` makes every table and figure from them. The command ``stopwise-paper`` does both.
"""

from stopwise_paper.analysis.departures import DEPARTURES
from stopwise_paper.analysis.regret import means, regret_rows
from stopwise_paper.cell import Cell
from stopwise_paper.experiments import EXPERIMENTS, plan
from stopwise_paper.figures import FIGURES, draw_figures
from stopwise_paper.runs.loop import run_cell
from stopwise_paper.runs.runner import ExperimentRun, run_experiments
from stopwise_paper.runs.trajectory import RecordedSignal, Trajectory

__all__ = [
    "DEPARTURES",
    "EXPERIMENTS",
    "FIGURES",
    "Cell",
    "ExperimentRun",
    "RecordedSignal",
    "Trajectory",
    "draw_figures",
    "means",
    "plan",
    "regret_rows",
    "run_cell",
    "run_experiments",
]
