# SPDX-License-Identifier: Apache-2.0
"""The record of one run of a contender, and the file of all of them: one line of JSON a cell.

A line is written when its cell ends, so that a run may be stopped at any time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from stopwise.errors import InputError
from stopwise_paper.arrays import Array
from stopwise_paper.cell import Cell
from stopwise_paper.runs.lines import append_line, whole_lines

_DIGITS = 6
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
        seconds: Processor time of the run, evaluations included.
    """

    cell: Cell
    version: str
    gap: float
    median_cost: float
    regret: Array
    cost: Array
    stopped_at: int
    seconds: float

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
        content: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        content["cell"] = json.loads(self.cell.to_json())
        for name in _SERIES:
            content[name] = [float(f"{value:.{_DIGITS}g}") for value in content[name]]
        return json.dumps(content, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> FieldRun:
        """The run that ``to_json`` wrote."""
        try:
            content = json.loads(text)
            content["cell"] = Cell.from_json(json.dumps(content["cell"]))
            for name in _SERIES:
                content[name] = np.array(content[name], dtype=np.float64)
            return cls(**content)
        except (ValueError, TypeError, KeyError) as error:
            message = f"{text[:80]!r} is not a record of a run: {error}."
            raise InputError(message) from error


def append(run: FieldRun, path: Path) -> None:
    """Add a run to a file."""
    append_line(path, run.to_json())


def load(path: Path) -> list[FieldRun]:
    """The runs in a file, each cell once; none if there is no file."""
    runs = map(FieldRun.from_json, whole_lines(path))
    return list({run.cell.key: run for run in runs}.values())
