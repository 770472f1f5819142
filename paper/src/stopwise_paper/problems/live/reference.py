# SPDX-License-Identifier: Apache-2.0
"""The reference sample of a live objective: what 128 configurations came to, trained once.

The lowest value of an objective that is trained is not known. Regret counts from the best of the
sample, and the gap that sets the prices is its median minus its best. So the sample is part of the
problem: it comes with the package and is never made on the way. ``benchmarks/_live_reference.py``
made it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import stopwise as sw
from stopwise_paper.arrays import Array
from stopwise_paper.problems.data_folder import MissingDataError
from stopwise_paper.seeds import stream

SIZE = 128
COLUMNS = ("value", "cost", "seconds")
_COMMAND = "python -m benchmarks._live_reference"


class Reference(NamedTuple):
    """The sample.

    Args:
        values: Of each configuration, nan where the training diverged.
        costs: Counted work of each.
        seconds: CPU seconds that each took when the sample was made, for comparison alone.
        versions: The packages that trained, with their versions.
    """

    values: Array
    costs: Array
    seconds: Array
    versions: str


def configurations(space: Mapping[str, sw.space.Parameter]) -> list[dict[str, Any]]:
    """The configurations of the sample: the beginning of a scrambled Sobol sequence."""
    domain = sw.space.Mixed.of(space)
    return domain.decode(domain.sobol(SIZE, stream(0, "reference sample")))


def reference_of(problem: str) -> Reference:
    """The sample of a problem ``live:digits-network``.

    Raises:
        MissingDataError: The package has none; the message says how it is made.
    """
    path = file_of(problem)
    if not path.is_file():
        message = (
            f"{problem} has no reference sample in this package, and none is made on the way:"
            f" regret could not be compared. Make it with {_COMMAND} {problem}"
        )
        raise MissingDataError(message)
    with path.open("r", encoding="utf-8") as file:
        versions = file.readline().removeprefix("#").strip()
        rows = list(csv.DictReader(file))
    values, costs, seconds = (np.array([float(row[name]) for row in rows]) for name in COLUMNS)
    return Reference(values, costs, seconds, versions)


def file_of(problem: str) -> Traversable:
    """The file of a problem's sample."""
    return files("stopwise_paper") / "data" / "reference" / f"{problem.replace(':', '-')}.csv"


def write(path: Path, rows: Iterable[tuple[float, float, float]], versions: str) -> None:
    """Write a sample: ten digits of a value, six of its cost, three of its seconds."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {versions}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for value, cost, seconds in rows:
            writer.writerow([f"{value:.10g}", f"{cost:.6g}", f"{seconds:.3g}"])
