# SPDX-License-Identifier: Apache-2.0
"""8D: the signal as it is and averaged, and where windows stop one trajectory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from stopwise.stopping import PBGI, SignalColumns, moving_average
from stopwise_paper.analysis.regret import adjusted_curve
from stopwise_paper.analysis.replay import Variant, stop_of
from stopwise_paper.arrays import Array
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._bars import ADJUSTED
from stopwise_paper.figures._results import LAMS, MissingTrajectoriesError, Results
from stopwise_paper.figures._style import Sheet
from stopwise_paper.figures.windows import LAM, WINDOWS, lam_of
from stopwise_paper.runs.trajectory import LOG_GAIN_PER_COST, Trajectory

_WINDOW = 20
_DASHES = {1e-1: ":", 1e-2: "-", 1e-3: "--"}
_COLOURS = (style.RED, style.ORANGE, style.GREEN, style.BLUE)


def draw(results: Results) -> Iterator[Sheet]:
    """Linear cost, the first seed; then one trajectory of each acquisition, periodic cost."""
    yield _signals(results)
    yield _windows(results)


def _signals(results: Results) -> Sheet:
    views = _first(results, "linear", None)
    figure, ((raw, smooth),) = style.panels(1, 2, width=4.4, height=2.8, share_y=True)
    records: list[dict[str, Any]] = []
    for view in views:
        name, colour = style.acquisition_style(view.cell.acquisition)
        label = name if view.cell.lam is None else f"{name}({view.cell.lam:g})"
        dash = _DASHES.get(view.cell.lam or LAM, "-")
        signal = view.signals[LOG_GAIN_PER_COST].value
        smooth_signal = _averaged(signal, _WINDOW)
        raw.plot(signal, dash, color=colour, linewidth=0.9, label=label)
        smooth.plot(smooth_signal, dash, color=colour, linewidth=0.9, label=label)
        records += [
            {"policy": label, "t": t, "signal": float(a), "averaged": float(b)}
            for t, (a, b) in enumerate(zip(signal, smooth_signal, strict=True))
        ]
    for axes, text in ((raw, "as it is"), (smooth, f"averaged over {_WINDOW}")):
        for lam in LAMS["gp8d"]:
            axes.axhline(math.log(lam), color="black", linestyle="--", linewidth=0.7)
            at = (1.0, math.log(lam))
            side = axes.get_yaxis_transform()
            text_of = f"log {lam:g}"
            axes.annotate(text_of, at, xycoords=side, fontsize=6, ha="right", va="bottom")
        style.title(axes, f"PBGI/LogEIPC signal, {text}")
        style.labels(axes, x="evaluations after the initial design", y="sup log(EI / cost)")
    style.legend(figure, [raw])
    return Sheet("moving-average-signals", records, figure, results.note("gp8d"))


def _windows(results: Results) -> Sheet:
    views = _first(results, "periodic", LAM)
    figure, grid = style.panels(2, len(views), width=2.8, height=2.1)
    records: list[dict[str, Any]] = []
    for j, view in enumerate(views):
        lam = lam_of(view, LAM)
        curve = adjusted_curve(view, lam)
        grid[1][j].plot(curve, color="black", linewidth=0.9, label="fixed iteration")
        for window, colour in zip(WINDOWS, _COLOURS, strict=True):
            stop = stop_of(view, Variant(window).of(PBGI(lam)))
            label = f"W = {window}"
            grid[0][j].plot(
                _averaged(view.signals[LOG_GAIN_PER_COST].value, window),
                color=colour,
                linewidth=0.9,
            )
            grid[1][j].plot(
                stop.t, curve[stop.t], "o" if stop.stopped else "x", color=colour, label=label
            )
            records.append(
                {
                    "acquisition": view.cell.acquisition,
                    "lam": lam,
                    "window": window,
                    "t": stop.t,
                    "stopped": stop.stopped,
                    "adjusted": float(curve[stop.t]),
                }
            )
        grid[0][j].axhline(math.log(lam), color="black", linestyle="--", linewidth=0.7)
        style.title(grid[0][j], style.acquisition_style(view.cell.acquisition)[0])
        style.labels(grid[1][j], x="evaluations after the initial design")
    style.labels(grid[0][0], y="sup log(EI / cost)")
    style.labels(grid[1][0], y=ADJUSTED)
    style.legend(figure, grid[1])
    return Sheet("moving-average-windows", records, figure, results.note("gp8d"))


def _averaged(log_gain_per_cost: Array, window: int) -> Array:
    """The signal as the averaged rule reads it, over t = 0..T."""
    record = SignalColumns(np.arange(len(log_gain_per_cost)), log_gain_per_cost)
    return moving_average(record, window, "log")


def _first(results: Results, cost: str, lam: float | None) -> list[Trajectory]:
    """Trajectories of the lowest seed; of PBGI only those at lam, if there are any."""
    views = [v for v in results.views("gp8d") if v.cell.cost == cost]
    if not views:
        message = f"no trajectory of gp8d has {cost} costs yet"
        raise MissingTrajectoriesError(message)
    seed = min(v.cell.seed for v in views)
    first = [v for v in views if v.cell.seed == seed]
    if lam is None:
        return first
    return [v for v in first if v.cell.lam is None or v.cell.lam == lam] or first
