# SPDX-License-Identifier: Apache-2.0
"""Many cells: skip what is done, run the rest in parallel, keep each as soon as it is finished."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from stopwise.errors import InputError, MissingExtraError, StopwiseError
from stopwise_paper import store
from stopwise_paper.cell import Cell
from stopwise_paper.run import run_cell
from stopwise_paper.trajectory import Trajectory

Engine = Literal["local", "ray", "dask"]
ENGINES: tuple[Engine, ...] = ("local", "ray", "dask")
_PER_BATCH = 4  # cells per worker and batch on a cluster; a batch is kept when it is finished


@dataclass(frozen=True, slots=True)
class Done:
    """What a run left behind."""

    finished: int  # in this run
    skipped: int  # done before
    failed: dict[str, str]  # cell as JSON -> what went wrong

    def __str__(self) -> str:
        text = f"{self.finished} cells run, {self.skipped} done before"
        return text + (f", {len(self.failed)} failed" if self.failed else "")


def run(
    cells: Iterable[Cell],
    folder: Path,
    *,
    engine: Engine = "local",
    jobs: int = -1,
    progress: bool = False,
) -> Done:
    """Run cells and keep them in a folder; stop it at any time, and call it again to go on.

    Args:
        cells: What to run; equal cells are run once, done ones not at all.
        folder: Where trajectories are kept.
        engine: ``"local"`` (processes on this machine), or joblib's backend for a ``"ray"`` or
            ``"dask"`` cluster: the one that is initialised, else a local one.
        jobs: Processes; -1 for one per core.
        progress: Whether to show a bar with the time left.
    """
    if engine not in ENGINES:
        message = f"engine={engine!r} is not known: give one of {', '.join(ENGINES)}."
        raise InputError(message)
    unique = {cell.key: cell for cell in cells}
    before = done_keys(folder)
    todo = [cell for key, cell in unique.items() if key not in before]
    failed: dict[str, str] = {}
    with _bar(len(todo), shown=progress) as advance:
        for cell, outcome in _outcomes(todo, engine, jobs):
            if isinstance(outcome, Trajectory):
                store.save(outcome, folder)
            else:
                failed[cell.to_json()] = outcome
            advance()
    return Done(len(todo) - len(failed), len(unique) - len(todo), failed)


def done_keys(folder: Path) -> set[str]:
    """Keys of the cells that a folder has, alone or in consolidated files."""
    kept = {path.stem for path in (folder / "cells").glob("*/*.parquet")}
    for path in folder.glob("*.parquet"):
        kept |= store.keys(path)
    return kept


def gather(cells: Iterable[Cell], folder: Path, name: str) -> list[Trajectory]:
    """The trajectories of cells that are done, from cell files and the file of ``name``."""
    consolidated = folder / f"{name}.parquet"
    known = {t.cell.key: t for t in store.load(consolidated)} if consolidated.exists() else {}
    found = []
    for cell in {cell.key: cell for cell in cells}.values():
        if store.cell_path(cell, folder).exists():
            found.append(store.load_cell(cell, folder))
        elif cell.key in known:
            found.append(known[cell.key])
    return found


def guarded(cell: Cell) -> tuple[Cell, Trajectory | str]:
    """A cell's trajectory, or what went wrong: one bad cell does not end a run."""
    try:
        return cell, run_cell(cell)
    except StopwiseError as error:
        return cell, str(error)
    except Exception:  # noqa: BLE001  it is reported with the cell
        return cell, traceback.format_exc()


def _outcomes(
    cells: list[Cell], engine: Engine, jobs: int
) -> Iterator[tuple[Cell, Trajectory | str]]:
    if not cells:
        return
    if jobs == 1 and engine == "local":
        yield from map(guarded, cells)
        return
    joblib = joblib_module()
    if engine == "local":
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        yield from parallel(joblib.delayed(guarded)(cell) for cell in cells)
        return
    with _cluster(engine, jobs), joblib.parallel_config(backend=engine, n_jobs=jobs):
        width = _PER_BATCH * max(joblib.effective_n_jobs(jobs), 1)
        for start in range(0, len(cells), width):
            batch = cells[start : start + width]
            yield from joblib.Parallel()(joblib.delayed(guarded)(cell) for cell in batch)


def joblib_module() -> Any:  # noqa: ANN401  it has no types
    """joblib, or the error that says how to have it."""
    try:
        import joblib
    except ImportError as error:
        raise MissingExtraError.of("joblib", extra="bench", purpose="parallel runs") from error
    return joblib


def _cluster(engine: Engine, jobs: int) -> AbstractContextManager[object]:
    """Make joblib's backend known; where no cluster is connected, a local one is started."""
    try:
        if engine == "ray":
            from ray.util.joblib import register_ray

            register_ray()
            return nullcontext()
        from distributed import Client, get_client
    except ImportError as error:
        purpose = f"engine={engine!r}"
        needed, extra = ("ray", "ray") if engine == "ray" else ("distributed", "bench")
        raise MissingExtraError.of(needed, extra=extra, purpose=purpose) from error
    try:
        return nullcontext(get_client())
    except ValueError:
        client: Any = Client  # without types
        started: AbstractContextManager[object] = client(
            n_workers=None if jobs < 1 else jobs, threads_per_worker=1, dashboard_address=None
        )
        return started


class _bar(AbstractContextManager[Callable[[], None]]):  # noqa: N801  used like a function
    """A progress bar, or nothing."""

    def __init__(self, total: int, *, shown: bool) -> None:
        self._total = total
        self._progress: Any = None
        if shown:
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )

            self._progress = Progress(
                TextColumn("cells"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("left:"),
                TimeRemainingColumn(),
            )

    def __enter__(self) -> Callable[[], None]:
        if self._progress is None:
            return lambda: None
        self._progress.start()
        task = self._progress.add_task("cells", total=self._total)
        return lambda: self._progress.advance(task)

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()
