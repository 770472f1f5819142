# SPDX-License-Identifier: Apache-2.0
"""The problems of the paper: objectives with their costs, one file each."""

from __future__ import annotations

from collections.abc import Callable

from stopwise.errors import InputError
from stopwise_paper.cell import Cell
from stopwise_paper.problems.bbob import bbob_problem
from stopwise_paper.problems.curves import alexnet, taskset
from stopwise_paper.problems.data_folder import MissingDataError
from stopwise_paper.problems.functions import function_on_box
from stopwise_paper.problems.gp1d import GRID, gp_grid
from stopwise_paper.problems.gp8d import gp_box
from stopwise_paper.problems.lcbench import lcbench_problem
from stopwise_paper.problems.live import LiveProblem, live_problem
from stopwise_paper.problems.nats import nats_size, nats_topology
from stopwise_paper.problems.problem import LEARNED, PaidValue, Problem, Table
from stopwise_paper.problems.sklearn_table import sklearn_problem

__all__ = [
    "LEARNED",
    "LiveProblem",
    "MissingDataError",
    "PaidValue",
    "Problem",
    "Table",
    "make_problem",
]

_COLLECTIONS: dict[str, Callable[[str], Problem]] = {
    "box": function_on_box,
    "bbob": bbob_problem,
    "live": lambda name: live_problem(f"live:{name}"),
    "bayesmark": lambda name: live_problem(f"bayesmark:{name}"),
    "alexnet": alexnet,
    "nats-size": nats_size,
    "nats-topology": nats_topology,
    "sklearn": sklearn_problem,
    "taskset": taskset,
}


def make_problem(cell: Cell) -> Problem:
    """The problem that a cell names, as ``name`` or ``name:data set``."""
    name, _, dataset = cell.problem.partition(":")
    if name == "gp1d":
        return gp_grid(cell.seed, grid=cell.option("grid", GRID))
    if name == "gp8d":
        return gp_box(cell.seed, cell.option("d", 8))
    if name == "lcbench":
        return lcbench_problem(dataset, runtime=cell.option("runtime", "real"))
    if name in _COLLECTIONS:
        return _COLLECTIONS[name](dataset)
    names = ", ".join(["gp1d", "gp8d", "lcbench", *_COLLECTIONS])
    message = f"there is no problem {cell.problem!r}; there are {names}."
    raise InputError(message)
