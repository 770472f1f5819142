# SPDX-License-Identifier: Apache-2.0
"""The record of one study, and the file of all records: one line of JSON a cell.

A line is written when its cell ends, so that a run may be stopped at any time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stopwise_paper.arrays import Array
from stopwise_paper.cell import Cell
from stopwise_paper.runs.lines import append_line, as_line, from_line, whole_lines

FILE = "beliefs.jsonl"
_SERIES = ("regret", "cost", "promised", "delivered")


@dataclass(frozen=True, eq=False, slots=True)
class BeliefRun:
    """A study that was run until its rule stopped it, or to the cap.

    Args:
        cell: The cell.
        lam: What a unit of cost is worth.
        gap: The median of the problem's judged values minus the best.
        rule: The rule that stopped it; empty if the cap did.
        n_initial: Evaluations of the initial design, failed ones included.
        initial_cost: Cost of the initial design.
        regret: Judged regret of the incumbent over t = 0..T; t = 0 is after the design.
        cost: Cost of each of the T choices.
        promised: The gain that was expected of each choice.
        delivered: The gain that came of it.
        source: ``"study"``, or ``"trajectory"`` if it was read from a recorded trajectory.
        seconds: Time that the study took.
    """

    cell: Cell
    lam: float
    gap: float
    rule: str
    n_initial: int
    initial_cost: float
    regret: Array
    cost: Array
    promised: Array
    delivered: Array
    source: str = "study"
    seconds: float = 0.0

    @property
    def T(self) -> int:  # noqa: N802  as in the paper
        """Evaluations after the initial design."""
        return len(self.cost)

    @property
    def stopped(self) -> bool:
        """Whether a rule stopped it, rather than the cap."""
        return bool(self.rule)

    @property
    def spent(self) -> float:
        """Cost after the initial design."""
        return float(self.cost.sum())

    @property
    def adjusted(self) -> float:
        """Cost-adjusted regret, the initial design free."""
        return float(self.regret[-1]) + self.lam * self.spent

    @property
    def paid(self) -> float:
        """Cost-adjusted regret with the initial design paid, in gaps."""
        return (self.adjusted + self.lam * self.initial_cost) / self.gap

    @property
    def paid_at_once(self) -> float:
        """The same for stopping right after the initial design."""
        return (float(self.regret[0]) + self.lam * self.initial_cost) / self.gap

    def to_json(self) -> str:
        """One line of JSON, numbers with six digits."""
        return as_line(self, _SERIES)

    @classmethod
    def from_json(cls, text: str) -> BeliefRun:
        """The run that ``to_json`` wrote."""
        return from_line(cls, text, _SERIES)


def append(run: BeliefRun, folder: Path) -> None:
    """Add a run to the file of a folder."""
    append_line(folder / FILE, run.to_json())


def load(folder: Path) -> list[BeliefRun]:
    """The runs in the file of a folder, each cell once; none if there is no file."""
    runs = map(BeliefRun.from_json, whole_lines(folder / FILE))
    return list({run.cell.key: run for run in runs}.values())
