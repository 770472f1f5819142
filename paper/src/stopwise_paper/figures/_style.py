# SPDX-License-Identifier: Apache-2.0
"""The style of figures: a palette that colour-blind readers can use, labels, axes, files."""

from __future__ import annotations

import csv
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Record = Mapping[str, Any]

# Okabe and Ito's palette, and two greys.
BLUE, ORANGE, GREEN, PINK = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, RED, YELLOW, GREY, BLACK = "#56B4E9", "#D55E00", "#F0E442", "#8C8C8C", "#000000"

_LONG = 3e3  # ratio of the ends of an axis above which only powers of ten are labelled
_LETTERS = 16  # of a note, per inch

RULES = {
    "pbgi": ("PBGI/LogEIPC", RED, "o"),
    "logeipc-med": ("LogEIPC-med", ORANGE, "s"),
    "srgap-med": ("SRGap-med", YELLOW, "^"),
    "ucb-lcb": ("UCB-LCB", GREEN, "v"),
    "prb": ("PRB", SKY, "P"),
    "gss": ("GSS", BLUE, "X"),
    "convergence": ("Convergence", PINK, "*"),
}
BASELINES = {
    "immediate": "Immediate",
    "hindsight": "Hindsight",
    "best-fixed": "Best fixed iteration",
}
ACQUISITIONS = {
    "pbgi": ("PBGI", RED),
    "pbgi-d": ("PBGI-D", BLACK),
    "logeipc": ("LogEIPC", BLUE),
    "logeipc-inv": ("LogEIPC-inv", SKY),
    "lcb": ("LCB", GREEN),
    "ts": ("TS", ORANGE),
}


@dataclass(frozen=True, eq=False, slots=True)
class Sheet:
    """One figure and the table behind it.

    Args:
        name: Stem of its files.
        records: Rows of the table.
        figure: The drawing; None for a table alone.
        note: Remarks for the reader: missing cells, stand-ins.
        text: A page beside them, in Markdown.
        files: The files, once they are written.
    """

    name: str
    records: Sequence[Record]
    figure: Figure | None = None
    note: str = ""
    text: str = ""
    files: list[Path] = field(default_factory=list)


def rule_style(name: str) -> tuple[str, str, str]:
    """Label, colour and marker of a rule; that of a plugin is grey."""
    return RULES.get(name, (name, GREY, "D"))


def acquisition_style(name: str) -> tuple[str, str]:
    """Label and colour of an acquisition."""
    return ACQUISITIONS.get(name, (name.rpartition(":")[2], GREY))


def lam_label(lam: float) -> str:
    """The label of a lambda."""
    return rf"$\lambda$ = {lam:g}"


def problem_label(problem: str) -> str:
    """A problem without the name of its collection; a stand-in says that it is one."""
    collection, _, dataset = problem.partition(":")
    if collection == "nats-topology":
        return f"{dataset} (topology space, stand-in)"
    return dataset or {"gp1d": "1D", "gp8d": "8D"}.get(problem, problem)


def panels(
    rows: int, columns: int, *, width: float = 3.2, height: float = 2.6, share_y: bool = False
) -> tuple[Figure, list[list[Axes]]]:
    """A grid of panels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows + 0.7), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharey=share_y)
    for axes in grid.flat:
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=7)
        axes.grid(axis="y", color="#E6E6E6", linewidth=0.6)
        axes.set_axisbelow(True)
    return figure, grid.tolist()


def legend(figure: Figure, axes: Iterable[Axes], *, columns: int = 5) -> None:
    """One legend below, each label once."""
    handles: dict[str, Any] = {}
    for one in axes:
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if handles:
        figure.legend(
            handles.values(),
            handles.keys(),
            loc="outside lower center",
            ncols=columns,
            fontsize=7,
            frameon=False,
        )


def log_axis(axes: Axes, which: str = "y") -> None:
    """A logarithmic axis with plain numbers at 1, 2 and 5; at 1 alone if it is long."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    scale = {"nonpositive": "clip"}
    if which == "y":
        axes.set_yscale("log", **scale)
    else:
        axes.set_xscale("log", **scale)
    axis = axes.yaxis if which == "y" else axes.xaxis
    low, high = axes.dataLim.intervaly if which == "y" else axes.dataLim.intervalx
    long = low > 0.0 and high / low > _LONG
    subs = (1.0,) if long else (1.0, 2.0, 5.0)
    axis.set_major_locator(LogLocator(subs=subs, numticks=12))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def title(axes: Axes, text: str) -> None:
    """A panel's title."""
    axes.set_title(text, fontsize=8)


def labels(axes: Axes, x: str = "", y: str = "") -> None:
    """Labels of the axes; empty ones are left out."""
    if x:
        axes.set_xlabel(x, fontsize=8)
    if y:
        axes.set_ylabel(y, fontsize=8)


def save(sheet: Sheet, folder: Path) -> Sheet:
    """Write ``NAME.csv``; ``NAME.png`` and ``NAME.svg`` if there is a figure; ``NAME.md``."""
    folder.mkdir(parents=True, exist_ok=True)
    sheet.files.append(write_csv(sheet.records, folder / f"{sheet.name}.csv"))
    if sheet.text:
        path = folder / f"{sheet.name}.md"
        path.write_text(sheet.text, encoding="utf-8")
        sheet.files.append(path)
    if sheet.figure is None:
        return sheet
    import matplotlib as mpl

    if sheet.note:
        width = int(_LETTERS * sheet.figure.get_figwidth())
        sheet.figure.suptitle(textwrap.fill(sheet.note, width), fontsize=7, color=GREY)
    # The same bytes every time: no date, and ids made of the content.
    with mpl.rc_context({"svg.hashsalt": sheet.name}):
        for suffix, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            path = folder / f"{sheet.name}.{suffix}"
            sheet.figure.savefig(path, dpi=150, metadata=metadata)
            sheet.figure.set_layout_engine("none")  # it is laid out now; that takes long
            sheet.files.append(path)
    return sheet


def table_line(cells: Sequence[str]) -> str:
    """A line of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def write_csv(records: Sequence[Record], path: Path) -> Path:
    """A table, numbers with six digits."""
    names = list(dict.fromkeys(name for record in records for name in record))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        for record in records:
            writer.writerow({k: _short(v) for k, v in record.items()})
    return path


def _short(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value
