# SPDX-License-Identifier: Apache-2.0
"""Many cells in parallel: finished ones are skipped, the others run, each kept when it ends."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import joblib

from stopwise.errors import InputError, MissingExtraError, StopwiseError
from stopwise_paper.cell import Cell
from stopwise_paper.runs import store
from stopwise_paper.runs.loop import run_cell
from stopwise_paper.runs.trajectory import Trajectory

Job = TypeVar("Job")
Made = TypeVar("Made")

Engine = Literal["local", "ray", "dask"]
ENGINES: tuple[Engine, ...] = ("local", "ray", "dask")
_CELLS_PER_WORKER = 4  # in a batch on a cluster; a batch is kept when it ends


@dataclass(frozen=True, slots=True)
class RunCounts:
    """How many cells a run finished, skipped and failed on.

    Args:
        finished: Cells that were run.
        skipped: Cells that were finished before.
        failed: What went wrong, by cell (as JSON).
    """

    finished: int
    skipped: int
    failed: dict[str, str]

    def __str__(self) -> str:
        text = f"{self.finished} cells run, {self.skipped} done before"
        return text + (f", {len(self.failed)} failed" if self.failed else "")


@dataclass(frozen=True, slots=True)
class PartRun:
    """A part that was run, or left out because its data or a package are missing.

    Args:
        part: Its name.
        counts: How many cells were run; None if it was left out.
        message: Why it was left out.
    """

    part: str
    counts: RunCounts | None
    message: str = ""

    def __str__(self) -> str:
        return f"{self.part}: {self.counts or f'left out. {self.message}'}"


def run_cells(
    cells: Iterable[Cell],
    folder: Path,
    *,
    engine: Engine = "local",
    jobs: int = -1,
    progress: bool = False,
) -> RunCounts:
    """Run cells and keep them in a folder; stop it at any time, and call it again to go on.

    Args:
        cells: Cells to run; equal cells are run once, finished ones not at all.
        folder: Where trajectories are kept.
        engine: ``"local"`` (processes on this machine), or joblib's backend for a ``"ray"`` or
            ``"dask"`` cluster: the one that is initialised, else a local one.
        jobs: Number of processes; -1 for one per core.
        progress: Whether to show a bar with the time left.
    """
    if engine not in ENGINES:
        message = f"engine={engine!r} is not known: give one of {', '.join(ENGINES)}."
        raise InputError(message)
    unique = {cell.key: cell for cell in cells}
    finished = finished_keys(folder)
    todo = [cell for key, cell in unique.items() if key not in finished]
    failed: dict[str, str] = {}
    with progress_bar(len(todo), shown=progress) as advance:
        for cell, outcome in _run_all(todo, engine, jobs):
            if isinstance(outcome, Trajectory):
                store.save(outcome, folder)
            else:
                failed[cell.to_json()] = outcome
            advance()
    return RunCounts(len(todo) - len(failed), len(unique) - len(todo), failed)


def finished_keys(folder: Path) -> set[str]:
    """Keys of the cells in a folder, in files of their own or in consolidated ones."""
    keys = {path.stem for path in (folder / "cells").glob("*/*.parquet")}
    for path in folder.glob("*.parquet"):
        keys |= store.keys(path)
    return keys


def load_finished(cells: Iterable[Cell], folder: Path, experiment: str) -> list[Trajectory]:
    """The trajectories of cells that are finished, from cell files or the experiment's file."""
    path = folder / f"{experiment}.parquet"
    consolidated = {t.cell.key: t for t in store.load(path)} if path.exists() else {}
    trajectories = []
    for cell in {cell.key: cell for cell in cells}.values():
        if store.cell_path(cell, folder).exists():
            trajectories.append(store.load_cell(cell, folder))
        elif cell.key in consolidated:
            trajectories.append(consolidated[cell.key])
    return trajectories


def run_and_keep(
    todo: Sequence[Job],
    run: Callable[[Job], Made],
    keep: Callable[[Made], None],
    *,
    jobs: int,
    progress: bool,
) -> list[tuple[Job, str]]:
    """Do jobs in processes, and keep what is made of each when it ends.

    Args:
        todo: The jobs.
        run: Does one of them.
        keep: Keeps what was made.
        jobs: Number of processes; -1 for one per core.
        progress: Whether to show a bar with the time left.

    Returns:
        The jobs that failed, each with what went wrong.
    """
    failed = []
    with progress_bar(len(todo), shown=progress) as advance:
        for job, outcome in run_locally(run, todo, jobs):
            if isinstance(outcome, str):
                failed.append((job, outcome))
            else:
                keep(outcome)
            advance()
    return failed


def run_locally(
    run: Callable[[Job], Made], todo: Sequence[Job], jobs: int
) -> Iterator[tuple[Job, Made | str]]:
    """Each job with what is made of it, as they end; a string says what went wrong.

    Args:
        run: Does one job, in a process of its own unless ``jobs`` is 1.
        todo: The jobs.
        jobs: Number of processes; -1 for one per core.
    """
    if jobs == 1 or not todo:
        yield from (_run_or_explain(run, job) for job in todo)
        return
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    yield from parallel(joblib.delayed(_run_or_explain)(run, job) for job in todo)


def _run_or_explain(run: Callable[[Job], Made], job: Job) -> tuple[Job, Made | str]:
    """What is made of a job, or what went wrong: one bad cell does not end a run."""
    try:
        return job, run(job)
    except StopwiseError as error:
        return job, str(error)
    except Exception:  # noqa: BLE001  it is reported with the cell
        return job, traceback.format_exc()


def _run_all(
    cells: list[Cell], engine: Engine, jobs: int
) -> Iterator[tuple[Cell, Trajectory | str]]:
    if not cells:
        return
    if engine == "local":
        yield from run_locally(run_cell, cells, jobs)
        return
    with _cluster(engine, jobs), joblib.parallel_config(backend=engine, n_jobs=jobs):
        width = _CELLS_PER_WORKER * max(joblib.effective_n_jobs(jobs), 1)
        for start in range(0, len(cells), width):
            batch = cells[start : start + width]
            yield from joblib.Parallel()(
                joblib.delayed(_run_or_explain)(run_cell, cell) for cell in batch
            )


def _cluster(engine: Engine, jobs: int) -> AbstractContextManager[object]:
    """Register joblib's backend; where no cluster is connected, a local one is started."""
    if engine == "ray":
        try:
            from ray.util.joblib import register_ray
        except ImportError as error:
            purpose = f"engine={engine!r}"
            raise MissingExtraError.of("ray", extra="ray", purpose=purpose) from error
        register_ray()
        return nullcontext()
    from distributed import Client, get_client

    try:
        return nullcontext(get_client())
    except ValueError:
        client: Any = Client  # without types
        started: AbstractContextManager[object] = client(
            n_workers=None if jobs < 1 else jobs, threads_per_worker=1, dashboard_address=None
        )
        return started


@contextmanager
def progress_bar(total: int, *, shown: bool = True) -> Iterator[Callable[[], None]]:
    """A progress bar, if it is to be shown; the function that it gives advances it by one cell."""
    if not shown:
        yield lambda: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("cells"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns) as progress:
        task = progress.add_task("cells", total=total)
        yield lambda: progress.advance(task)
