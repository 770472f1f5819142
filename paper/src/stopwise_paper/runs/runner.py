# SPDX-License-Identifier: Apache-2.0
"""The runner of experiments: every cell of a plan is run, and each experiment becomes one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stopwise.errors import InputError
from stopwise_paper.cell import Cell
from stopwise_paper.experiments import EXPERIMENTS, Scale, plan, with_plugins
from stopwise_paper.plugins import check_plugins
from stopwise_paper.problems.data_folder import MissingDataError
from stopwise_paper.runs import store
from stopwise_paper.runs.parallel import Engine, RunCounts, load_finished, run_cells

OUT = Path("results")


@dataclass(frozen=True, slots=True)
class ExperimentRun:
    """An experiment that was run, or left out because its data are missing.

    Args:
        experiment: Its name.
        path: Its file of trajectories; None if it was left out.
        counts: How many cells were run; None if it was left out.
        message: Why it was left out.
    """

    experiment: str
    path: Path | None
    counts: RunCounts | None
    message: str = ""

    def __str__(self) -> str:
        if self.counts is None:
            return f"{self.experiment}: left out. {self.message}"
        return f"{self.experiment}: {self.counts}; {self.path}"


def run_experiments(
    experiments: Sequence[str] = (),
    *,
    scale: Scale = "laptop",
    engine: Engine = "local",
    jobs: int = -1,
    out: Path = OUT,
    acquisitions: Sequence[str] = (),
    rules: Sequence[str] = (),
    progress: bool = False,
) -> list[ExperimentRun]:
    """Run experiments and write one file of trajectories each, ``out/SCALE/EXPERIMENT.parquet``.

    Call it again to go on where it was stopped. An experiment whose data are missing is left out,
    and its message says where to get them.

    Args:
        experiments: Names of ``EXPERIMENTS``; all if empty.
        scale: ``"smoke"``, ``"laptop"`` or ``"full"``.
        engine: ``"local"``, ``"ray"`` or ``"dask"``.
        jobs: Number of processes; -1 for one per core.
        out: Where results go.
        acquisitions: Plugin acquisitions to run beside the paper's, as ``package.module:Class``.
        rules: Plugin rules to record beside the paper's, as ``package.module:Class``.
        progress: Whether to show a bar with the time left.
    """
    names = _checked(experiments)
    check_plugins([*acquisitions, *rules])
    runs: list[ExperimentRun] = []
    for name in names:
        try:
            cells = with_plugins(plan(name, scale), acquisitions, rules)
        except MissingDataError as error:
            runs.append(ExperimentRun(name, None, None, str(error)))
            continue
        folder = out / scale
        counts = run_cells(cells, folder, engine=engine, jobs=jobs, progress=progress)
        runs.append(ExperimentRun(name, _consolidated(name, cells, folder), counts))
    return runs


def _checked(experiments: Sequence[str]) -> list[str]:
    """The names, or all if there are none; unknown ones are refused."""
    unknown = [name for name in experiments if name not in EXPERIMENTS]
    if unknown:
        message = (
            f"there is no experiment {', '.join(unknown)}; there are {', '.join(EXPERIMENTS)}."
        )
        raise InputError(message)
    return list(experiments or EXPERIMENTS)


def _consolidated(experiment: str, cells: Sequence[Cell], folder: Path) -> Path:
    """Write the file of an experiment from all finished cells; cell files stay.

    Other trajectories in the file (of a plugin, say) stay too. A file that has all the cells is
    left as it is.
    """
    path = folder / f"{experiment}.parquet"
    if path.exists() and {cell.key for cell in cells} <= store.keys(path):
        return path
    finished = load_finished(cells, folder, experiment)
    keys = {trajectory.cell.key for trajectory in finished}
    others = store.load(path) if path.exists() else []
    return store.consolidate([*finished, *(t for t in others if t.cell.key not in keys)], path)
