# SPDX-License-Identifier: Apache-2.0
"""The runner of the evidence on stages: what is not in the file yet is run, and added to it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stopwise_paper.problems.curve_tables import curve_table
from stopwise_paper.problems.data_folder import MissingDataError
from stopwise_paper.runs.parallel import RunCounts, run_and_keep
from stopwise_paper.runs.stages import record
from stopwise_paper.runs.stages.plan import StagesCell, run_search, stages_plan
from stopwise_paper.runs.stages.record import StagesRun


@dataclass(frozen=True, slots=True)
class StagesRuns:
    """What a call has run.

    Args:
        counts: How many searches.
        left_out: Tables whose data are missing, and what to do about it.
    """

    counts: RunCounts
    left_out: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([f"stages: {self.counts}", *self.left_out])


def run_stages(
    methods: Sequence[str] = (),
    problems: Sequence[str] = (),
    *,
    scale: str = "laptop",
    jobs: int = -1,
    out: Path,
    progress: bool = False,
) -> StagesRuns:
    """Run what is missing; stop it at any time, and call it again to go on.

    Args:
        methods: Names of ``METHODS``; all if empty.
        problems: Names of tables; all if empty.
        scale: ``"smoke"`` or ``"laptop"``.
        jobs: Number of processes; -1 for one per core.
        out: Records go to ``out/SCALE/stages.jsonl``.
        progress: Whether to show a bar with the time left.
    """
    folder = out / scale
    planned = stages_plan(scale, methods, problems)
    missing = _missing_data(planned)
    cells = [cell for cell in planned if cell.problem not in missing]
    finished = {run.cell for run in record.load(folder)}
    todo = [cell for cell in cells if cell not in finished]
    keep = partial(record.append, folder=folder)
    failures = run_and_keep(todo, run_cell, keep, jobs=jobs, progress=progress)
    failed = {str(cell): error for cell, error in failures}
    counts = RunCounts(len(todo) - len(failed), len(cells) - len(todo), failed)
    return StagesRuns(counts, tuple(f"{name} left out. {why}" for name, why in missing.items()))


def _missing_data(cells: Sequence[StagesCell]) -> dict[str, str]:
    """Tables whose data are not here, and what to do about it."""
    missing = {}
    for problem in dict.fromkeys(cell.problem for cell in cells):
        try:
            curve_table(problem)
        except MissingDataError as error:
            missing[problem] = str(error)
    return missing


def run_cell(cell: StagesCell) -> StagesRun:
    """Run one search."""
    table = curve_table(cell.problem)
    began = time.process_time()
    ledger = run_search(cell, table)
    return StagesRun.of(cell, table, ledger, time.process_time() - began)
