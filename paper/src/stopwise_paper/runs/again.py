# SPDX-License-Identifier: Apache-2.0
"""Runs again: finished trajectories of an experiment are run once more and compared."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from stopwise_paper.arrays import Array
from stopwise_paper.cell import Cell
from stopwise_paper.runs import store
from stopwise_paper.runs.loop import run_cell
from stopwise_paper.runs.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class RunAgain:
    """A trajectory that was run again.

    Args:
        cell: Its cell.
        series: How many series of numbers were compared, as the file holds them.
        differing: Those that are not the same to the last bit, with their largest difference.
    """

    cell: Cell
    series: int
    differing: dict[str, float]

    def __str__(self) -> str:
        cell = self.cell
        parts = (cell.problem, cell.cost, cell.acquisition, f"seed {cell.seed}")
        name = f"{cell.experiment}: {', '.join(parts)}"
        if not self.differing:
            return f"{name}: all {self.series} series are the same to the last bit"
        by = ", ".join(f"{series} by {most:.3g}" for series, most in self.differing.items())
        return f"{name}: {len(self.differing)} of {self.series} series differ: {by}"


def run_again(path: Path, count: int) -> Iterator[RunAgain]:
    """Run the quickest trajectories of a file once more.

    Args:
        path: A consolidated file, ``OUT/SCALE/EXPERIMENT.parquet``.
        count: How many.
    """
    quickest = sorted(store.load(path), key=_seconds)[:count]
    for stored in quickest:
        with tempfile.TemporaryDirectory() as folder:
            written = store.consolidate([run_cell(stored.cell)], Path(folder) / "again.parquet")
            [again] = store.load(written)
        yield _compared(stored, again)


def _compared(stored: Trajectory, again: Trajectory) -> RunAgain:
    before, after = _series(stored), _series(again)
    differing = {
        name: _difference(values, after.get(name))
        for name, values in before.items()
        if name not in after or not np.array_equal(values, after[name], equal_nan=True)
    }
    return RunAgain(stored.cell, len(before), differing)


def _series(trajectory: Trajectory) -> dict[str, Array]:
    """All series but those of seconds, which never repeat."""
    costs = {f"cost {name}": paid for name, paid in trajectory.costs.items()}
    signals = {f"signal {key}": signal.value for key, signal in trajectory.signals.items()}
    return {"x": trajectory.x, "y": trajectory.y, **costs, **signals}


def _difference(one: Array, other: Array | None) -> float:
    if other is None or one.shape != other.shape:
        return float("inf")
    return float(np.nanmax(np.abs(one - other), initial=0.0))


def _seconds(trajectory: Trajectory) -> float:
    """About how long a trajectory took; of some files only means are kept."""
    n = len(trajectory.y)
    return sum(n * float(np.mean(seconds)) for seconds in trajectory.seconds.values())
