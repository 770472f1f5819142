# SPDX-License-Identifier: Apache-2.0
"""Explanations: which departure of the published code makes a published number differ from ours.

Departures are switched on in the replay, first one by one, then all together. A departure explains
a difference if it closes more than half of it and the two numbers are then within two combined
standard errors of each other; one that closes more than half and does not reach that is reported
as a partial explanation. Departures that no replay can show are listed as suspects beside the
numbers that they affect.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stopwise_paper.analysis.departures import (
    DEPARTURES,
    NOT_REPLAYABLE,
    PUBLISHED_DEPARTURES,
)
from stopwise_paper.analysis.published import Comparison, PublishedMean, compare
from stopwise_paper.analysis.regret import IMMEDIATE, Mean, means, regret_rows
from stopwise_paper.runs.trajectory import Trajectory

PLAIN = "plain"
TOGETHER = "together"
UNEXPLAINED = ""
_NEEDS = {"flat-stops": "trace-iqr"}  # departures that have no effect without another
_CAP = "cap"
_PUBLISHED_CAP = 500
_REMAINING = 0.5  # the part of a difference that may remain where something explains it
SUSPECTS = {
    **NOT_REPLAYABLE,
    _CAP: "our runs end earlier than the published ones, which end at 500 evaluations",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """A published number that differs from ours, and what explains it.

    Args:
        compared: The two numbers.
        cause: A name of ``DEPARTURES``, ``"together"`` for all of an experiment at once,
            ``"plain"`` if rules without averages suffice, or empty.
        wholly: Whether ours agrees once the cause is switched on; else it goes more than half of
            the way.
        value: Ours with the cause switched on; nan if nothing explains the difference.
        suspects: Departures that affect the number and cannot be replayed.
    """

    compared: Comparison
    cause: str
    wholly: bool
    value: float
    suspects: tuple[str, ...]


def differences(
    compared: Sequence[Comparison], views: Sequence[Trajectory], lams: Sequence[float]
) -> list[Difference]:
    """Every number that differs by more than two combined standard errors, explained.

    Args:
        compared: All numbers of one experiment.
        views: Its trajectories, with one price each.
        lams: Lambdas of the rules.
    """
    different = [c for c in compared if c.verdict in ("better", "worse")]
    if not different:
        return []
    experiment = different[0].number.experiment
    numbers = [c.number for c in different]
    replays: dict[PublishedMean, dict[str, Comparison]] = {number: {} for number in numbers}
    for name, table in _replayed(views, lams, PUBLISHED_DEPARTURES[experiment]).items():
        for replay in compare(table, table, numbers):
            replays[replay.number][name] = replay
    capped = max(view.cell.cap for view in views) < _PUBLISHED_CAP
    highest: dict[tuple[str, float], float] = {}
    for c in compared:
        where = (c.number.cost, c.number.lam)
        highest[where] = max(highest.get(where, 0.0), c.ours)
    return [
        _explained(
            c, replays[c.number], highest[c.number.cost, c.number.lam] if capped else math.inf
        )
        for c in different
    ]


def _replayed(
    views: Sequence[Trajectory], lams: Sequence[float], departures: Sequence[str]
) -> dict[str, list[Mean]]:
    """Means of plain rules, with each departure alone, and with all."""
    sets = {name: {name, *filter(None, [_NEEDS.get(name)])} for name in departures}
    sets = {PLAIN: set(), **sets, TOGETHER: set(departures)}
    return {
        name: means(regret_rows(views, lams, departures=switched_on))
        for name, switched_on in sets.items()
    }


def _explained(
    compared: Comparison, replays: Mapping[str, Comparison], highest: float
) -> Difference:
    """The difference with what closes most of it: no averaging, one departure, or all of them."""
    single = dict(replays)
    plain, together = single.pop(PLAIN), single.pop(TOGETHER, None)
    averaged = [(PLAIN, plain)] if plain.ours != compared.ours else []
    alone = sorted(single.items(), key=lambda item: _gap(item[1]))
    last = [(TOGETHER, together)] if together is not None else []
    for wholly in (True, False):
        for tried, gap in ((averaged, _gap(compared)), (alone, _gap(plain)), (last, _gap(plain))):
            for name, replay in tried:
                if _gap(replay) < _REMAINING * gap and (_agrees(compared, replay) or not wholly):
                    suspects = tuple(_suspects(replay, highest))
                    return Difference(compared, name, wholly, replay.ours, suspects)
    suspects = tuple(_suspects(compared, highest))
    return Difference(compared, UNEXPLAINED, wholly=False, value=math.nan, suspects=suspects)


def _gap(compared: Comparison) -> float:
    return abs(compared.ours - compared.number.value)


def _agrees(compared: Comparison, replay: Comparison) -> bool:
    """Within two combined standard errors; where none was published, that of our own replay."""
    errors = (replay.ours_se, compared.theirs_se, compared.number.reading)
    return _gap(replay) <= 2.0 * math.hypot(*errors)


def _suspects(compared: Comparison, highest: float) -> Iterator[str]:
    """Departures that affect a number and cannot be replayed.

    Args:
        compared: The two numbers.
        highest: The highest of our numbers at this cost and lambda, where our runs end earlier
            than the published ones (else infinite): a published number above it, or a run of ours
            that no rule stopped, was decided by the cap.
    """
    number = compared.number
    experiment, acquisition, rule = number.experiment, number.acquisition, number.rule
    on_tables = experiment in ("lcbench", "unknown-cost")
    varied = number.cost in ("linear", "periodic")
    gridded = experiment == "gp1d" and acquisition != "ts"  # TS was not on the grid
    affected = {
        "lcb-sign": on_tables and acquisition == "lcb",
        "ts-seed": on_tables and acquisition == "ts",
        "kappa-direction": on_tables and rule in ("ucb-lcb", "srgap-med"),
        "prb-fraction": on_tables and rule == "prb",
        "srgap-points": rule == "srgap-med",
        "wide-bounds": not on_tables and rule in ("ucb-lcb", "srgap-med"),
        "beta-count": not on_tables and (rule == "ucb-lcb" or acquisition == "lcb"),
        "mask-shift": gridded and rule != IMMEDIATE,
        "pbgi-gradient": experiment == "gp8d" and varied and acquisition == "pbgi",
        "lcb-beta": varied and acquisition == "lcb",
        _CAP: experiment == "gp8d"
        and math.isfinite(highest)
        and (compared.non_stops > 0 or number.value > highest),
        "initial-design": rule == IMMEDIATE,
    }
    yield from (name for name, is_affected in affected.items() if is_affected)


def report(explained: Sequence[Difference], compared: Sequence[Comparison]) -> str:
    """The differences in Markdown: a sentence for each explanation, and its numbers."""
    agreeing = sum(c.verdict == "agrees" for c in compared)
    lines = [
        f"{agreeing} of {len(compared)} numbers agree within two combined standard errors.",
        "",
    ]
    by_cause: dict[tuple[bool, str], list[Difference]] = {}
    for difference in explained:
        by_cause.setdefault((not difference.wholly, difference.cause), []).append(difference)
    order = [PLAIN, *DEPARTURES, TOGETHER, UNEXPLAINED]
    for partly, cause in sorted(by_cause, key=lambda key: (key[0], order.index(key[1]))):
        group = by_cause[partly, cause]
        lines += [_heading(cause, len(group), partly=partly), "", *_table(group), ""]
    suspects = dict.fromkeys(name for difference in explained for name in difference.suspects)
    if suspects:
        lines += ["What cannot be replayed:", ""]
        lines += [f"- `{name}`: {SUSPECTS[name]}." for name in suspects]
        lines.append("")
    return "\n".join(lines)


def _heading(cause: str, count: int, *, partly: bool) -> str:
    numbers = f"{count} number{'s' if count != 1 else ''}"
    if cause == UNEXPLAINED:
        return (
            f"**Not shown by replay, {numbers}.** Beside each stands what touches it and cannot"
            " be replayed."
        )
    name, sentence = {
        PLAIN: ("Averaging", "Ours without averages over 20 evaluations"),
        TOGETHER: ("All departures together", "None alone is enough"),
    }.get(cause, (f"`{cause}`", DEPARTURES.get(cause, "")))
    part = ", more than half of the way" if partly else ""
    return f"**{name}, {numbers}{part}.** {sentence[0].upper()}{sentence[1:]}."


def _table(group: Sequence[Difference]) -> Iterator[str]:
    heads = (
        "problem",
        "lambda",
        "acquisition",
        "rule",
        "ours",
        "published",
        "with it",
        "suspects",
    )
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * len(heads) + "|"
    for difference in group:
        compared, number = difference.compared, difference.compared.number
        where = number.problem.rpartition(":")[2]
        where += f", {number.cost}" if number.problem.startswith("gp") else ""
        ours = f"{compared.ours:.3g} +- {compared.ours_se:.2g}"
        theirs = f"{number.value:.3g}" + (
            f" (+- {compared.theirs_se:.2g}, ours at 50 seeds)"
            if compared.assumed
            else f" +- {compared.theirs_se:.2g}"
        )
        shown = "" if difference.cause == UNEXPLAINED else f"{difference.value:.3g}"
        suspects = ", ".join(f"`{name}`" for name in difference.suspects) or "none known"
        cells = (where, f"{number.lam:g}", number.acquisition, number.rule, ours, theirs, shown)
        yield "| " + " | ".join((*cells, suspects)) + " |"
