# SPDX-License-Identifier: Apache-2.0
"""The record of one search on a table of curves, and the file of all: one line of JSON each.

A line is written when its search ends, so that a run may be stopped at any time.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from stopwise.errors import InputError
from stopwise_paper.problems.curve_tables import CurveTable
from stopwise_paper.runs.lines import append_line, whole_lines
from stopwise_paper.runs.stages.ledger import Ledger
from stopwise_paper.runs.stages.plan import StagesCell

FILE = "stages.jsonl"
CLOSE = 0.01  # of the best judged value
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class StagesRun:
    """A search that was run to its end.

    Args:
        cell: The cell.
        source: ``"real"`` curves or those of a ``"surrogate"``.
        run_cost: The median cost of a whole run.
        close: 1 % of the best judged value, in gaps.
        spent: In median runs.
        path: What had been spent, in median runs, when the best finished run changed, and its
            judged regret in gaps.
        started: Runs.
        finished: Runs with a final value.
        stages_paid: In all.
        seconds: CPU time that the search itself took.
    """

    cell: StagesCell
    source: str
    run_cost: float
    close: float
    spent: float
    path: tuple[tuple[float, float], ...]
    started: int
    finished: int
    stages_paid: int
    seconds: float

    @classmethod
    def of(cls, cell: StagesCell, table: CurveTable, ledger: Ledger, seconds: float) -> StagesRun:
        """The record of what a search paid for and found."""
        return cls(
            cell,
            table.source,
            _rounded(table.run_cost),
            _rounded(CLOSE * abs(table.optimum) / table.gap),
            _rounded(ledger.spent / table.run_cost),
            tuple(
                (_rounded(spent / table.run_cost), _rounded(regret / table.gap))
                for spent, regret in ledger.path
            ),
            len(ledger.reached),
            ledger.finished,
            ledger.stages_paid,
            _rounded(seconds),
        )

    @property
    def regret(self) -> float:
        """Judged regret of the best finished run, in gaps."""
        return self.path[-1][1] if self.path else float("inf")

    def paid(self, evaluations: float) -> float:
        """Regret and all that was spent, in gaps, if the gap is worth so many median runs."""
        return self.regret + self.spent / evaluations

    @property
    def spent_until_close(self) -> float:
        """What was spent until the best finished run was within 1 % of the best, or infinity."""
        return next((spent for spent, regret in self.path if regret <= self.close), float("inf"))

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> StagesRun:
        """The run that ``to_json`` wrote."""
        try:
            content = json.loads(text)
            content["cell"] = StagesCell(**content["cell"])
            content["path"] = tuple((float(a), float(b)) for a, b in content["path"])
            return cls(**content)
        except (ValueError, TypeError, KeyError) as error:
            message = f"{text[:80]!r} is not a record of a search: {error}."
            raise InputError(message) from error


def append(run: StagesRun, folder: Path) -> None:
    """Add a run to the file of a folder."""
    append_line(folder / FILE, run.to_json())


def load(folder: Path) -> list[StagesRun]:
    """The runs in the file of a folder, each cell once; none if there is no file."""
    runs = map(StagesRun.from_json, whole_lines(folder / FILE))
    return list({run.cell: run for run in runs}.values())


def _rounded(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")
