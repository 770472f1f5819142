# SPDX-License-Identifier: Apache-2.0
"""Why a published number is not ours: which departure of the published code explains it.

Departures are switched on in the replay, first one by one, then all together. One explains a
difference if it closes more than half of it and the two numbers are then within two combined
standard errors of each other; one that closes more than half and is not enough is said to be so.
What no replay can show is named by what it touches.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stopwise_paper.published import Compared, Number, compare
from stopwise_paper.quirks import NOT_REPLAYABLE, PUBLISHED, QUIRKS
from stopwise_paper.regret import IMMEDIATE, Mean, means, regret_rows
from stopwise_paper.trajectory import Trajectory

PLAIN = "plain"
TOGETHER = "together"
UNEXPLAINED = ""
_NEEDS = {"flat-stops": "trace-iqr"}  # departures that are nothing alone
_CAP = "cap"
_PUBLISHED_CAP = 500
_MOST = 0.5  # of a difference may remain where something explains it
SUSPECTS = {
    **NOT_REPLAYABLE,
    _CAP: "our runs end earlier than the published ones, which end at 500 evaluations",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """A published number that is not ours, and what explains it.

    Args:
        compared: The two numbers.
        by: A name of ``QUIRKS``, ``"together"`` for all of an experiment at once, ``"plain"`` if
            rules without averages suffice, or empty.
        wholly: Whether ours agrees with it; else it is more than half of the way.
        value: Ours with it; nan if nothing explains it.
        suspects: Departures that touch it and cannot be replayed.
    """

    compared: Compared
    by: str
    wholly: bool
    value: float
    suspects: tuple[str, ...]


def differences(
    compared: Sequence[Compared], views: Sequence[Trajectory], lams: Sequence[float]
) -> list[Difference]:
    """Every number that differs by more than two combined standard errors, explained.

    Args:
        compared: All numbers of one experiment.
        views: Its trajectories, with one price each.
        lams: Of the rules.
    """
    found = [c for c in compared if c.verdict in ("better", "worse")]
    if not found:
        return []
    experiment = found[0].number.experiment
    numbers = [c.number for c in found]
    again: dict[Number, dict[str, Compared]] = {number: {} for number in numbers}
    for name, table in _switched(views, lams, PUBLISHED[experiment]).items():
        for replay in compare(table, table, numbers):
            again[replay.number][name] = replay
    capped = max(view.cell.cap for view in views) < _PUBLISHED_CAP
    highest: dict[tuple[str, float], float] = {}
    for c in compared:
        where = (c.number.cost, c.number.lam)
        highest[where] = max(highest.get(where, 0.0), c.ours)
    return [
        _explained(
            c, again[c.number], highest[c.number.cost, c.number.lam] if capped else math.inf
        )
        for c in found
    ]


def _switched(
    views: Sequence[Trajectory], lams: Sequence[float], quirks: Sequence[str]
) -> dict[str, list[Mean]]:
    """Means of plain rules, with each departure alone, and with all."""
    sets = {name: {name, *filter(None, [_NEEDS.get(name)])} for name in quirks}
    sets = {PLAIN: set(), **sets, TOGETHER: set(quirks)}
    return {
        name: means(regret_rows(views, lams, published_quirks=own)) for name, own in sets.items()
    }


def _explained(compared: Compared, again: Mapping[str, Compared], most: float) -> Difference:
    """By what closes most of the gap: averaging first, one departure, all of them."""
    found = dict(again)
    plain, together = found.pop(PLAIN), found.pop(TOGETHER, None)
    averaged = [(PLAIN, plain)] if plain.ours != compared.ours else []
    alone = sorted(found.items(), key=lambda item: _gap(item[1]))
    last = [(TOGETHER, together)] if together is not None else []
    for wholly in (True, False):
        for tried, gap in ((averaged, _gap(compared)), (alone, _gap(plain)), (last, _gap(plain))):
            for name, replay in tried:
                if _gap(replay) < _MOST * gap and (_agrees(compared, replay) or not wholly):
                    suspects = tuple(_suspects(replay, most))
                    return Difference(compared, name, wholly, replay.ours, suspects)
    suspects = tuple(_suspects(compared, most))
    return Difference(compared, UNEXPLAINED, wholly=False, value=math.nan, suspects=suspects)


def _gap(compared: Compared) -> float:
    return abs(compared.ours - compared.number.value)


def _agrees(compared: Compared, replay: Compared) -> bool:
    """Within two combined standard errors; where none was published, by ours as it is."""
    errors = (replay.ours_se, compared.theirs_se, compared.number.reading)
    return _gap(replay) <= 2.0 * math.hypot(*errors)


def _suspects(compared: Compared, most: float) -> Iterator[str]:
    """What touches a number and cannot be replayed.

    Args:
        compared: The two numbers.
        most: The largest of ours at this cost and lambda, where our runs end earlier than the
            published ones: who is above it, or never stopped here, was stopped by the cap alone.
    """
    number = compared.number
    experiment, acquisition, rule = number.experiment, number.acquisition, number.rule
    on_tables = experiment in ("lcbench", "unknown-cost")
    varied = number.cost in ("linear", "periodic")
    gridded = experiment == "gp1d" and acquisition != "ts"  # TS was not on the grid
    touches = {
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
        and math.isfinite(most)
        and (compared.non_stops > 0 or number.value > most),
        "initial-design": rule == IMMEDIATE,
    }
    yield from (name for name, touched in touches.items() if touched)


def report(found: Sequence[Difference], compared: Sequence[Compared]) -> str:
    """The differences in Markdown: a sentence for each explanation, and its numbers."""
    agreeing = sum(c.verdict == "agrees" for c in compared)
    lines = [
        f"{agreeing} of {len(compared)} numbers agree within two combined standard errors.",
        "",
    ]
    by_cause: dict[tuple[bool, str], list[Difference]] = {}
    for difference in found:
        by_cause.setdefault((not difference.wholly, difference.by), []).append(difference)
    order = [PLAIN, *QUIRKS, TOGETHER, UNEXPLAINED]
    for partly, cause in sorted(by_cause, key=lambda key: (key[0], order.index(key[1]))):
        own = by_cause[partly, cause]
        lines += [_heading(cause, len(own), partly=partly), "", *_table(own), ""]
    named = dict.fromkeys(name for difference in found for name in difference.suspects)
    if named:
        lines += ["What cannot be replayed:", ""]
        lines += [f"- `{name}`: {SUSPECTS[name]}." for name in named]
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
    }.get(cause, (f"`{cause}`", QUIRKS.get(cause, "")))
    part = ", more than half of the way" if partly else ""
    return f"**{name}, {numbers}{part}.** {sentence[0].upper()}{sentence[1:]}."


def _table(own: Sequence[Difference]) -> Iterator[str]:
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
    for difference in own:
        compared, number = difference.compared, difference.compared.number
        where = number.problem.rpartition(":")[2]
        where += f", {number.cost}" if number.problem.startswith("gp") else ""
        ours = f"{compared.ours:.3g} +- {compared.ours_se:.2g}"
        theirs = f"{number.value:.3g}" + (
            f" (+- {compared.theirs_se:.2g}, ours at 50 seeds)"
            if compared.assumed
            else f" +- {compared.theirs_se:.2g}"
        )
        shown = "" if difference.by == UNEXPLAINED else f"{difference.value:.3g}"
        suspects = ", ".join(f"`{name}`" for name in difference.suspects) or "none known"
        cells = (where, f"{number.lam:g}", number.acquisition, number.rule, ours, theirs, shown)
        yield "| " + " | ".join((*cells, suspects)) + " |"
