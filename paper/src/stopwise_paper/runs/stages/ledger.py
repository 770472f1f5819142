# SPDX-License-Identifier: Apache-2.0
"""The ledger of a search on a table of curves: what was paid, what was seen, what is best."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from stopwise_paper.problems.curve_tables import CurveTable


@dataclass(slots=True)
class Ledger:
    """What a search has paid for, stage by stage.

    Args:
        table: The curves.
        reached: Stages paid for, by row.
        path: What had been spent when the best finished run changed, and its judged regret.
    """

    table: CurveTable
    reached: dict[int, int] = field(default_factory=dict)
    spent: float = 0.0
    stages_paid: int = 0
    path: list[tuple[float, float]] = field(default_factory=list)
    _best: float = np.inf

    def advance(self, row: int) -> float:
        """Pay the next stage of a run; its value, nan if the run has diverged."""
        stage = self.reached.get(row, 0)
        self.reached[row] = stage + 1
        self.spent += float(self.table.costs[row, stage])
        self.stages_paid += 1
        value = float(self.table.values[row, stage])
        if stage + 1 == len(self.table.steps) and value < self._best:
            self._best = value
            self.path.append((self.spent, float(self.table.judged[row]) - self.table.optimum))
        return value

    def finish(self, row: int) -> float:
        """Pay all that remains of a run; its final value, nan if it diverges."""
        value = np.nan
        while self.reached.get(row, 0) < len(self.table.steps):
            value = self.advance(row)
            if np.isnan(value):
                break
        return value

    @property
    def finished(self) -> int:
        """Number of runs with a final value."""
        last = len(self.table.steps)
        return sum(
            reached == last and bool(np.isfinite(self.table.values[row, -1]))
            for row, reached in self.reached.items()
        )

    @property
    def regret(self) -> float:
        """Judged regret of the best finished run; infinite if there is none."""
        return self.path[-1][1] if self.path else np.inf
