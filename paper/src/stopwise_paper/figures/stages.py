# SPDX-License-Identifier: Apache-2.0
"""Evaluations in stages: tables and a picture of what searches on learning curves pay."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stopwise_paper.analysis.stages import ALL, alexnet_hours, compare, targets
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import MissingTrajectoriesError
from stopwise_paper.figures._style import Record, Sheet
from stopwise_paper.runs.stages import record
from stopwise_paper.runs.stages.plan import EVALUATIONS, METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = dict(
    zip(
        METHODS,
        (style.GREY, style.RED, style.BLACK, style.BLUE, style.SKY, style.GREEN, style.ORANGE),
        strict=True,
    )
)
_LEGEND = """\
Paid: judged regret of the best finished run plus all that was spent, in gaps from a table's median
value to its best; means over tables of means over seeds, at the three prices (the gap is worth 20,
100 and 500 whole runs of median cost). Regret is in gaps, spent in median runs. Searches that know
no price have, at each price, the one number of trials at which they pay least over all tables
here, which a user would not know. Close: the share of runs whose best finished run came within 1 %
of the best value of the table, and the median that these had spent until then. Targets: at most
half of what whole runs spend at no higher regret; paid no more than ASHA.
"""


def draw_stages(folder: Path) -> Iterator[Sheet]:
    """The tables and the picture of the searches in a folder."""
    runs = record.load(folder)
    if not runs:
        message = f"no searches in {folder / record.FILE}: run stopwise-paper stages"
        raise MissingTrajectoriesError(message)
    rows = compare(runs)
    beside = targets(rows)
    hours = alexnet_hours(runs)
    yield Sheet("stages", rows, text=_page(rows, beside, hours))
    yield Sheet("stages-targets", beside)
    yield _paid_sheet(rows)


# ------------------------------------------------------------------------------- tables


def _page(rows: Sequence[Record], beside: Sequence[Record], hours: Sequence[Record]) -> str:
    lines = [_LEGEND]
    for half, source in dict.fromkeys((row["half"], row["source"]) for row in rows):
        of_half = [row for row in rows if (row["half"], row["source"]) == (half, source)]
        names = sorted({row["problem"] for row in of_half} - {ALL})
        tables = "1 table" if len(names) == 1 else f"{len(names)} tables"
        lines += [f"## {source.capitalize()} curves, {half} half ({tables})", ""]
        lines += [*_methods([row for row in of_half if row["problem"] == ALL]), ""]
        pairs = [row for row in beside if (row["half"], row["source"]) == (half, source)]
        lines += [*_beside(pairs), ""]
    if hours:
        lines += ["## AlexNet, priced in hours", "", *_hours(hours)]
    return "\n".join(lines)


def _methods(rows: Sequence[Record]) -> list[str]:
    head = ["", "trials", "paid", "regret", "spent", "finished", "close %", "spent until close"]
    lines = [style.table_line(head), style.table_line(["---"] * len(head))]
    for method in dict.fromkeys(row["method"] for row in rows):
        of_method = [row for row in rows if row["method"] == method]
        columns = [
            _joined(of_method, name, form, factor)
            for name, form, factor in (
                ("paid", ".3f", 1.0),
                ("regret", ".3f", 1.0),
                ("spent", ".3g", 1.0),
                ("finished", ".2g", 1.0),
                ("close", ".0f", 100.0),
                ("spent_until_close", ".3g", 1.0),
            )
        ]
        counts = " / ".join(str(row["trials"]) for row in of_method if row["trials"] != "")
        lines.append(style.table_line([method, counts or "its own", *columns]))
    return lines


def _beside(rows: Sequence[Record]) -> list[str]:
    """In stages beside whole runs and ASHA, table by table."""
    if not rows:
        return []
    head = [
        "table",
        "spent (whole runs)",
        "regret (whole runs)",
        "paid (whole runs; ASHA)",
        "targets",
    ]
    lines = [style.table_line(head), style.table_line(["---"] * len(head))]
    for problem in dict.fromkeys(row["problem"] for row in rows):
        of_table = [row for row in rows if row["problem"] == problem]
        spent = " / ".join(f"{r['spent']:.3g} ({r['spent_whole']:.3g})" for r in of_table)
        regret = " / ".join(f"{r['regret']:.2f} ({r['regret_whole']:.2f})" for r in of_table)
        paid = " / ".join(
            f"{r['paid']:.2f} ({r['paid_whole']:.2f}; {r['paid_asha']:.2f})" for r in of_table
        )
        met = " / ".join(
            f"{_yes(r['half_the_cost'])}, {_yes(r['no_worse_than_asha'])}" for r in of_table
        )
        lines.append(style.table_line([problem, spent, regret, paid, met]))
    return lines


def _hours(rows: Sequence[Record]) -> list[str]:
    head = ["price", "", "runs", "hours (fewest to most)", "regret, gaps", "paid, gaps"]
    lines = [style.table_line(head), style.table_line(["---"] * len(head))]
    for row in rows:
        spent = f"{row['hours']:.0f} ({row['fewest_hours']:.0f} to {row['most_hours']:.0f})"
        numbers = [str(row["runs"]), spent, f"{row['regret']:.3f}", f"{row['paid']:.3f}"]
        lines.append(style.table_line([row["price"], row["method"], *numbers]))
    return lines


def _yes(met: object) -> str:
    return "yes" if met else "no"


def _joined(rows: Sequence[Record], name: str, form: str, factor: float) -> str:
    return " / ".join(
        "-" if math.isnan(row[name]) else format(factor * row[name], form) for row in rows
    )


# ------------------------------------------------------------------------------ figure


def _paid_sheet(rows: Sequence[Record]) -> Sheet:
    """A panel for each half and source, a line for each method over the prices."""
    all_rows = [row for row in rows if row["problem"] == ALL]
    places = list(dict.fromkeys((row["half"], row["source"]) for row in all_rows))
    figure, [panels] = style.panels(1, len(places), width=3.4, height=3.0)
    for axes, place in zip(panels, places, strict=True):
        of_place = [row for row in all_rows if (row["half"], row["source"]) == place]
        _panel(axes, of_place)
        style.title(axes, f"{place[1]} curves, {place[0]} half ({of_place[0]['tables']} tables)")
        style.labels(axes, x="whole runs that the gap is worth", y="paid, in gaps")
    style.legend(figure, panels, columns=4)
    note = "Searches without a price have their best number of trials at each price."
    return Sheet("stages-paid", all_rows, figure, note)


def _panel(axes: Axes, rows: Sequence[Record]) -> None:
    for method in dict.fromkeys(row["method"] for row in rows):
        paid = [row["paid"] for row in rows if row["method"] == method]
        places = [EVALUATIONS.index(int(r["price"][4:])) for r in rows if r["method"] == method]
        axes.plot(places, paid, color=_COLOURS[method], marker="o", markersize=4, label=method)
    style.log_axis(axes)
    axes.set_xticks(range(len(EVALUATIONS)), map(str, EVALUATIONS))
