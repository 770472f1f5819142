# SPDX-License-Identifier: Apache-2.0
"""``stopwise paper``: run what the paper's figures need, and keep it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stopwise.errors import InputError
from stopwise_paper import store
from stopwise_paper.cell import Cell
from stopwise_paper.engine import Done, Engine, gather, run
from stopwise_paper.plans import EXPERIMENTS, FIGURES, Scale, plan, with_own
from stopwise_paper.problems.data import MissingDataError
from stopwise_paper.run import check_names

OUT = Path("results")


@dataclass(frozen=True, slots=True)
class Produced:
    """What one experiment came to: its file, or why there is none."""

    experiment: str
    path: Path | None
    done: Done | None
    message: str = ""

    def __str__(self) -> str:
        if self.done is None:
            return f"{self.experiment}: left out. {self.message}"
        return f"{self.experiment}: {self.done}; {self.path}"


def paper(
    figures: Sequence[str] = (),
    *,
    scale: Scale = "laptop",
    engine: Engine = "local",
    jobs: int = -1,
    out: Path = OUT,
    progress: bool = False,
) -> list[Produced]:
    """Produce the trajectories that figures read.

    Args:
        figures: Names of ``FIGURES``; all if empty.
        scale: ``"smoke"``, ``"laptop"`` or ``"full"``.
        engine: ``"local"``, ``"ray"`` or ``"dask"``.
        jobs: Processes; -1 for one per core.
        out: Where results go.
        progress: Whether to show a bar with the time left.
    """
    unknown = [name for name in figures if name not in FIGURES]
    if unknown:
        message = f"there is no figure {', '.join(unknown)}; there are {', '.join(FIGURES)}."
        raise InputError(message)
    needed = {name for figure in figures or FIGURES for name in FIGURES[figure]}
    if not needed:
        return []
    experiments = [name for name in EXPERIMENTS if name in needed]
    return produce(experiments, scale=scale, engine=engine, jobs=jobs, out=out, progress=progress)


def produce(
    experiments: Sequence[str] = (),
    *,
    scale: Scale = "laptop",
    engine: Engine = "local",
    jobs: int = -1,
    out: Path = OUT,
    acquisitions: tuple[str, ...] = (),
    rules: tuple[str, ...] = (),
    progress: bool = False,
) -> list[Produced]:
    """Run experiments and write one file of trajectories each, ``out/SCALE/EXPERIMENT.parquet``.

    Call it again to go on where it was stopped. Data that are not there are said, and left out.

    Args:
        experiments: Names of ``EXPERIMENTS``; all if empty.
        scale: ``"smoke"``, ``"laptop"`` or ``"full"``.
        engine: ``"local"``, ``"ray"`` or ``"dask"``.
        jobs: Processes; -1 for one per core.
        out: Where results go.
        acquisitions: Own acquisitions to run beside ours, as ``package.module:Class``.
        rules: Own rules to record beside ours, as ``package.module:Class``.
        progress: Whether to show a bar with the time left.
    """
    unknown = [name for name in experiments if name not in EXPERIMENTS]
    if unknown:
        message = (
            f"there is no experiment {', '.join(unknown)}; there are {', '.join(EXPERIMENTS)}."
        )
        raise InputError(message)
    check_names([*acquisitions, *rules])
    made: list[Produced] = []
    for name in experiments or EXPERIMENTS:
        try:
            cells = with_own(plan(name, scale), acquisitions, rules)
        except MissingDataError as error:
            made.append(Produced(name, None, None, str(error)))
            continue
        folder = out / scale
        done = run(cells, folder, engine=engine, jobs=jobs, progress=progress)
        made.append(Produced(name, consolidated(name, cells, folder), done))
    return made


def consolidated(name: str, cells: Sequence[Cell], folder: Path) -> Path:
    """Write the file of an experiment from everything that is done; cell files stay.

    What the file has beside these cells (somebody's own acquisition, say) stays too. A file that
    has them all is left as it is.
    """
    path = folder / f"{name}.parquet"
    if path.exists() and {cell.key for cell in cells} <= store.keys(path):
        return path
    found = gather(cells, folder, name)
    own = {trajectory.cell.key for trajectory in found}
    others = store.load(path) if path.exists() else []
    return store.consolidate([*found, *(t for t in others if t.cell.key not in own)], path)
