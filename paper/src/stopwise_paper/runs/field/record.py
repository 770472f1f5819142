# SPDX-License-Identifier: Apache-2.0
"""The record of one run of a contender, and the files of all of them.

A line of JSON is written when a cell ends, so that a run may be stopped at any time. Lines are
consolidated to one Parquet file when the runs are scored.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from stopwise_paper.arrays import Array
from stopwise_paper.cell import Cell
from stopwise_paper.runs.lines import append_line, as_line, from_line, whole_lines

_SERIES = ("regret", "cost")


@dataclass(frozen=True, eq=False, slots=True)
class FieldRun:
    """A contender on a problem.

    Args:
        cell: The cell; its acquisition is the name of the contender.
        version: The version of the contender's package.
        gap: The median of the problem's judged values minus the best.
        median_cost: Of an evaluation of the problem.
        regret: Judged regret of the best after each evaluation; until one succeeds, that of the
            worst value there is.
        cost: Cost of each evaluation.
        stopped_at: Evaluations after which the contender's own rule said to stop, 0 if never.
        seconds: Processor time of the run, evaluations included; without that of a rule which is
            only recorded.
        rule_seconds: Processor time of that rule; None if it was not asked.
    """

    cell: Cell
    version: str
    gap: float
    median_cost: float
    regret: Array
    cost: Array
    stopped_at: int
    seconds: float
    rule_seconds: float | None = 0.0

    @property
    def contender(self) -> str:
        """Its name."""
        return self.cell.acquisition

    def paid(self, evaluations: float) -> Array:
        """What a user has paid after each evaluation, in gaps, the initial points included.

        Args:
            evaluations: The price: how many median evaluations the gap is worth.
        """
        spent = np.cumsum(self.cost) / (evaluations * self.median_cost)
        return np.asarray(self.regret / self.gap + spent)

    def to_json(self) -> str:
        """One line of JSON, numbers with six digits."""
        return as_line(self, _SERIES)

    @classmethod
    def from_json(cls, text: str) -> FieldRun:
        """The run that ``to_json`` wrote."""
        return from_line(cls, text, _SERIES)


def append(run: FieldRun, path: Path) -> None:
    """Add a run to the file of those that are not consolidated."""
    append_line(path.with_suffix(".jsonl"), run.to_json())


def load(path: Path) -> list[FieldRun]:
    """The runs in a Parquet file and in the lines beside it, each cell once.

    Args:
        path: The Parquet file, whether or not it is there.
    """
    lines = pq.read_table(path).column("run").to_pylist() if path.exists() else []
    runs = map(FieldRun.from_json, [*lines, *whole_lines(path.with_suffix(".jsonl"))])
    return list({run.cell.key: run for run in runs}.values())


def consolidate(path: Path) -> list[FieldRun]:
    """Put all runs into the Parquet file; the lines beside it are removed once it is written.

    Its column ``run`` has the record as JSON; the others repeat what one would look for.
    """
    runs = load(path)
    lines = path.with_suffix(".jsonl")
    if runs and (lines.exists() or not path.exists()):
        written = path.with_suffix(".part")
        pq.write_table(pa.Table.from_pylist([_row(run) for run in runs]), written)
        written.replace(path)
        lines.unlink(missing_ok=True)
    return runs


def _row(run: FieldRun) -> dict[str, Any]:
    return {
        "contender": run.contender,
        "version": run.version,
        "problem": run.cell.problem,
        "cost": run.cell.cost,
        "seed": run.cell.seed,
        "gap_worth": run.cell.option("evaluations"),
        "stopped_at": run.stopped_at,
        "seconds": run.seconds,
        "rule_seconds": run.rule_seconds,
        "run": run.to_json(),
    }
