# SPDX-License-Identifier: Apache-2.0
"""The runner of the field: what is not in the file yet is played, and added to it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from stopwise.errors import InputError, MissingExtraError
from stopwise_paper.problems.data_folder import MissingDataError
from stopwise_paper.runs.field import record
from stopwise_paper.runs.field.contenders import CONTENDERS, NOT_PLAYED, not_installed
from stopwise_paper.runs.field.plan import PARTS, field_plan
from stopwise_paper.runs.field.play import play
from stopwise_paper.runs.parallel import PartRun, RunCounts, run_and_keep

RUNS, QUICK_RUNS = "runs.parquet", "quick.parquet"


def installed(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The contenders that can be played here, and a sentence for each that cannot."""
    there: list[str] = []
    messages = [] if names else [f"{name}: not played; {why}." for name, why in NOT_PLAYED.items()]
    for name in names or CONTENDERS:
        if name not in CONTENDERS:
            message = f"there is no contender {name!r}; there are {', '.join(CONTENDERS)}."
            raise InputError(message)
        missing = CONTENDERS[name].missing
        if missing:
            messages.append(f"{name}: left out, because {', '.join(missing)} is not installed.")
        else:
            there.append(name)
    return there, messages


def run_field(
    parts: Sequence[str],
    contenders: Sequence[str],
    *,
    quick: bool = False,
    seeds: int | None = None,
    problems: str = "*",
    rules: bool = True,
    jobs: int = -1,
    out: Path,
    progress: bool = False,
) -> list[PartRun]:
    """Play what is missing of some parts; stop it at any time, and call it again to go on.

    Args:
        parts: Names of ``PARTS``; all if empty.
        contenders: Names of ``CONTENDERS`` that are installed.
        quick: A small run, kept in a file of its own.
        seeds: Of the planned seeds only the first ones.
        problems: Of the planned problems only those whose names match this pattern.
        rules: Whether rules that are only recorded are asked.
        jobs: Number of processes; -1 for one per core.
        out: The folder of the records.
        progress: Whether to show a bar with the time left.
    """
    path = out / (QUICK_RUNS if quick else RUNS)
    runs = []
    for part in parts or PARTS:
        missing = not_installed(PARTS[part].needs) if part in PARTS else ()
        if missing:
            runs.append(PartRun(part, None, f"{', '.join(missing)} is not installed."))
            continue
        try:
            cells = field_plan(part, contenders, quick=quick, seeds=seeds, problems=problems)
        except (MissingDataError, MissingExtraError) as error:
            runs.append(PartRun(part, None, str(error)))
            continue
        finished = {run.cell.key for run in record.load(path)}
        todo = [cell for cell in cells if cell.key not in finished]
        keep = partial(record.append, path=path)
        failures = run_and_keep(
            todo, partial(play, rules=rules), keep, jobs=jobs, progress=progress
        )
        failed = {cell.to_json(): error for cell, error in failures}
        counts = RunCounts(len(todo) - len(failed), len(cells) - len(todo), failed)
        runs.append(PartRun(part, counts))
    return runs
