# SPDX-License-Identifier: Apache-2.0
"""The picture of promises: the gains that choices promised, against those that came, added up."""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

from stopwise.tools.report._axis import axis_of, number, thinned
from stopwise.tools.report._chart import Chart
from stopwise.tools.report._facts import Facts, Step
from stopwise.tools.report._picture import MOST_POINTS, Picture, trials_axis

_TITLE = "Gains promised and gains delivered"


class _Row(NamedTuple):
    """A choice that was told: its gains, and the sums of all gains so far."""

    at: int
    trial: int
    promised: float
    delivered: float
    promised_so_far: float
    delivered_so_far: float


def promises_picture(facts: Facts) -> Picture:
    """The gains that choices promised and those that came, each added up in the order told."""
    rows = _rows(facts)
    if not rows:
        return Picture("promises", _TITLE, "No choice of the acquisition has been told yet.")
    kept = [rows[i] for i in thinned(len(rows), MOST_POINTS)]
    sums = [n for row in rows for n in (row.promised_so_far, row.delivered_so_far)]
    named = facts.study.options.gain_unit
    label = f"gain in {named}, added up" if named else "gain, added up"
    chart = Chart(trials_axis(facts), axis_of([0.0, *sums], label, log=False))
    before = rows[0].at - 1  # where both sums are 0
    promised = [(row.at, row.promised_so_far) for row in rows]
    delivered = [(row.at, row.delivered_so_far) for row in rows]
    for words, style, line in (("promised", "t", promised), ("delivered", "a", delivered)):
        chart.line([(before, 0.0), *line], style, steps=True)
        chart.key(words, style)
    points = [(row.at, row.delivered_so_far) for row in kept if row.delivered > 0.0]
    chart.points(points, "p", "dot", [row.trial for row in kept if row.delivered > 0.0])
    if points:
        chart.key("a gain", "p", "dot")
    words = _words(facts, rows)
    header = (
        "evaluations",
        "trial",
        "promised",
        "delivered",
        "promised so far",
        "delivered so far",
    )
    return Picture("promises", _TITLE, words, chart.svg(f"{_TITLE}. {words}"), header, kept)


def _rows(facts: Facts) -> list[_Row]:
    promises = {p.trial: p for p in facts.study.promises.told}
    steps: list[Step] = [step for step in facts.steps if step.trial.number in promises]
    told = [promises[step.trial.number] for step in steps]
    promised = [p.promised for p in told]
    delivered = [float(p.delivered or 0.0) for p in told]
    columns = (promised, delivered, accumulate(promised), accumulate(delivered))
    gains = zip(*columns, strict=True)
    return [_Row(s.at, s.trial.number, *row) for s, row in zip(steps, gains, strict=True)]


def _words(facts: Facts, rows: list[_Row]) -> str:
    last = rows[-1]
    choices = "The one choice" if len(rows) == 1 else f"The {len(rows)} choices"
    promised = f"{number(last.promised_so_far)} {facts.study.options.gain_unit}".strip()
    words = (
        f"{choices} of the acquisition promised {promised} in all,"
        f" and {number(last.delivered_so_far)} came."
    )
    gained = sum(row.delivered > 0.0 for row in rows)
    some = gained or "none"
    words += f" {str(some).capitalize()} of them gained something."
    if not facts.is_exact:
        move = "a fall of the lowest" if facts.sign > 0 else "a rise of the highest"
        words += f" Values are noisy: a gain is {move} posterior mean among evaluated points."
    return words
