# SPDX-License-Identifier: Apache-2.0
"""The runner of the evidence on beliefs: what is not in the file yet is run, and added to it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from stopwise_paper.cell import Cell
from stopwise_paper.experiments import Scale
from stopwise_paper.problems.data_folder import MissingDataError
from stopwise_paper.runs.beliefs import record
from stopwise_paper.runs.beliefs.plan import PARTS, VARIANTS, beliefs_plan
from stopwise_paper.runs.beliefs.published_run import (
    published_like,
    published_trajectories,
    read_published,
)
from stopwise_paper.runs.beliefs.record import BeliefRun
from stopwise_paper.runs.beliefs.study_run import run_study
from stopwise_paper.runs.parallel import PartRun, RunCounts, run_and_keep
from stopwise_paper.runs.trajectory import Trajectory

_Job = tuple[Cell, Trajectory | None]


def run_beliefs(
    parts: Sequence[str] = (),
    variants: Sequence[str] = (),
    *,
    scale: Scale = "laptop",
    jobs: int = -1,
    out: Path,
    progress: bool = False,
) -> list[PartRun]:
    """Run what is missing of some parts; stop it at any time, and call it again to go on.

    Args:
        parts: Names of ``PARTS``; all if empty.
        variants: Names of ``VARIANTS``; all if empty.
        scale: ``"smoke"`` or ``"laptop"``.
        jobs: Number of processes; -1 for one per core.
        out: Records go to ``out/SCALE/beliefs.jsonl``. Trajectories of the published belief are
            read from the same folder.
        progress: Whether to show a bar with the time left.
    """
    folder = out / scale
    trajectories = published_trajectories(folder)
    runs = []
    for part in parts or PARTS:
        try:
            cells = beliefs_plan(part, scale, variants or tuple(VARIANTS))
        except MissingDataError as error:
            runs.append(PartRun(part, None, str(error)))
            continue
        finished = {run.cell.key for run in record.load(folder)}
        todo = [(c, published_like(c, trajectories)) for c in cells if c.key not in finished]
        keep = partial(record.append, folder=folder)
        failures = run_and_keep(todo, _run, keep, jobs=jobs, progress=progress)
        failed = {cell.to_json(): error for (cell, _), error in failures}
        counts = RunCounts(len(todo) - len(failed), len(cells) - len(todo), failed)
        runs.append(PartRun(part, counts))
    return runs


def _run(job: _Job) -> BeliefRun:
    cell, trajectory = job
    return run_study(cell) if trajectory is None else read_published(cell, trajectory)
