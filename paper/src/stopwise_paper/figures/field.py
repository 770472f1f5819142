# SPDX-License-Identifier: Apache-2.0
"""The page of the field: a table of what users pay, a figure of it, and equal trials on bbob."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stopwise_paper.analysis.field import (
    BEST_COUNT,
    BEST_COUNTS,
    OWN_STOP,
    FieldScore,
    equal_trials,
    scores,
)
from stopwise_paper.figures._style import (
    BLUE,
    GREY,
    RED,
    SKY,
    Sheet,
    labels,
    log_axis,
    panels,
    title,
)
from stopwise_paper.runs.field import record
from stopwise_paper.runs.field.contenders import CONTENDERS
from stopwise_paper.runs.field.plan import EVALUATIONS, PARTS, part_of
from stopwise_paper.runs.field.record import FieldRun

_COLOURS = {OWN_STOP: RED, BEST_COUNT: BLUE, BEST_COUNTS: GREY}


def draw_field(path: Path) -> list[Sheet]:
    """All tables and the figure, from a file of runs, which is consolidated first."""
    runs = record.consolidate(path)
    priced = [run for run in runs if PARTS[part_of(run.cell)].priced]
    tables = [run for run in priced if part_of(run.cell) != "functions"]
    sheets = []
    if tables:
        everywhere = [score for price in EVALUATIONS for score in scores(tables, price)]
        sheets.append(
            Sheet("field", [s.record() for s in everywhere], _figure(everywhere), _versions(runs))
        )
    by_part = [
        {"part": PARTS[part].title, **score.record()}
        for part in PARTS
        for price in EVALUATIONS
        for score in scores([run for run in priced if part_of(run.cell) == part], price)
    ]
    if by_part:
        sheets.append(Sheet("field-parts", by_part))
    unpriced = [run for run in runs if not PARTS[part_of(run.cell)].priced]
    if unpriced:
        sheets.append(Sheet("field-bbob", equal_trials(unpriced)))
    return sheets


def _figure(everywhere: Sequence[FieldScore]) -> Any:  # noqa: ANN401  a figure
    """One panel a price: a point for each contender and way to stop, the lowest sum on top."""
    prices = sorted({score.evaluations for score in everywhere})
    figure, [row] = panels(1, len(prices), width=4.4, height=6.2)
    for axes, price in zip(row, prices, strict=True):
        shown = [score for score in everywhere if score.evaluations == price]
        shown.sort(key=lambda score: -score.paid)
        names = [f"{CONTENDERS[s.contender].title}: {s.when}" for s in shown]
        colours = [_COLOURS.get(score.when, SKY) for score in shown]
        errors = [score.error if score.error == score.error else 0.0 for score in shown]
        for name, score, error, colour in zip(names, shown, errors, colours, strict=True):
            axes.errorbar(score.paid, name, xerr=error, fmt="o", color=colour, capsize=2)
        axes.grid(axis="x", color="#E6E6E6", linewidth=0.6)
        log_axis(axes, "x")
        title(axes, f"the gap is worth {price} evaluations")
        labels(axes, x="sum paid, in gaps")
    return figure


def _versions(runs: Sequence[FieldRun]) -> str:
    """The packages that were played, with their versions."""
    versions = {(CONTENDERS[run.contender].package, run.version) for run in runs}
    return ", ".join(f"{package} {version}" for package, version in sorted(versions))
