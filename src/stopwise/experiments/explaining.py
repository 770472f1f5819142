# SPDX-License-Identifier: Apache-2.0
"""Why a published number is not ours: which departure of the published code explains it.

Departures are switched on in the replay, first one by one, then all together. One explains a
difference if with it the two numbers are within two combined standard errors of each other. What
no replay can show is named by what it touches.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stopwise.experiments.published import Compared, compare
from stopwise.experiments.quirks import NOT_REPLAYABLE, PUBLISHED, QUIRKS
from stopwise.experiments.regret import IMMEDIATE, Mean, means, regret_rows
from stopwise.experiments.trajectory import Trajectory

PLAIN = "plain"
TOGETHER = "together"
UNEXPLAINED = ""
_NEEDS = {"flat-stops": "trace-iqr"}  # departures that are nothing alone
_CAP = "cap"
_MOST = 0.5  # of a difference that may remain where a departure goes most of the way
SUSPECTS = {
    **NOT_REPLAYABLE,
    _CAP: "our runs end at 200 evaluations, the published ones at 500",
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
    switched = _switched(views, lams, PUBLISHED[experiment])
    return [_explained(c, switched) for c in found]


def _switched(
    views: Sequence[Trajectory], lams: Sequence[float], quirks: Sequence[str]
) -> dict[str, list[Mean]]:
    """Means of plain rules, with each departure alone, and with all."""
    sets = {name: {name, *filter(None, [_NEEDS.get(name)])} for name in quirks}
    sets = {PLAIN: set(), **sets, TOGETHER: set(quirks)}
    return {
        name: means(regret_rows(views, lams, published_quirks=own)) for name, own in sets.items()
    }


def _explained(compared: Compared, switched: Mapping[str, Sequence[Mean]]) -> Difference:
    """By what comes closest alone; else by all; else by what goes most of the way."""
    again = {
        name: replay
        for name, table in switched.items()
        for replay in compare(table, table, [compared.number])
    }
    plain = again.pop(PLAIN)
    moved = {name: replay for name, replay in again.items() if replay.ours != plain.ours}
    if plain.ours != compared.ours:  # ours is averaged
        moved[PLAIN] = plain
    agreeing = {name: replay for name, replay in moved.items() if replay.verdict == "agrees"}
    gap = abs(compared.ours - compared.number.value)
    near = {n: c for n, c in moved.items() if abs(c.ours - c.number.value) < _MOST * gap}
    for wholly, found in ((True, agreeing), (False, near)):
        alone = [name for name in found if name != TOGETHER]
        by = min(alone, key=lambda name: abs(found[name].distance), default=TOGETHER)
        if by in found:
            suspects = tuple(_suspects(found[by]))
            return Difference(compared, by, wholly, found[by].ours, suspects)
    suspects = tuple(_suspects(compared))
    return Difference(compared, UNEXPLAINED, wholly=False, value=math.nan, suspects=suspects)


def _suspects(compared: Compared) -> Iterator[str]:
    """What touches a number and cannot be replayed."""
    number = compared.number
    on_tables = number.experiment in ("lcbench", "unknown-cost")
    varied = number.cost in ("linear", "periodic")
    touches = {
        "lcb-sign": on_tables and number.acquisition == "lcb",
        "ts-seed": on_tables and number.acquisition == "ts",
        "kappa-direction": on_tables and number.rule in ("ucb-lcb", "srgap-med"),
        "srgap-points": number.rule == "srgap-med",
        "mask-shift": number.experiment == "gp1d" and number.rule != IMMEDIATE,
        "pbgi-gradient": number.experiment == "gp8d" and varied and number.acquisition == "pbgi",
        "lcb-beta": varied and number.acquisition == "lcb",
        _CAP: number.experiment == "gp8d" and compared.non_stops > 0,
        "initial-design": number.rule == IMMEDIATE,
    }
    yield from (name for name, touched in touches.items() if touched)


def report(found: Sequence[Difference], of: int) -> str:
    """The differences in Markdown: a sentence for each explanation, and its numbers."""
    agreeing = of - len(found)
    lines = [f"{agreeing} of {of} numbers agree within two combined standard errors.", ""]
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
