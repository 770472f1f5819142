# SPDX-License-Identifier: Apache-2.0
"""Beliefs: the calibration of their promises, and the table that compares their studies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stopwise_paper.analysis.beliefs import PHASES, baselines_of, calibration, compare
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import MissingTrajectoriesError
from stopwise_paper.figures._style import Record, Sheet
from stopwise_paper.runs.beliefs import record
from stopwise_paper.runs.beliefs.plan import PAPER, PARTS
from stopwise_paper.runs.beliefs.published_run import published_trajectories

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES = {
    "paper": (style.GREY, "o"),
    "plain": (style.SKY, "s"),
    "plain + priced design": (style.GREEN, "^"),
    "weighed + published design": (style.ORANGE, "v"),
    "default": (style.RED, "P"),
    "default, noise learned": (style.PINK, "X"),
    "default, bounded": (style.BLUE, "D"),
}
_COLUMNS = 4
_PHASE_LABELS = tuple(
    f"{first}-{last}" if last <= 100 else f"> {first - 1}" for first, last in PHASES
)
_LEGEND = """\
Prices from high to low. G and nr count regret without the initial design (0: Hindsight of the
published trajectories); paid is with it, in gaps from a problem's median value to its best, the
mean over sets; design is the design's part of that. Never stopped: runs, in percent. Worse: sets
on which stopping at once is better, and how many of them surely are (one-sided t-tests over seeds,
5 %, corrected by Holm; "-" with one seed). t: evaluations after the design, the mean over runs. An
asterisk: the 90 % interval of the difference to "paper", bootstrapped over sets, excludes 0. Where
a variant has fewer runs than "paper", the number in brackets is that of "paper" on the same ones.
"""


def draw_beliefs(folder: Path) -> Iterator[Sheet]:
    """The table and the figure of the studies in a folder."""
    runs = record.load(folder)
    if not runs:
        message = f"no studies in {folder / record.FILE}: run stopwise-paper beliefs"
        raise MissingTrajectoriesError(message)
    rows = compare(runs, baselines_of(published_trajectories(folder)))
    yield Sheet("beliefs", rows, text=_page(rows))
    yield _calibration_sheet(calibration(runs))


# ------------------------------------------------------------------------------- table


def _page(rows: Sequence[Record]) -> str:
    """The comparison in Markdown: a table for each half, a line for each part and variant."""
    lines = [_LEGEND]
    for half in dict.fromkeys(row["half"] for row in rows):
        lines += [f"## The {half} half", ""]
        for part in dict.fromkeys(row["part"] for row in rows if row["half"] == half):
            of_part = [row for row in rows if (row["half"], row["part"]) == (half, part)]
            lines += [*_part_table(part, of_part), ""]
    return "\n".join(lines)


def _part_table(part: str, rows: Sequence[Record]) -> list[str]:
    prices = ", ".join(dict.fromkeys(row["price"] for row in rows))
    head = ["belief", "sets, runs", "G", "nr", "paid", "design", "never stopped %", "worse", "t"]
    lines = [
        f"**{PARTS[part].title}**, {prices}",
        "",
        style.table_line(head),
        style.table_line(["---"] * len(head)),
    ]
    most = {row["price"]: row["runs"] for row in rows if row["variant"] == PAPER}
    for variant in dict.fromkeys(row["variant"] for row in rows):
        of_variant = [row for row in rows if row["variant"] == variant]
        lines.append(style.table_line([variant, *_cells(of_variant, most)]))
    return lines


def _cells(rows: Sequence[Record], most: Mapping[str, int]) -> list[str]:
    """The columns of a variant, its prices side by side.

    Args:
        rows: One row a price.
        most: The number of runs of the published belief at each price.
    """

    def measures(name: str) -> str:
        return " / ".join(_measure(r, name, r["runs"] < most[r["price"]]) for r in rows)

    def joined(name: str, form: str, factor: float = 1.0) -> str:
        return " / ".join(format(factor * row[name], form) for row in rows)

    counts = dict.fromkeys(f"{row['sets']}, {row['runs']}" for row in rows)
    return [
        " / ".join(counts),
        *map(measures, ("G", "nr", "paid")),
        joined("design_paid", ".2g"),
        joined("never_stopped", ".0f", 100.0),
        " / ".join(_worse(row) for row in rows),
        joined("t", ".0f"),
    ]


def _worse(row: Record) -> str:
    """Sets on which stopping at once is better, and those of which that is sure."""
    sure = row["surely_worse_sets"]
    return f"{row['worse_sets']}, {'-' if math.isnan(sure) else format(sure, '.0f')}"


def _measure(row: Record, name: str, fewer: bool) -> str:  # noqa: FBT001  one caller
    """A number with its asterisk, and that of the published belief if it has more runs."""
    if math.isnan(row[name]):
        return "-"
    low, high = row[f"{name}_difference_low"], row[f"{name}_difference_high"]
    star = "*" if row["variant"] != PAPER and (low > 0.0 or high < 0.0) else ""
    beside = f" ({row[f'{name}_paper']:.2f})" if fewer else ""
    return f"{row[name]:.2f}{star}{beside}"


# ------------------------------------------------------------------------------ figure


def _calibration_sheet(rows: Sequence[dict[str, Any]]) -> Sheet:
    """A panel for each half and part, a line for each variant; none before there are rows."""
    places = list(dict.fromkeys((row["half"], row["part"]) for row in rows))
    if not places:
        return Sheet("beliefs-calibration", rows)
    columns = min(len(places), _COLUMNS)
    lines = -(-len(places) // columns)
    figure, grid = style.panels(lines, columns, width=3.2, height=2.6)
    panels = [axes for line in grid for axes in line]
    for i, (axes, (half, part)) in enumerate(zip(panels, places, strict=False)):
        _panel(axes, [row for row in rows if (row["half"], row["part"]) == (half, part)])
        style.title(axes, f"{PARTS[part].title} ({half} half)")
        left = "promised over delivered gain" if i % columns == 0 else ""
        style.labels(axes, x="evaluations after the design", y=left)
    for axes in panels[len(places) :]:
        axes.set_visible(False)
    style.legend(figure, panels, columns=5)
    note = "All prices together. No point: no choice, or nothing came of any (see the CSV)."
    return Sheet("beliefs-calibration", rows, figure, note)


def _panel(axes: Axes, rows: Sequence[Record]) -> None:
    for variant in dict.fromkeys(row["variant"] for row in rows):
        colour, marker = _STYLES[variant]
        ratios = [row["ratio"] for row in rows if row["variant"] == variant]
        axes.plot(
            range(len(ratios)), ratios, color=colour, marker=marker, markersize=4, label=variant
        )
    axes.axhline(1.0, color=style.BLACK, linewidth=0.8)
    style.log_axis(axes)
    axes.set_xticks(range(len(PHASES)), _PHASE_LABELS)
