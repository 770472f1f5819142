# SPDX-License-Identifier: Apache-2.0
"""The stopping rule at two costs: one posterior, fair values and gain per cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

import stopwise as sw
from stopwise.math import log_ei, pbgi
from stopwise_paper.arrays import Array
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import Results
from stopwise_paper.figures._style import Sheet
from stopwise_paper.problems.gp1d import GRID, LENGTHSCALE
from stopwise_paper.runs.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COSTS = (0.1, 1e-4)
_POINTS = 401


def draw(results: Results) -> Iterator[Sheet]:
    """Above: data, posterior and fair values. Below: log gain per cost."""
    view = next(v for v in results.views("gp1d") if v.cell.cost == "uniform")
    x = np.linspace(0.0, 1.0, _POINTS)
    seen, y, mean, std = _moment(view, x)
    best = float(y.min())
    figure, grid = style.panels(2, len(COSTS), width=4.2, height=2.2)
    records = []
    for j, cost in enumerate(COSTS):
        fair = np.asarray(pbgi(mean, std, cost))
        gain = np.asarray(log_ei(mean, std, best)) - np.log(cost)
        _above(grid[0][j], x, (mean, std, fair), (seen, y))
        verdict = "stop" if gain.max() <= 0.0 else "go on"
        style.title(grid[0][j], f"cost {cost:g}: {verdict}")
        below = grid[1][j]
        below.plot(x, np.maximum(gain, -12.0), color=style.BLUE, label="log(EI / cost)")
        below.axhline(0.0, color="black", linestyle="--", linewidth=1.0, label="threshold")
        style.labels(below, x="x", y="log gain per cost")
        records += [
            {"cost": cost, "x": a, "mean": m, "std": s, "fair_value": f, "log_gain_per_cost": g}
            for a, m, s, f, g in zip(x, mean, std, fair, gain, strict=True)
        ]
    style.legend(figure, [axes for row in grid for axes in row], columns=4)
    yield Sheet("illustration", _floats(records), figure)


def _moment(view: Trajectory, x: Array) -> tuple[Array, Array, Array, Array]:
    """Data and posterior when first nothing is worth the higher cost; else the last ones."""
    places = view.x / (int(view.cell.option("grid", GRID)) - 1.0)
    hyper = sw.beliefs.Hyperparameters(np.array([LENGTHSCALE]), 1.0, 1e-6)
    unit = sw.beliefs.Standardiser()
    for n in range(view.n_initial, len(view) + 1):
        seen, y = places[:n], view.y[:n]
        posterior = sw.beliefs.condition(
            seen[:, None], y, hyper, standardiser=unit, interpolate=True
        )
        mean, std = posterior(x[:, None])
        if np.max(log_ei(mean, std, float(y.min()))) <= np.log(max(COSTS)):
            break
    return seen, y, mean, std


def _above(
    axes: Axes, x: Array, curves: tuple[Array, Array, Array], data: tuple[Array, Array]
) -> None:
    mean, std, fair = curves
    axes.fill_between(x, mean - 2 * std, mean + 2 * std, color=style.GREY, alpha=0.25, linewidth=0)
    axes.plot(x, mean, color=style.GREY, linewidth=1.0, label="posterior mean, two deviations")
    axes.plot(x, fair, color=style.RED, label="fair value (PBGI)")
    axes.plot(*data, "o", color="black", markersize=4, label="evaluated")
    low = float(data[1].min())
    axes.axhline(low, color="black", linestyle="--", linewidth=1.0)
    style.labels(axes, y="value")


def _floats(records: list[dict[str, float]]) -> list[dict[str, float]]:
    return [{k: float(v) for k, v in record.items()} for record in records]
