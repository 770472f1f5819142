# SPDX-License-Identifier: Apache-2.0
"""Regret against iteration: the mean curve is fixed-iteration stopping, markers are rules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from stopwise_paper.analysis.regret import BEST_FIXED, HINDSIGHT, Mean, as_records, mean_curve
from stopwise_paper.analysis.replay import PLAIN, Variant
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._bars import ADJUSTED, chosen, log_scale
from stopwise_paper.figures._results import LAMS, Results
from stopwise_paper.figures._style import Sheet
from stopwise_paper.runs.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def iterations(
    results: Results, experiment: str, problem: str, cost: str, name: str, variant: Variant = PLAIN
) -> Sheet:
    """One figure: a row for each lambda, a column for each acquisition."""
    everything = results.views(experiment)
    priced = [v for v in everything if (v.cell.problem, v.cell.cost) == (problem, cost)]
    acquisitions = list(dict.fromkeys(v.cell.acquisition for v in priced))
    lams = LAMS[experiment]
    table = results.means(experiment, variant)
    figure, grid = style.panels(len(lams), len(acquisitions), width=2.6, height=2.1)
    kept: list[Mean] = []
    for row, lam in zip(grid, lams, strict=True):
        panel = chosen(table, problem=problem, cost=cost, lam=lam)
        kept += panel
        for axes, acquisition in zip(row, acquisitions, strict=True):
            views = [v for v in priced if v.cell.acquisition == acquisition and _is_at(v, lam)]
            means = [m for m in panel if m.pair.acquisition == acquisition]
            _panel(axes, views, means, lam)
            label = style.acquisition_style(acquisition)[0]
            style.title(axes, f"{label}, {style.lam_label(lam)}")
        style.labels(row[0], y=ADJUSTED)
    for axes in grid[-1]:
        style.labels(axes, x="evaluations after the initial design")
    style.legend(figure, [axes for row in grid for axes in row])
    return Sheet(name, as_records(kept), figure, results.note(experiment))


def _is_at(view: Trajectory, lam: float) -> bool:
    return view.cell.lam is None or math.isclose(view.cell.lam, lam)


def _panel(axes: Axes, views: Sequence[Trajectory], means: Sequence[Mean], lam: float) -> None:
    if not views:
        axes.text(0.5, 0.5, "not run", ha="center", va="center", transform=axes.transAxes)
        return
    t, mean, se = mean_curve(views, lam)
    band = np.nan_to_num(2.0 * se)
    axes.plot(t, mean, "--", color="black", linewidth=1.0, label="fixed iteration")
    axes.fill_between(t, mean - band, mean + band, color=style.GREY, alpha=0.25, linewidth=0)
    for m in means:
        marker = _marker(m.pair.rule)
        if marker is None:
            continue
        label, colour, shape = marker
        axes.errorbar(
            m.t,
            m.adjusted,
            xerr=np.nan_to_num(2.0 * m.t_se),
            yerr=np.nan_to_num(2.0 * m.adjusted_se),
            fmt=shape,
            color=colour,
            markeredgecolor="black",
            markeredgewidth=0.4,
            markersize=5,
            elinewidth=0.7,
            label=label,
        )
    log_scale(axes, [*mean.tolist(), *(m.adjusted for m in means)])


def _marker(rule: str) -> tuple[str, str, str] | None:
    if rule == HINDSIGHT:
        return style.BASELINES[rule], "black", "D"
    if rule == BEST_FIXED:
        return style.BASELINES[rule], "white", "o"
    return None if rule == "immediate" else style.rule_style(rule)
