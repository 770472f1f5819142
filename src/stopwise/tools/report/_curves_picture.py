# SPDX-License-Identifier: Apache-2.0
"""The picture of curves: each evaluation in stages, where it was left, and why."""

from __future__ import annotations

from typing import NamedTuple

from stopwise.core.stages import Stages
from stopwise.tools.report._axis import axis_of, number
from stopwise.tools.report._chart import Chart
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._picture import MOST_POINTS, Picture

_TITLE = "Curves, and where they were left"


class _Row(NamedTuple):
    """A trial: how far it was run, and why no further."""

    trial: int
    step: int
    value: float
    cost: float
    why: str


def curves_picture(facts: Facts) -> Picture:
    """The reports of every trial, with the last one marked."""
    study = facts.study
    curves, stages = study.curves, study.options.stages
    if not curves or not isinstance(stages, Stages):
        return Picture("curves", _TITLE, "Nothing was reported yet.")
    rows = _rows(facts)
    values = [report.value for curve in curves.values() for report in curve]
    chart = Chart(axis_of(stages.steps, "step", log=True), axis_of(values, "value"))
    for left in (True, False):  # finished ones on top
        for curve in curves.values():
            if (curve[-1].step < stages.last) == left:
                chart.line([(r.step, r.value) for r in curve], "t" if left else "a")
    ends = [row for row in rows if row.step < stages.last][:MOST_POINTS]
    done = [row for row in rows if row.step == stages.last][:MOST_POINTS]
    chart.points([(r.step, r.value) for r in ends], "t", "cross", [r.trial for r in ends])
    chart.points([(r.step, r.value) for r in done], "p", "dot", [r.trial for r in done])
    chart.key("left", "t", "cross")
    chart.key("finished", "p", "dot")
    words = (
        f"{len(curves)} trials were begun, {len(done)} were run to step {stages.last}, and"
        f" {len(ends)} were left before."
    )
    header = ("trial", "last step", "value", "cost", "why no further")
    return Picture("curves", _TITLE, words, chart.svg(f"{_TITLE}. {words}"), header, rows)


def _rows(facts: Facts) -> list[_Row]:
    study, worths = facts.study, facts.study.worth_going_on()
    ended = {o.number: o.message or "finished" for o in study.history}
    paid = {o.number: o.cost for o in study.history}  # of a failure it is more than was reported
    rows = []
    for trial, curve in study.curves.items():
        why = ended.get(trial, "being run")
        if trial in worths:
            why = f"paused: going on is worth {number(worths[trial])} times its price"
        last = curve[-1]
        rows.append(_Row(trial, last.step, last.value, paid.get(trial, last.cost), why))
    return rows
