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
        found = {price: scores(tables, price) for price in EVALUATIONS}
        groups = {name: _compared(list(filter(of, tables))) for name, of in _GROUPS.items()}
        text = field_page({**groups, **by_part}, unpriced)
        rows = [{"group": name, **row} for name, of_group in groups.items() for row in of_group]
        sheets.append(Sheet("field", rows, _figure(found), _versions(runs), text))
        sheets.append(Sheet("field-seconds", optimiser_seconds(tables)))
    if any(by_part.values()):
        rows = [{"part": title, **row} for title, of_part in by_part.items() for row in of_part]
        sheets.append(Sheet("field-parts", rows))
    if unpriced:
        sheets.append(Sheet("field-bbob", unpriced))
    return sheets


def _compared(runs: Sequence[FieldRun]) -> list[dict[str, Any]]:
    return [row for price in EVALUATIONS for row in compared(scores(runs, price))]


def _figure(found: Mapping[int, Sequence[FieldScore]]) -> Any:  # noqa: ANN401  a figure
    """One panel a price and one line a contender, a mark for each way to stop it.

    Only what has been played on every problem is shown.
    """
    shown = {}
    for price, of_price in found.items():
        most = max((len(score.paid_on) for score in of_price), default=0)
        if most:
            shown[price] = [score for score in of_price if len(score.paid_on) == most]
    figure, [row] = panels(1, len(shown), width=3.6, height=3.4, share_y=True)
    names = [
        name
        for name in reversed(CONTENDERS)
        if any(score.contender == name for of_price in shown.values() for score in of_price)
    ]
    for axes, (price, of_price) in zip(row, shown.items(), strict=True):
        for score in of_price:
            colour, marker, label = _WAYS[score.when]
            error = score.error if score.error == score.error else 0.0
            with_error = score.when != BEST_COUNTS
            axes.errorbar(
                score.paid,
                names.index(score.contender),
                xerr=error if with_error else None,
                fmt=marker,
                color=colour,
                label=label,
                markersize=4.5,
                capsize=2,
                linestyle="none",
            )
        axes.set_yticks(range(len(names)), [_named(name, of_price) for name in names])
        ours = [score.paid for score in of_price if score.when == OWN_STOP]
        if ours:
            axes.axvline(ours[0], color=RED, linewidth=0.8, alpha=0.5)
        log_axis(axes, "x")
        title(axes, f"the gap is worth {price} evaluations")
        labels(axes, x="sum paid, in gaps")
    legend(figure, row, columns=4)
    return figure


def _named(name: str, of_price: Sequence[FieldScore]) -> str:
    """A contender, with the number of its seeds."""
    seeds = min(score.seeds for score in of_price if score.contender == name)
    return f"{CONTENDERS[name].title} ({seeds} seed{'s' * (seeds > 1)})"


def _versions(runs: Sequence[FieldRun]) -> str:
    """The packages that were played, with their versions."""
    versions = {(CONTENDERS[run.contender].package, run.version) for run in runs}
    return ", ".join(f"{package} {version}" for package, version in sorted(versions))
