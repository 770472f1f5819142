# SPDX-License-Identifier: Apache-2.0
"""The picture of curves: each evaluation in stages, where it was left, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stopwise.core.stages import Stages
from stopwise.record.staged import Left, Report
from stopwise.tools.progress.words import times
from stopwise.tools.report._axis import axis_of, number
from stopwise.tools.report._chart import Chart
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._picture import MOST_POINTS, Picture

_TITLE = "Curves, and where they were left"
_UNPAID = "the budget did not pay for its next stage"
_MARKS = {"left": ("t", "cross"), "failed": ("f", "square"), "finished": ("a", "dot")}


class _Row(NamedTuple):
    """A trial: how far it was run, what going on was worth when it was left, and why it was."""

    trial: int
    step: int
    value: float
    cost: float
    worth: str | None
    why: str


def curves_picture(facts: Facts) -> Picture:
    """The reports of every trial, with the last one marked."""
    curves, stages = facts.study.curves, facts.study.options.stages
    if not curves or not isinstance(stages, Stages):
        return Picture("curves", _TITLE, "Nothing was reported yet.")
    rows, ends = _rows(facts), _ends(facts)
    values = [report.value for curve in curves.values() for report in curve]
    label = facts.names.value_label
    chart = Chart(axis_of(stages.steps, "step", log=True), axis_of(values, label))
    for end in ("left", "failed", "running", "finished"):  # finished ones on top
        for trial in ends.get(end, ()):
            line = "a" if end == "finished" else "t"
            chart.line([(r.step, r.value) for r in curves.get(trial, ())], line)
    for end, (style, shape) in _MARKS.items():
        marked = [row for row in rows if row.trial in ends.get(end, ())][:MOST_POINTS]
        chart.points([(r.step, r.value) for r in marked], style, shape, [r.trial for r in marked])
        if marked:
            chart.key(end, style, shape)
    words = _words(facts, ends, stages)
    header = ("trial", "last step", label, "cost", "going on was worth", "why no further")
    return Picture("curves", _TITLE, words, chart.svg(f"{_TITLE}. {words}"), header, rows)


def _ends(facts: Facts) -> dict[str, list[int]]:
    """The trials that were begun, by where they are; one that failed need not have reported."""
    study, ends = facts.study, dict[str, list[int]]()
    for observation in study.history:
        ends.setdefault("failed" if observation.failed else "finished", []).append(
            observation.number
        )
    paused = {trial.number for trial in study.paused}
    for trial in study.pending:
        ends.setdefault("left" if trial.number in paused else "running", []).append(trial.number)
    return ends


def _words(facts: Facts, ends: dict[str, list[int]], stages: Stages) -> str:
    counts = {end: len(trials) for end, trials in ends.items()}
    said = {
        "finished": f"run to step {stages.last}",
        "left": "left before" if facts.result.verdict.stop else "paused before",
        "failed": "failed",
        "running": "being run",
    }
    parts = [f"{counts[end]} {words}" for end, words in said.items() if end in counts]
    begun = sum(counts.values())
    return f"{begun} trial{'s' * (begun != 1)} begun: {', '.join(parts)}."


def _rows(facts: Facts) -> list[_Row]:
    study = facts.study
    paid = {told.number: told.cost for told in study.history}
    why = dict[int, tuple[str | None, str]]()  # what going on was worth, and the reason
    for told in study.history:
        ended = type(told.outcome).__name__.lower() if told.failed else "finished"
        said = f"{ended}: {told.message}" if told.failed and told.message else ended
        why[told.number] = None, said
    why |= why_paused(facts)
    return [
        _Row(n, *_last(curve, paid.get(n)), *why.get(n, (None, "being run")))
        for n, curve in study.curves.items()
    ]


def why_paused(facts: Facts) -> dict[int, tuple[str | None, str]]:
    """Of each paused trial what going on was worth when it was left, and why it was."""
    left, worths = facts.study.why_left, facts.study.worth_going_on()
    return {
        n: _left_for(left[n], facts.sign) if n in left else _last_to_stay(facts, worths.get(n))
        for n in (trial.number for trial in facts.study.paused)
    }


def _last(curve: Sequence[Report], paid: float | None) -> tuple[int, float, float]:
    """Step, value and cost of a run; one that has failed may have paid more than it reported."""
    last = curve[-1]
    return last.step, last.value, last.cost if paid is None else paid


def _left_for(left: Left, sign: float) -> tuple[str | None, str]:
    """Why a trial was left for another action, by what was recorded then."""
    then, words = left.going_on, f"left for trial {left.chosen}"
    if then is None:
        return "not recorded", words
    if then.fair_value is None:
        return None, f"{words}: {_UNPAID}"
    if sign * then.fair_value < sign * left.chosen_fair_value:  # it had reported beside this one
        words = f"trial {left.chosen} went on, as it kept what it promised"
    values = f"fair value {number(left.chosen_fair_value)} against {number(then.fair_value)}"
    return _times(then.worth), f"{words}: {values}"


def _last_to_stay(facts: Facts, worth: float | None) -> tuple[str | None, str]:
    """Why a trial waits after whose last report nothing was chosen."""
    if not facts.result.verdict.stop:
        return _times(worth), "waits for the next choice"
    unpaid = worth is None and facts.study.budget is not None
    return _times(worth), "left when the study stopped" + (f": {_UNPAID}" if unpaid else "")


def _times(worth: float | None) -> str | None:
    return None if worth is None else f"{times(worth)} its price"
