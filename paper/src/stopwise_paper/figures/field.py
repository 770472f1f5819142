# SPDX-License-Identifier: Apache-2.0
"""The page of the field: a table of what users pay, a figure of it, and equal trials on bbob."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stopwise_paper.analysis.field import (
    BEST_COUNT,
    BEST_COUNTS,
    OWN_RULE,
    OWN_STOP,
    FieldScore,
    compared,
    equal_trials,
    from_the_lowest,
    optimiser_seconds,
    scores,
)
from stopwise_paper.figures._field_page import field_page
from stopwise_paper.figures._style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    RED,
    SKY,
    Sheet,
    labels,
    legend,
    log_axis,
    panels,
    title,
)
from stopwise_paper.runs.field import record
from stopwise_paper.runs.field.contenders import CONTENDERS
from stopwise_paper.runs.field.plan import EVALUATIONS, PARTS, part_of
from stopwise_paper.runs.field.record import FieldRun

_WAYS = {  # colour, marker and label of a way to stop
    OWN_STOP: (RED, "o", "stops itself"),
    "20 trials": (SKY, "v", "20 trials"),
    "50 trials": (BLUE, "s", "50 trials"),
    "100 trials": (BLACK, "^", "100 trials"),
    OWN_RULE: (ORANGE, "P", "its own rule"),
    BEST_COUNT: (GREEN, "D", "the best single count, which nobody can know beforehand"),
    BEST_COUNTS: (GREY, "|", "the best count of each problem, a floor"),
}


def _has_known_costs(run: FieldRun) -> bool:
    return PARTS[part_of(run.cell)].known


_GROUPS: dict[str, Callable[[FieldRun], bool]] = {
    "all tables": lambda _run: True,
    "costs differ and are known beforehand": _has_known_costs,
    "costs are alike, or have to be learned": lambda run: not _has_known_costs(run),
}
_DRAWN = {  # groups that have a row of panels, and its title
    "costs differ and are known beforehand": "costs known",
    "costs are alike, or have to be learned": "alike or learned",
}


def draw_field(path: Path) -> list[Sheet]:
    """All tables and the figure, from a file of runs, which is consolidated first."""
    runs = record.consolidate(path)
    priced = from_the_lowest([run for run in runs if PARTS[part_of(run.cell)].priced])
    tables = [run for run in priced if PARTS[part_of(run.cell)].pooled]
    by_part = {
        PARTS[part].title: _compared([run for run in priced if part_of(run.cell) == part])
        for part in PARTS
    }
    unpriced = equal_trials([run for run in runs if not PARTS[part_of(run.cell)].priced])
    sheets = []
    if tables:
        of_group = {name: list(filter(of, tables)) for name, of in _GROUPS.items()}
        groups = {name: _compared(of_group[name]) for name in _GROUPS}
        drawn = {short: of_group[name] for name, short in _DRAWN.items() if of_group[name]}
        rows = [{"group": name, **row} for name in groups for row in groups[name]]
        text = field_page({**groups, **by_part}, unpriced)
        sheets.append(Sheet("field", rows, _figure(drawn), _versions(runs), text))
        sheets.append(Sheet("field-seconds", optimiser_seconds(tables)))
    if any(by_part.values()):
        rows = [{"part": title, **row} for title, of_part in by_part.items() for row in of_part]
        sheets.append(Sheet("field-parts", rows))
    if unpriced:
        sheets.append(Sheet("field-bbob", unpriced))
    return sheets


def _compared(runs: Sequence[FieldRun]) -> list[dict[str, Any]]:
    return [row for price in EVALUATIONS for row in compared(scores(runs, price))]


def _figure(groups: Mapping[str, Sequence[FieldRun]]) -> Any:  # noqa: ANN401  a figure
    """A row of panels a group of tables, one panel a price, and one line a contender."""
    shown = {group: _on_all(runs) for group, runs in groups.items()}
    every = [
        score for found in shown.values() for of_price in found.values() for score in of_price
    ]
    names = {name: _named(name, every) for name in reversed(CONTENDERS)}
    names = {name: label for name, label in names.items() if label}
    figure, rows = panels(len(shown), len(EVALUATIONS), width=3.6, height=3.4, share_y=True)
    for row, (group, of_group) in zip(rows, shown.items(), strict=True):
        for axes, (price, of_price) in zip(row, of_group.items(), strict=True):
            _panel(axes, of_price, names)
            title(axes, f"{group}; the gap is worth {price} evaluations")
            log_axis(axes, "x")
            labels(axes, x="sum paid, in gaps")
    legend(figure, [axes for row in rows for axes in row], columns=4)
    return figure


def _on_all(runs: Sequence[FieldRun]) -> dict[int, list[FieldScore]]:
    """At each price the scores of what has been played on every problem."""
    found = {price: scores(runs, price) for price in EVALUATIONS}
    most = {price: max((len(s.paid_on) for s in found[price]), default=0) for price in found}
    return {price: [s for s in found[price] if len(s.paid_on) == most[price]] for price in found}


def _panel(axes: Any, of_price: Sequence[FieldScore], names: Mapping[str, str]) -> None:  # noqa: ANN401
    """A mark for each way to stop each contender."""
    for score in of_price:
        colour, marker, label = _WAYS[score.when]
        error = score.error if score.error == score.error else 0.0
        axes.errorbar(
            score.paid,
            list(names).index(score.contender),
            xerr=None if score.when == BEST_COUNTS else error,
            fmt=marker,
            color=colour,
            label=label,
            markersize=4.5,
            capsize=2,
            linestyle="none",
        )
    axes.set_yticks(range(len(names)), list(names.values()))
    ours = [score.paid for score in of_price if score.when == OWN_STOP]
    if ours:
        axes.axvline(ours[0], color=RED, linewidth=0.8, alpha=0.5)


def _named(name: str, found: Sequence[FieldScore]) -> str:
    """A contender, with the number of its seeds; empty if it has no scores."""
    seeds = max((score.seeds for score in found if score.contender == name), default=0)
    return f"{CONTENDERS[name].title} ({seeds} seed{'s' * (seeds > 1)})" if seeds else ""


def _versions(runs: Sequence[FieldRun]) -> str:
    """The packages that were played, with versions; commits of a checkout are in the runs."""
    versions = {(CONTENDERS[r.contender].package, r.version.partition("+")[0]) for r in runs}
    return ", ".join(f"{package} {version}" for package, version in sorted(versions))
