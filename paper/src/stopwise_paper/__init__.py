# SPDX-License-Identifier: Apache-2.0
"""The paper's experiments: plan, run, replay, tables and figures.

``plan`` lists cells, ``run_cell`` makes a ``Trajectory`` of one, ``produce`` runs and keeps whole
experiments; ``python -m stopwise_paper`` does so from the command line. ``regret_rows``
replays rules on trajectories, ``draw_figures`` makes every table and figure of them;
``python -m stopwise_paper.figures`` does both.
"""

from stopwise_paper.cell import Cell
from stopwise_paper.figures import draw_figures
from stopwise_paper.plans import EXPERIMENTS, FIGURES, plan
from stopwise_paper.producing import Produced, paper, produce
from stopwise_paper.quirks import QUIRKS
from stopwise_paper.regret import means, regret_rows
from stopwise_paper.run import run_cell
from stopwise_paper.trajectory import Recorded, Trajectory

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
