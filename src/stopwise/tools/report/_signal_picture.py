# SPDX-License-Identifier: Apache-2.0
"""The stopping signal against its threshold."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from stopwise.core.traces import Signal
from stopwise.record.replay import Replayed, replay
from stopwise.stopping import LogEIPCMedian, StoppingRule
from stopwise.stopping.verdict import Verdict
from stopwise.tools.report._axis import axis_of, number, thinned
from stopwise.tools.report._chart import Chart
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._picture import MOST_POINTS, Picture, trials_axis

Row = tuple[int, int, float, float, float]

_SIGNALS = {
    "pbgi": "expected gain per unit of cost",
    "logeipc-med": "expected gain per unit of cost",
    "srgap-med": "gap of expected regrets",
    "ucb-lcb": "gap between the bounds",
    "prb": "probability of a larger gain",
    "gss": "gain per interquartile range",
    "convergence": "trials without improvement",
    "immediate": "trials after the initial design",
    "fixed": "trials after the initial design",
}


def signal_picture(facts: Facts) -> Picture:
    """The stopping signal against its threshold."""
    title = "Stopping signal against its threshold"
    rule = deciding_rule(facts)
    trace = None if rule is None else facts.study.traces.get(rule.key)
    if rule is None or not trace:
        return Picture("signal", title, "No stopping rule has been asked yet.")
    [replayed] = replay(facts.study.traces, rule)
    scale = math.exp if rule.signal_scale == "log" else float
    asked = [(s, replayed.verdicts[s.t]) for s in trace if not math.isnan(s.value)]
    rows = [_signal_row(facts, signal, verdict, scale) for signal, verdict in asked]
    if not rows:
        return Picture("signal", title, f"{rule.name} has no answer yet.")
    obeyed = rule in facts.study.rules
    numbers = [v for row in rows for v in row[2:5]]
    label = _SIGNALS.get(rule.name, rule.key)
    y = axis_of(numbers, label)
    chart = Chart(trials_axis(facts), y)
    if obeyed:
        levels = [(r[0], r[4]) for r in rows]
        chart.line([(1, rows[0][4]), *levels] if len(rows) == 1 else levels, "t")
    kept = [rows[i] for i in thinned(len(rows), MOST_POINTS)]
    chart.points([(r[0], r[2]) for r in kept], "p", "dot", [r[1] for r in kept])
    chart.line([(r[0], r[3]) for r in rows], "a")
    smooth = any(r[2] != r[3] for r in rows)
    chart.key("averaged" if smooth else "signal", "a")
    if smooth:
        chart.key("signal", "p", "dot")
    if obeyed:
        chart.key("threshold", "t")
    words = _signal_words(facts, replayed, rows, obeyed=obeyed)
    header = ("told", "trial", "signal", "signal that decides", "threshold")
    listed = [(r[0], r[1], r[2], r[3], r[4] if obeyed else None) for r in kept]
    return Picture("signal", title, words, chart.svg(f"{title}. {words}"), header, listed)


def deciding_rule(facts: Facts) -> StoppingRule | None:
    """The rule that gave the verdict, else the first that is obeyed, else gain per cost."""
    rules = facts.study.rules
    named = [rule for rule in rules if rule.name == facts.result.verdict.rule]
    fallback = LogEIPCMedian()  # its signal is recorded whenever a trial is chosen
    return next(iter([*named, *rules]), fallback if facts.snapshot else None)


def _signal_row(
    facts: Facts,
    signal: Signal,
    verdict: Verdict,
    scale: Callable[[float], float],
) -> Row:
    step = facts.succeeded[min(signal.n, len(facts.succeeded)) - 1]
    decides = scale(verdict.value)
    threshold = verdict.threshold if math.isnan(verdict.threshold) else scale(verdict.threshold)
    return step.at, step.trial.number, scale(signal.value), decides, threshold


def _signal_words(
    facts: Facts,
    replayed: Replayed,
    rows: Sequence[Row],
    *,
    obeyed: bool,
) -> str:
    rule = replayed.rule
    _, _, _, value, threshold = rows[-1]
    if not obeyed:
        return (
            "No rule is obeyed but the budget; shown is what the best remaining candidate was"
            f" expected to gain per unit of cost. It is now {number(value)}."
        )
    if math.isnan(threshold):
        return f"{rule.name}: the signal is now {number(value)}, and there is no threshold yet."
    what = _SIGNALS.get(rule.name, rule.key)
    reached = "is reached" if replayed.verdict and replayed.verdict.stop else "is not reached"
    against = f"the threshold of {number(threshold)} {reached}"
    words = f"{rule.name}, {what}: now {number(value)}; {against}."
    verdict = facts.result.verdict
    return (
        words if verdict.rule == rule.name else f"{words} The last word was with {verdict.rule}."
    )
