# SPDX-License-Identifier: Apache-2.0
"""The pictures of a report over its trials: best value, cost-adjusted value, costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from stopwise.core.units import titled
from stopwise.tools.report._axis import Axis, axis_of, number, thinned
from stopwise.tools.report._chart import Chart
from stopwise.tools.report._facts import Facts, Step
from stopwise.tools.report._picture import MOST_POINTS, Picture, trials_axis

_FEW = 8  # values of which none is called far off
_FAR = 6.0  # an axis is cut off where it would else be so many times as long
_AS_IS = 5e-4  # costs that differ by a smaller share are written alike
_VALUE_TITLE = "Cost-adjusted value over time"


def best_picture(facts: Facts) -> Picture:
    """Best value against what was spent."""
    title = f"{facts.names.best.capitalize()} {facts.names.name or 'value'} against what was spent"
    done = facts.succeeded
    if not done:
        return Picture("best", title, facts.nothing_yet)
    # With noise the value of the best may be beyond the others.
    believed = [value for _, value in facts.marked] if facts.names.noisy else []
    values = [*(float(step.trial.value or 0.0) for step in done), *believed]
    y, positions = _robust(values, facts.sign, facts.names.value_label)
    beyond = {done[i].at for i in positions if i < len(done)}
    shown = _shown(facts.steps)
    budget = facts.study.budget
    reach = [0.0, facts.steps[-1].spent, budget or 0.0]
    by, unit = facts.names.for_axis(max(reach))
    chart = Chart(axis_of([r / by for r in reach], titled("spent", unit), log=False), y)
    _line_of_best(chart, facts, by)
    points = [(s.spent / by, s.trial.value, s) for s in shown if s.trial.value is not None]
    near, far_off = ([p for p in points if (p[2].at in beyond) == far] for far in (False, True))
    _trial_points(chart, near, "beyond a limit" if facts.names.noisy else "infeasible")
    _plot(chart, far_off, "p", "up" if facts.sign > 0 else "down")
    _mark_best(chart, facts, by)
    _marked(chart, [(s.spent / by, y.low, s) for s in shown if s.trial.failed], "failed", "cross")
    if budget is not None:
        chart.upright(budget / by, "t")
        chart.key("budget", "t")
    words = _best_words(facts, len(beyond))
    rows = [(s.trial.number, s.spent, s.trial.value, s.best) for s in shown]
    labels = (titled("spent", facts.names.cost_unit), facts.names.value_label)
    header = ("trial", *labels, f"{facts.names.best} so far")
    picture = Picture("best", title, words, chart.svg(f"{title}. {words}"), header, rows)
    return _with_status(picture, facts, shown)


def _with_status(picture: Picture, facts: Facts, steps: Sequence[Step]) -> Picture:
    """A picture with a column of how each evaluation ended, if any failed or broke a limit."""
    status = [facts.status(step) for step in steps]
    if not any(status):
        return picture
    rows = [(*row, said) for row, said in zip(picture.rows, status, strict=True)]
    return replace(picture, header=(*picture.header, "status"), rows=rows)


def _line_of_best(chart: Chart, facts: Facts, by: float) -> None:
    """The best value so far; costs are divided by ``by``."""
    best = [(s.spent / by, s.best) for s in facts.steps if s.best is not None]
    if best:
        chart.line(best, "a", steps=True)
        chart.key(f"{facts.names.best} so far", "a")


def _mark_best(chart: Chart, facts: Facts, by: float) -> None:
    """A diamond at the best configuration; costs are divided by ``by``."""
    for step, value in facts.marked:
        _plot(chart, [(step.spent / by, value, step)], "b", "diamond")
        chart.key("best, as believed" if facts.names.noisy else "best", "b", "diamond")


def _best_words(facts: Facts, beyond: int) -> str:
    words = facts.nothing_yet
    if not words:
        first, last = ([s for s in facts.steps if s.improved][i] for i in (0, -1))
        seen = facts.names.best if facts.names.noisy else "best observed"
        within = " within all limits" if facts.names.noisy and facts.study.options.limits else ""
        words = (
            f"After {_trials(len(facts.steps))} and {facts.paid(facts.steps[-1].spent)} spent, the"
            f" {seen} {facts.names.name or 'value'}{within} is"
            f" {facts.said(float(last.best or 0.0))}, found at trial {last.trial.number}; the"
            f" first was {facts.said(float(first.best or 0.0))}."
        )
    failed = len(facts.steps) - len(facts.succeeded)
    if failed:
        words += f" {failed} failed (crosses at the foot)."
    infeasible = sum(step.trial.infeasible for step in facts.steps)
    if infeasible:
        words += f" {_beyond_limits(infeasible, noisy=facts.names.noisy)}"
    if beyond:
        words += f" {beyond} far off are drawn at the edge (triangles)."
    if facts.names.noisy:
        words += f" {facts.luck} {facts.belief}".rstrip()
    elif not facts.is_exact:
        words += " Values are noisy, and the best observed one is flattered by luck."
    return words


def _beyond_limits(count: int, *, noisy: bool) -> str:
    """How many are drawn as hollow squares, and whether one of them may be the best."""
    if not noisy:
        return f"{count} broke a limit (hollow squares) and cannot be the best."
    was = "was" if count == 1 else "were"
    return (
        f"{count} {was} measured beyond a limit (hollow squares): with noise such a configuration"
        " may be believed within it, and be the best."
    )


def value_picture(facts: Facts) -> Picture:
    """Cost-adjusted value over time: what is in hand, less what it cost."""
    title = "Cost-adjusted worth over time" if facts.has_utility else _VALUE_TITLE
    sign = -1.0 if facts.has_utility else facts.sign
    lam = facts.lam
    if lam is None:
        words = "There is no lam, so nothing says what a unit of cost is worth."
        return Picture("value", title, words)
    points = [(s, a) for s in facts.steps if (a := facts.adjusted(s)) is not None]
    if not points:
        return Picture("value", title, facts.nothing_yet)
    label = f"{facts.names.value_label} with its cost"
    if facts.has_utility:
        label = f"worth less cost ({facts.units})"
    y, beyond = _robust([a for _, a in points], sign, label)
    chart = Chart(trials_axis(facts), y)
    kept = [points[i] for i in thinned(len(points), MOST_POINTS)]
    _plot(chart, [(s.at, a, s) for s, a in kept], "p")
    chart.line([(s.at, a) for s, a in points], "a")
    top, least = min(points, key=lambda p: sign * p[1])
    chart.points([(top.at, least)], "b", "diamond", [top.trial.number])
    chart.key(f"{facts.names.best} so far, cost included", "a")
    chart.key("best end in hindsight", "b", "diamond")
    words = (
        f"{_counted(facts)} lam = {number(lam)} times what was spent. In hindsight the"
        f" best moment to stop was after {_trials(top.at)}, at {number(least)}; it now stands at"
        f" {number(points[-1][1])}."
    )
    words += _believed_now(facts)
    if beyond:
        words += " Moments that are far off run along the edge."
    rows = [(s.at, s.trial.number, s.best, s.spent, a) for s, a in kept]
    spent = titled("spent", facts.names.cost_unit)
    seen = facts.names.best
    header = ("evaluations", "trial", f"{seen} so far", spent, f"{seen} with its cost")
    return Picture("value", title, words, chart.svg(f"{title}. {words}"), header, rows)


def _counted(facts: Facts) -> str:
    """Which value is counted with its cost, in words that lam follows."""
    value = f"{facts.names.best} value so far"
    if facts.has_utility:
        return f"What the {value} is worth, less"
    return f"The {value} {'plus' if facts.sign > 0 else 'less'}"


def _believed_now(facts: Facts) -> str:
    """With noise, where the believed value of the best configuration stands with its cost."""
    best = facts.believed_best
    if not facts.names.noisy or best is None:
        return ""
    now = facts.with_cost(best.value, facts.steps[-1].spent)
    there = "" if now is None else f", with which it stands at {number(now)}"
    return f" {facts.luck} {facts.belief.removesuffix('.')}{there}."


def costs_picture(facts: Facts) -> Picture:
    """Expected and actual cost of every trial."""
    title = "Expected and actual cost"
    shown = _shown(facts.steps)
    if not shown:
        return Picture("costs", title, "Nothing has been evaluated yet.")
    foreseen = [s for s in shown if s.trial.expected_cost is not None]
    by, unit = facts.names.for_axis(max(s.trial.cost for s in shown))
    numbers = [s.trial.cost / by for s in shown]
    numbers += [float(s.trial.expected_cost or 0.0) / by for s in foreseen]
    positive = [c for c in numbers if c > 0]
    y = axis_of(positive if axis_of(positive, "").log else [0.0, *numbers], titled("cost", unit))
    chart = Chart(trials_axis(facts), y)
    expected = [(s.at, float(s.trial.expected_cost or 0.0) / by) for s in foreseen]
    chart.points(expected, "t", "dash")
    points = [(s.at, s.trial.cost / by, s) for s in shown]
    _plot(chart, [p for p in points if not p[2].trial.failed], "p")
    chart.key("actual", "p", "dot")
    if foreseen:
        chart.key("expected when asked", "t", "dash")
    _marked(chart, [p for p in points if p[2].trial.failed], "failed", "cross")
    words = _cost_words(facts)
    rows = [(s.at, s.trial.number, s.trial.expected_cost, s.trial.cost) for s in shown]
    unit = facts.names.cost_unit
    costs = (titled(f"{kind} cost", unit) for kind in ("expected", "actual"))
    header = ("evaluations", "trial", *costs)
    picture = Picture("costs", title, words, chart.svg(f"{title}. {words}"), header, rows)
    return _with_status(picture, facts, shown)


def _cost_words(facts: Facts) -> str:
    costs = [s.trial.cost for s in facts.steps]
    expected = [s.trial for s in facts.steps if s.trial.expected_cost is not None]
    words = f"A trial cost {facts.paid(min(costs))} to {facts.paid(max(costs))}."
    if min(costs) == max(costs):
        words = f"Every trial cost {facts.paid(costs[0])}."
    ratios = [t.cost / t.expected_cost for t in expected if t.expected_cost and t.cost > 0]
    if not ratios:
        return f"{words} Nobody could say beforehand."
    off = [t for t in expected if not math.isclose(t.cost, t.expected_cost or 0.0, rel_tol=_AS_IS)]
    if not off:
        return f"{words} Costs were as expected."
    middle = float(np.median(np.abs(np.log(ratios))))
    if middle > _AS_IS:
        factor = number(math.exp(middle))
        return f"{words} Half of them came within a factor of {factor} of what was expected."
    worst = max(off, key=lambda t: abs(t.cost - (t.expected_cost or 0.0)))
    paid = f"cost {facts.paid(worst.cost)} where {facts.paid(worst.expected_cost or 0.0)} was"
    trial = f"trial {worst.number}"
    which = trial if len(off) == 1 else f"furthest off was {trial}, which"
    kept = f"{len(expected) - len(off)} of {len(expected)} cost what was expected"
    return f"{words} {kept}; {which} {paid}."


def _robust(values: Sequence[float], sign: float, label: str) -> tuple[Axis, set[int]]:
    """An axis that a few very bad values do not spoil, and the positions of those beyond it."""
    ordered = np.array(values) * sign
    low, quarter, three = np.quantile(ordered, [0.0, 0.25, 0.75])
    limit = three + 3.0 * max(three - quarter, 1e-9 * abs(three))
    if len(values) < _FEW or ordered.max() - low < _FAR * (limit - low):
        return axis_of(values, label, log=False), set()
    axis = axis_of([sign * low, sign * float(limit)], label, log=False)
    return axis, {int(i) for i in np.flatnonzero(ordered > limit)}


def _plot(
    chart: Chart, points: Sequence[tuple[float, float, Step]], style: str, shape: str = "dot"
) -> None:
    """Points that know their trial."""
    chart.points(
        [(x, y) for x, y, _ in points], style, shape, [s.trial.number for *_, s in points]
    )


def _trial_points(chart: Chart, points: Sequence[tuple[float, float, Step]], beyond: str) -> None:
    """Trials with a value: dots, and squares for those that were measured beyond a limit."""
    _plot(chart, [p for p in points if not p[2].trial.infeasible], "p")
    chart.key("trial", "p", "dot")
    _marked(chart, [p for p in points if p[2].trial.infeasible], beyond, "square")


def _marked(
    chart: Chart, points: Sequence[tuple[float, float, Step]], words: str, shape: str
) -> None:
    """Trials that failed or broke a limit, in a shape of their own, and its key."""
    _plot(chart, points, "f", shape)
    if points:
        chart.key(words, "f", shape)


def _shown(steps: Sequence[Step]) -> list[Step]:
    """The steps that are drawn: all, or of very many evenly chosen ones and the improvements."""
    keep = [i for i, step in enumerate(steps) if step.improved]
    return [steps[i] for i in thinned(len(steps), MOST_POINTS, keep)]


def _trials(count: int) -> str:
    return f"{count} trial" if count == 1 else f"{count} trials"
