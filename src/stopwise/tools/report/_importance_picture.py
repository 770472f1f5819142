# SPDX-License-Identifier: Apache-2.0
"""The picture of importances: how much each parameter matters, with its uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stopwise.study.importance import Importance
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._markup import Markup, el, join, shortened
from stopwise.tools.report._picture import Picture

_TITLE = "How much each parameter matters"
_MOST = 20  # parameters that are drawn
_WIDTH, _NAMES, _RIGHT = 560, 170, 66  # the last are the room for names and for numbers
_TOP, _ROW, _FOOT = 34, 30, 34
_LETTERS = 22  # of a name
_NEGLIGIBLE = 0.01


def importance_picture(facts: Facts) -> Picture:
    """A bar for each parameter, the largest first, with the interval of the model's doubt."""
    if facts.study.without_constraints:
        return Picture("importance", _TITLE, f"{facts.study.without_constraints}.")
    found = facts.study.importance() if facts.snapshot is not None else ()
    if not found:
        return Picture("importance", _TITLE, "No evaluation has given a value yet.")
    words = _words(found)
    rows = [
        (each.name, *(_number(each, x) for x in (each.share, each.low, each.high)), each.exists)
        for each in found
    ]
    header = ("parameter", "share of the variance", "90 % from", "90 % to", "exists in")
    return Picture("importance", _TITLE, words, _svg(found[:_MOST], words), header, rows)


def _number(each: Importance, number: float) -> float | str:
    return "not judged" if each.not_judged else number


def _svg(found: Sequence[Importance], words: str) -> Markup:
    height = _TOP + _ROW * len(found) + _FOOT
    foot = height - _FOOT

    def x(share: float) -> float:
        return round(_NAMES + share * (_WIDTH - _NAMES - _RIGHT), 1)

    parts = []
    for tenth in (0.0, 0.25, 0.5, 0.75, 1.0):
        at = x(tenth)
        parts.append(el("path", class_="sw-grid", d=f"M{at:g},{_TOP}V{foot}"))
        label = f"{100.0 * tenth:g} %"
        parts.append(el("text", label, x=f"{at:g}", y=foot + 20, text_anchor="middle"))
    for i, each in enumerate(found):
        parts.append(_bar(each, _TOP + _ROW * i + _ROW // 2, x))
    title = el("text", "share of what varies", class_="sw-label", x=8, y=18)
    return el(
        "svg",
        el("rect", class_="sw-ground", width=_WIDTH, height=height),
        *parts,
        title,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {height}",
        class_="sw-chart",
        role="img",
        aria_label=f"{_TITLE}. {words}",
    )


def _bar(each: Importance, y: int, x: Callable[[float], float]) -> Markup:
    """The name, a broad bar up to the share, its interval, and the share in figures."""
    if each.not_judged:
        return join(
            el("text", shortened(each.name, _LETTERS), class_="sw-label", x=8, y=y + 4),
            el("text", "not to be judged", x=f"{x(0.0):g}", y=y + 4),
        )
    low, high = x(each.low), x(each.high)
    return join(
        el("text", shortened(each.name, _LETTERS), class_="sw-label", x=8, y=y + 4),
        el("path", class_="sw-share", d=f"M{x(0.0):g},{y - 8}H{x(each.share):g}v16H{x(0.0):g}z"),
        el(
            "path",
            class_="sw-bars",
            d=f"M{low:g},{y}H{high:g}M{low:g},{y - 5}v10M{high:g},{y - 5}v10",
        ),
        el("text", _percent(each.share), x=_WIDTH - 8, y=y + 4, text_anchor="end"),
    )


def _words(found: Sequence[Importance]) -> str:
    judged = [each for each in found if not each.not_judged]
    words = [*_without(found), *(_ranking(judged, len(judged) < len(found)) if judged else [])]
    if any(each.exists < 1.0 for each in judged):
        words += ["Parameters with a condition are judged where they exist, by what varies there."]
    return " ".join([*words, "What parameters do only together counts for each of them."])


def _without(found: Sequence[Importance]) -> list[str]:
    """Sentences on the parameters that are not to be judged."""
    groups: dict[str, list[str]] = {}
    for each in found:
        if each.not_judged:
            groups.setdefault(each.not_judged, []).append(each.name)
    return [
        f"Not to be judged: {', '.join(names)} ({_of_several(why) if len(names) > 1 else why})."
        for why, names in groups.items()
    ]


def _of_several(why: str) -> str:
    return why.replace("tie it", "tie them").replace("it exists", "they exist")


def _ranking(judged: Sequence[Importance], are_some: bool) -> list[str]:  # noqa: FBT001
    """Sentences on the others; ``are_some`` where they are not all there are."""
    first = judged[0]
    over = "over the space" if first.exists == 1.0 else "where it exists"
    due = (
        f"{_percent(first.share)} of what varies {over} is due"
        f" to it, by the model with 90 % between {_percent(first.low)} and {_percent(first.high)}."
    )
    of_others = "Of the others " if are_some else ""
    leads = f"{first.name}: " if are_some and len(judged) == 1 else f"{first.name} matters most: "
    words = [f"{of_others if len(judged) > 1 else ''}{leads}{due}"]
    large = [each for each in judged[1:] if each.share >= _NEGLIGIBLE]
    if large:
        words += [f"Then {', '.join(f'{each.name} {_percent(each.share)}' for each in large)}."]
    small = [each.name for each in judged[1:] if each.share < _NEGLIGIBLE]
    return [*words, f"Less than 1 %: {', '.join(small)}."] if small else words


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"
