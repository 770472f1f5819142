# SPDX-License-Identifier: Apache-2.0
"""The picture of the stopping signal against its threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from stopwise.acquisition import PBGID
from stopwise.core.traces import Signal, Trace
from stopwise.record.replay import Replayed, replay
from stopwise.stopping import PBGI, SignalKind, StoppingRule, traits_of
from stopwise.stopping.signals import GAIN_PER_COST, OBJECTIVE, OBJECTIVE_PER_COST
from stopwise.stopping.verdict import Verdict
from stopwise.study.budget_worth import lams_of_budget, trace_of_budget
from stopwise.tools.report._axis import axis_of, number, thinned
from stopwise.tools.report._chart import Chart
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._picture import MOST_POINTS, Picture, trials_axis

_TITLE = "Stopping signal against its threshold"


class _Row(NamedTuple):
    """One moment: the signal, the number that decides (perhaps an average), the threshold."""

    at: int
    trial: int
    signal: float
    decides: float
    threshold: float | None


def signal_picture(facts: Facts) -> Picture:
    """The stopping signal against its threshold; without a rule, the gain per cost alone."""
    rule = _deciding_rule(facts)
    kind = GAIN_PER_COST if rule is None else traits_of(rule).signal
    trace = _trace(facts, kind)
    if not trace:
        words = "No stopping rule has been asked yet."
        if facts.succeeded and facts.nothing_yet:
            keeps = "is believed to keep" if facts.names.noisy else "keeps"
            words = f"No gain was weighed. A rule judges what {keeps} all limits, and nothing has."
        return Picture("signal", _TITLE, words)
    replayed = None if rule is None else replay(facts.study.traces, rule)[0]
    verdicts = _by_budget(facts, trace) if replayed is None else replayed.verdicts
    rows = _rows(facts, kind, trace, verdicts)
    if not rows:
        who = "It" if rule is None else rule.name
        return Picture("signal", _TITLE, f"{who} has no answer yet.")
    kept = [rows[i] for i in thinned(len(rows), MOST_POINTS)]
    chart = _chart(facts, kind, rows, kept)
    words = _gain_words(rows) if replayed is None else _words(facts, replayed, kind, rows)
    header = ("evaluations", "trial", "signal", "signal that decides", "threshold")
    return Picture("signal", _TITLE, words, chart.svg(f"{_TITLE}. {words}"), header, kept)


def _trace(facts: Facts, kind: SignalKind) -> Trace | None:
    """The recorded signals; where a budget alone decides, that of this moment too."""
    trace = facts.study.traces.get(kind.key)
    if facts.study.options.budget_decides and facts.snapshot is not None:
        return trace_of_budget(facts.study.traces, facts.snapshot)
    return trace


def _by_budget(facts: Facts, trace: Trace) -> Mapping[int, Verdict]:
    """What the PBGI rule said at the lam that a budget has set; empty before it has."""
    acquisition = facts.study.acquisition
    if not isinstance(acquisition, PBGID):
        return {}
    lams = lams_of_budget(acquisition, trace)
    return {s.t: PBGI(lams[s.t]).verdict(trace.upto(s.n)) for s in trace}


def _deciding_rule(facts: Facts) -> StoppingRule | None:
    """The obeyed rule that gave the verdict, else the first that is obeyed; None without one."""
    rules = facts.study.rules
    named = [rule for rule in rules if rule.name == facts.result.verdict.rule]
    return next(iter([*named, *rules]), None)


def _rows(
    facts: Facts, kind: SignalKind, trace: Trace, verdicts: Mapping[int, Verdict]
) -> list[_Row]:
    """The moments at which there was an answer, on the scale on which people count."""
    return [
        _row(facts, kind, signal, verdicts.get(signal.t))
        for signal in trace
        if not math.isnan(signal.value)
    ]


def _row(facts: Facts, kind: SignalKind, signal: Signal, verdict: Verdict | None) -> _Row:
    scale = math.exp if kind.scale == "log" else float
    step = facts.succeeded[min(signal.n, len(facts.succeeded)) - 1]
    value = scale(signal.value)
    if verdict is None:
        return _Row(step.at, step.trial.number, value, value, None)
    threshold = verdict.threshold if math.isnan(verdict.threshold) else scale(verdict.threshold)
    return _Row(step.at, step.trial.number, value, scale(verdict.value), threshold)


def _chart(facts: Facts, kind: SignalKind, rows: Sequence[_Row], kept: Sequence[_Row]) -> Chart:
    """Signals as points, what decides as a line, the threshold as another."""
    levels = [(r.at, r.threshold) for r in rows if r.threshold is not None]
    numbers = [v for r in rows for v in (r.signal, r.decides)] + [level for _, level in levels]
    chart = Chart(trials_axis(facts), axis_of(numbers, _label(facts, kind)))
    if levels:
        chart.line([(1, levels[0][1]), *levels] if len(levels) == 1 else levels, "t")
    chart.points([(r.at, r.signal) for r in kept], "p", "dot", [r.trial for r in kept])
    chart.line([(r.at, r.decides) for r in rows], "a")
    averaged = any(r.signal != r.decides for r in rows)
    if len(rows) > 1:
        chart.key("averaged" if averaged else "signal", "a")
    if averaged or len(rows) == 1:  # a line through one point is not to be seen
        chart.key("signal", "p", "dot")
    if levels:
        chart.key("threshold", "t")
    return chart


def _label(facts: Facts, kind: SignalKind) -> str:
    """The signal with its unit, if it has one that somebody has named."""
    names = facts.names
    if kind.unit == OBJECTIVE_PER_COST and (names.value_name or names.cost_unit):
        return f"expected gain, {facts.units} per {names.one_of_cost}"
    if kind.unit == OBJECTIVE and names.value_name and not facts.has_utility:
        return f"{kind.label} ({names.value_name})"
    return kind.label


def _gain_words(rows: Sequence[_Row]) -> str:
    now, lam = rows[-1].decides, rows[-1].threshold
    words = (
        "No rule is obeyed but the budget; shown is what the best remaining candidate was"
        f" expected to gain per unit of cost. It is now {number(now)}."
    )
    if lam is None:
        return words
    worth = "is worth it" if now > lam else "is not worth it"
    return (
        f"{words} The threshold is the lam that the budget has set, halved each time it was"
        f" reached: {number(lam)} now, at which going on {worth}."
    )


def _words(facts: Facts, replayed: Replayed, kind: SignalKind, rows: Sequence[_Row]) -> str:
    name, value, threshold = replayed.rule.name, rows[-1].decides, rows[-1].threshold
    if threshold is None or math.isnan(threshold):
        return f"{name}: the signal is now {number(value)}, and there is no threshold yet."
    reached = "is reached" if replayed.stop_t is not None else "is not reached"
    against = f"the threshold of {number(threshold)} {reached}"
    words = f"{name}, {kind.label}: now {number(value)}; {against}."
    last = facts.result.verdict.rule
    return words if last == name else f"{words} The last word was with {last}."
