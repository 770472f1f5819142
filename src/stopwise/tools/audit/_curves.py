# SPDX-License-Identifier: Apache-2.0
"""The audit of evaluations in stages: what each stage came to, and what other lams would do.

The reports of a study are told again, one by one and in their order, to a study with another lam,
which is asked after each whether it would have stopped, and before each whether going on with that
trial was worth its price. Nothing is evaluated. What another lam would have run instead of what
was run is not known, so that what it would have left is counted, and not what it would have begun.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from stopwise.core.exchange_rate import check_lam
from stopwise.core.html_table import html_table
from stopwise.core.quantity import quantity
from stopwise.core.stages import Stages
from stopwise.core.units import PLAIN, AnswerUnits
from stopwise.record.history import Observation
from stopwise.record.staged import Report
from stopwise.stopping.verdict import Verdict
from stopwise.study import Study
from stopwise.study.result import Best
from stopwise.study.told_again import StudyToldAgain, tellings
from stopwise.tools.audit._aligned import aligned
from stopwise.tools.progress.words import printable

_FACTORS = (0.1, 1.0, 10.0)  # of the study's own lam
_HEAD_STAGES = ("step", "trials", "cost", "left here", "their cost so far")
_HEAD_LAMS = ("lam", "stops after", "spent", "saved", "best then", "lost", "not worth going on")


class StageRow(NamedTuple):
    """What one stage came to.

    Args:
        step: The step.
        trials: How many trials have reached it.
        cost: What they paid from the stage before to this one.
        left: How many of them went no further, and did not finish.
        wasted: What these had cost, from their start.
    """

    step: int
    trials: int
    cost: float
    left: int
    wasted: float


class LamRow(NamedTuple):
    """What a lam would have done.

    Args:
        lam: Objective units per unit of cost.
        stopped_at: Reports after which it would have stopped; None if never.
        spent: What was spent by then.
        saved: What was spent after that.
        best: The best finished value by then; None if none was.
        lost: How much better the best value of the whole study is; None as before.
        not_worth: Continuations before that which would not have been worth their price.
        not_worth_cost: What these cost.
        now: The verdict at the end.
    """

    lam: float
    stopped_at: int | None
    spent: float
    saved: float
    best: float | None
    lost: float | None
    not_worth: int
    not_worth_cost: float
    now: Verdict


@dataclass(frozen=True, slots=True)
class CurveAudit:
    """The audit of a study with stages; print it, or read its rows.

    Args:
        stages: One row for each stage.
        rows: One row for each lam, the study's own first.
        begun: Trials that have reported.
        finished: Those that have reached the last stage.
        spent: What all of them cost.
        best: The best finished value.
        useful: What the trials cost that were the best when they finished.
        failed: What failed trials cost after their last report.
        lam: The study's own.
        units: The names and units of values and costs.
        notes: What was assumed.
        study: The study.
    """

    stages: tuple[StageRow, ...]
    rows: tuple[LamRow, ...]
    begun: int
    finished: int
    spent: float
    best: float | None
    useful: float
    failed: float
    lam: float
    units: AnswerUnits = PLAIN
    notes: tuple[str, ...] = ()
    study: Study | None = field(default=None, repr=False)

    @property
    def heading(self) -> str:
        """The study in one sentence."""
        best = "none" if self.best is None else self.units.value(self.best)
        failed = f", {self.units.cost(self.failed)} for failures" if self.failed else ""
        return (
            f"{self.begun} trial{'s' * (self.begun != 1)} begun, {self.finished} finished; spent"
            f" {self.units.cost(self.spent)}, of which {self.units.cost(self.useful)} for trials"
            f" that were the best when they finished{failed}; best {best}, lam ="
            f" {quantity(self.lam)}"
        )

    def tables(self) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        """Stages and lams as text, each with its heading."""
        cost = self.units.cost
        stages = [
            (str(r.step), str(r.trials), cost(r.cost), str(r.left), cost(r.wasted))
            for r in self.stages
        ]
        lams = [
            (
                quantity(r.lam) + (" (own)" if r.lam == self.lam else ""),
                "never"
                if r.stopped_at is None
                else f"{r.stopped_at} report{'s' * (r.stopped_at != 1)}",
                cost(r.spent),
                cost(r.saved),
                "-" if r.best is None else quantity(r.best),
                "-" if r.lost is None else quantity(r.lost),
                f"{r.not_worth} stage{'s' * (r.not_worth > 1)}, {cost(r.not_worth_cost)}"
                if r.not_worth
                else "none",
            )
            for r in self.rows
        ]
        return [_HEAD_STAGES, *stages], [_HEAD_LAMS, *lams]

    def __str__(self) -> str:
        stages, lams = self.tables()
        text = "\n".join(
            [
                self.heading,
                "",
                *aligned(stages),
                "",
                *aligned(lams),
                "",
                "Left here: trials that went no further and did not finish.",
                "Not worth going on: stages that were paid and that this lam would have left.",
                *(f"{quantity(row.lam)}: {row.now.reason}" for row in self.rows),
                *(["Notes:"] if self.notes else []),
                *(f"  - {note}" for note in self.notes),
            ]
        )
        return printable(text)

    def as_json(self) -> dict[str, Any]:
        """The audit as JSON can hold it."""
        lams = []
        for row in self.rows:
            now = {"stop": row.now.stop, "reason": row.now.reason}
            lams.append({**row._asdict(), "now": now})
        return {
            "begun": self.begun,
            "finished": self.finished,
            "spent": self.spent,
            "best": self.best,
            "useful": self.useful,
            "failed": self.failed,
            "lam": self.lam,
            "stages": [row._asdict() for row in self.stages],
            "lams": lams,
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        parts = [f"<p>{html.escape(self.heading)}</p>"]
        parts += [html_table(head, rows) for head, *rows in self.tables()]
        return "".join(parts)


def audit_curves(
    study: Study,
    lams: Sequence[float] | None = None,
    notes: Sequence[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> CurveAudit:
    """Audit a study with stages.

    Args:
        study: The study.
        lams: Besides its own; a tenth and ten times of it if left out.
        notes: Remarks on the data.
        progress: Called after each report with their number so far and in all.
    """
    own = check_lam(study.options.lam)
    factors = [own * factor for factor in _FACTORS]
    others = {*map(check_lam, lams)} if lams else {*factors}
    wanted = [own, *sorted(others - {own})]
    steps = len(tellings(study)) * len(wanted)
    count = iter(range(1, steps + 1))

    def tick() -> None:
        if progress is not None:
            progress(next(count), steps)

    finished = [o for o in study.history if not o.failed]
    return CurveAudit(
        tuple(_stage_rows(study)),
        tuple(_lam_row(study, lam, tick) for lam in wanted),
        len(study.curves),
        len(finished),
        study.spent,
        _value(study.best),
        sum(o.cost for o in _leaders(study, finished)),
        sum(_after_reports(study, o) for o in study.history if o.failed),
        own,
        study.options.units,
        tuple(notes),
        study,
    )


# ---------------------------------------------------------------------------- details


def _after_reports(study: Study, observation: Observation) -> float:
    """What a trial cost after its last report."""
    curve = study.curves.get(observation.number)
    return observation.cost - (curve[-1].cost if curve else 0.0)


def _leaders(study: Study, finished: Sequence[Observation]) -> Iterator[Observation]:
    """The trials that were the best when they finished."""
    sign, best = study.options.sign, float("inf")
    for observation in finished:
        value = sign * float(observation.value or 0.0)
        if value < best:
            best = value
            yield observation


def _stage_rows(study: Study) -> Iterator[StageRow]:
    stages = study.options.stages
    assert isinstance(stages, Stages)  # noqa: S101  the caller has seen to it
    curves = study.curves.values()
    for step in stages.steps:
        here = [curve for curve in curves if any(r.step == step for r in curve)]
        left = [c for c in here if c[-1].step == step < stages.last]
        cost = sum(_paid(curve, step) for curve in here)
        yield StageRow(step, len(here), cost, len(left), sum(c[-1].cost for c in left))


def _paid(curve: Sequence[Report], step: int) -> float:
    """What a trial paid from the stage before to this one."""
    at = next(i for i, report in enumerate(curve) if report.step == step)
    return curve[at].cost - (curve[at - 1].cost if at else 0.0)


def _lam_row(study: Study, lam: float, tick: Callable[[], None]) -> LamRow:
    """Tell a study with this lam all reports, and see what it would have done."""
    again = StudyToldAgain(study, lam)
    stopped: tuple[int, float, float | None] | None = None
    not_worth, not_worth_cost, reports = 0, 0.0, 0
    for told in tellings(study):
        worth = again.worth_of(told.trial if isinstance(told, Report) else told.number)
        before = again.spent
        again.tell(told)
        reports += isinstance(told, Report)
        if stopped is None and worth is not None and worth < 1.0:
            not_worth, not_worth_cost = not_worth + 1, not_worth_cost + again.spent - before
        if stopped is None and again.verdict().stop:
            stopped = reports, again.spent, _value(again.best)
        tick()
    end = _value(again.best)
    at, spent, then = stopped or (None, again.spent, end)
    lost = None if then is None or end is None else study.options.sign * (then - end)
    saved, now = again.spent - spent, again.verdict()
    return LamRow(lam, at, spent, saved, then, lost, not_worth, not_worth_cost, now)


def _value(best: Best | None) -> float | None:
    return None if best is None else best.value
