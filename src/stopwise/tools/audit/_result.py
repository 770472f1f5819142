# SPDX-License-Identifier: Apache-2.0
"""The result of an audit, and how it is shown."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field
from typing import Any

from stopwise.core.html_table import html_table
from stopwise.core.quantity import quantity
from stopwise.core.space import Space
from stopwise.core.units import PLAIN, AnswerUnits
from stopwise.errors import InputError
from stopwise.record.promises import Promises
from stopwise.stopping.verdict import Verdict
from stopwise.study.external import ExternalStudy
from stopwise.study.lam_ladder import LamLadder
from stopwise.study.measured_beyond import beyond_words
from stopwise.tools.audit._aligned import aligned
from stopwise.tools.audit._curves import CurveAudit
from stopwise.tools.audit._inferred_space import described
from stopwise.tools.progress.words import printable

_MEASURED = "Values are noisy: lost and net compare measured ones, which are flattered by luck."
_COUNTED = "Evaluations without a value count wherever evaluations or trials are counted."


@dataclass(frozen=True, slots=True)
class Audited:
    """One rule over a history.

    Args:
        rule: Its name.
        stopped_at: Evaluations after which it would have stopped, those without a value
            included; None if never.
        spent: What they cost, all of them if it never stopped.
        saved: What the others cost.
        best: The best value by then, as measured.
        lost: How much better the best value of the whole history is.
        net: What was saved, in objective units, less what was lost; nan without lam.
        now: The verdict at the end of the history.
        stopped_by: The verdict that stopped; None if none did.
    """

    rule: str
    stopped_at: int | None
    spent: float
    saved: float
    best: float
    lost: float
    net: float
    now: Verdict
    stopped_by: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Audit:
    """What every rule would have said of a history; print it, or read its rows.

    Args:
        rows: One per rule.
        n: Evaluations with a value.
        n_initial: Those that count as the initial design: no rule is asked before.
        spent: What all of them cost.
        best: The best value, as measured.
        lam: Objective units per unit of cost.
        space: What was varied.
        notes: What was left out or assumed.
        study: The history as a study: its ``explain()`` says what remains to be gained. None of
            a record without parameters.
        promises: Where the history is a study's, the gains that its choices promised, and those
            that came.
        ladder: When other values of lam would have stopped, what was spent then, and found.
        units: The names and units of values and costs.
        without_value: Evaluations that failed or were pruned; they were paid for, too.
        curves: Where trials of another package reported on the way, what came of each stage.
        infeasible: Evaluations with a value that were measured beyond a limit.
    """

    rows: tuple[Audited, ...]
    n: int
    n_initial: int
    spent: float
    best: float
    lam: float | None
    space: Space
    notes: tuple[str, ...]
    study: ExternalStudy | None = field(default=None, repr=False)
    promises: Promises = field(default_factory=Promises)
    ladder: LamLadder = field(default_factory=LamLadder, repr=False)
    units: AnswerUnits = PLAIN
    without_value: int = 0
    curves: CurveAudit | None = None
    infeasible: int = 0

    def __getitem__(self, rule: str) -> Audited:
        """The row of a rule."""
        row = next((row for row in self.rows if row.rule == rule), None)
        if row is None:
            names = ", ".join(row.rule for row in self.rows)
            message = f"{rule!r} was not audited; there are {names}. Give it in rules=[...]."
            raise InputError(message)
        return row

    @property
    def heading(self) -> str:
        """The history in one sentence."""
        worth = "" if self.lam is None else f", lam = {quantity(self.lam)}"
        gained = self.units.value_name if self.study is None else self.study.options.gain_unit
        kept = f"; {self.promises.words(gained)}" if self.promises.told else ""
        counted = {
            "without a value": self.without_value,
            beyond_words(self.units): self.infeasible,
        }
        odd = [f"{count} of them {what}" for what, count in counted.items() if count]
        without = "".join(f", {each}" for each in odd)
        of_value = " with a value" if self.without_value else ""
        count = "" if self.n_initial == 1 else f" {self.n_initial}"
        first = f"the first{count}{of_value} {'is' if self.n_initial == 1 else 'are'}"
        return (
            f"{self.n + self.without_value} evaluations{without} ({first} the initial design),"
            f" spent {self.units.cost(self.spent)},"
            f" {self.units.best} {self.units.value(self.best)}{self._believed}{worth}{kept}"
        )

    @property
    def _believed(self) -> str:
        """With noise, what is believed of the best configuration, in brackets; else empty."""
        best = self.study.best if self.study is not None and self.units.noisy else None
        if best is None:
            return ""
        return f" (the best is believed to be {self.units.number(best.value, best.std)})"

    @property
    def _units(self) -> str:
        options = None if self.study is None else self.study.options
        values = self.units.value_name or "units of the objective"
        if options is None or options.utility is None:
            return values
        return f"{values} ({self.units.best}) and {options.currency or 'of its worth'}"

    def table(self) -> list[tuple[str, ...]]:
        """The rows as text, the heading first."""
        best = f"{self.units.best} then"
        head = ("rule", "stops after", "spent", "saved", best, "lost", "net", "now")
        return [head, *(_cells(row, self.units, self.best) for row in self.rows)]

    def __str__(self) -> str:
        text = "\n".join(
            [
                self.heading,
                "",
                *aligned(self.table()),
                "",
                f"saved and spent are in {self.units.of_cost}, the rest in {self._units};",
                "net is what was saved, at lam, less what was lost.",
                *([_COUNTED] if self.without_value else []),
                *([_MEASURED] if self.units.noisy else []),
                "",
                *(f"{row.rule}: {_sentence(row)}" for row in self.rows),
                "",
                *([*self.ladder.lines, ""] if len(self.ladder) else []),
                *self._parameters(),
                *(["Notes:"] if self.notes else []),
                *(f"  - {note}" for note in self.notes),
                *(["", "Intermediate values:", str(self.curves)] if self.curves else []),
            ]
        )
        return printable(text)

    def _parameters(self) -> list[str]:
        if self.study is None:
            return []
        title = "Parameters, as taken (params=, drop=, log= and bounds= change them):"
        return [title, *(f"  {line}" for line in described(self.space))]

    def as_json(self) -> dict[str, Any]:
        """The audit as JSON can hold it; None stands for a number that there is not."""
        return {
            "n": self.n,
            "without_value": self.without_value,
            "infeasible": self.infeasible,
            "n_initial": self.n_initial,
            "spent": self.spent,
            "best": self.best,
            "lam": self.lam,
            "rules": [_row_as_json(row) for row in self.rows],
            "parameters": [] if self.study is None else described(self.space),
            "notes": list(self.notes),
            "lam_ladder": self.ladder.as_json(),
            "curves": None if self.curves is None else self.curves.as_json(),
        }

    def _repr_html_(self) -> str:
        head, *rows = self.table()
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        curves = self.curves._repr_html_() if self.curves else ""
        table = html_table(head, rows)
        return f"<p>{html.escape(self.heading)}</p>{table}<ul>{notes}</ul>{curves}"


def _row_as_json(row: Audited) -> dict[str, Any]:
    numbers = {
        name: None if math.isnan(value) else value
        for name in ("spent", "saved", "best", "lost", "net")
        for value in [getattr(row, name)]
    }
    stopped = None if row.stopped_by is None else row.stopped_by.reason
    now = {"stop": row.now.stop, "reason": row.now.reason}
    return {"rule": row.rule, "stops_after": row.stopped_at, **numbers, "now": now, "why": stopped}


def _cells(row: Audited, units: AnswerUnits, best: float) -> tuple[str, ...]:
    stops = "never" if row.stopped_at is None else str(row.stopped_at)
    costs = [units.cost(cost) for cost in (row.spent, row.saved)]
    values = [
        "-" if math.isnan(n) else quantity(n, *beside)
        for n, beside in ((row.best, [best]), (row.lost, []), (row.net, []))
    ]
    return (row.rule, stops, *costs, *values, "stop" if row.now.stop else "go on")


def _sentence(row: Audited) -> str:
    """Why it stopped then; why one is to go on now."""
    if row.stopped_by is None:
        return row.now.reason
    evaluations = "evaluation" if row.stopped_at == 1 else "evaluations"
    return f"after {row.stopped_at} {evaluations}: {row.stopped_by.reason}"
