# SPDX-License-Identifier: Apache-2.0
"""The paper's experiments: plan, run, replay, tables and figures.

``plan`` lists cells, ``run_cell`` makes a ``Trajectory`` of one, ``produce`` runs and keeps whole
experiments; ``python -m stopwise.experiments`` does so from the command line.
"""

from stopwise.experiments.cell import Cell
from stopwise.experiments.plans import EXPERIMENTS, FIGURES, plan
from stopwise.experiments.producing import Produced, paper, produce
from stopwise.experiments.run import run_cell
from stopwise.experiments.trajectory import Recorded, Trajectory

__all__ = [
    "EXPERIMENTS",
    "FIGURES",
    "Cell",
    "Produced",
    "Recorded",
    "Trajectory",
    "paper",
    "plan",
    "produce",
    "run_cell",
]
