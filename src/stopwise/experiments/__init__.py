# SPDX-License-Identifier: Apache-2.0
"""The paper's experiments: plan, run, replay, tables and figures.

``plan`` lists cells, ``run_cell`` makes a ``Trajectory`` of one, ``produce`` runs and keeps whole
experiments; ``python -m stopwise.experiments`` does so from the command line. ``regret_rows``
replays rules on trajectories, ``draw_figures`` makes every table and figure of them;
``python -m stopwise.experiments.figures`` does both.
"""

from stopwise.experiments.cell import Cell
from stopwise.experiments.figures import draw_figures
from stopwise.experiments.plans import EXPERIMENTS, FIGURES, plan
from stopwise.experiments.producing import Produced, paper, produce
from stopwise.experiments.quirks import QUIRKS
from stopwise.experiments.regret import means, regret_rows
from stopwise.experiments.run import run_cell
from stopwise.experiments.trajectory import Recorded, Trajectory

__all__ = [
    "EXPERIMENTS",
    "FIGURES",
    "QUIRKS",
    "Cell",
    "Produced",
    "Recorded",
    "Trajectory",
    "draw_figures",
    "means",
    "paper",
    "plan",
    "produce",
    "regret_rows",
    "run_cell",
]
