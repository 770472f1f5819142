# SPDX-License-Identifier: Apache-2.0
"""8D: the effect of the moving average's window, over all seeds."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from stopwise_paper.analysis.regret import HINDSIGHT, Mean, as_records, means, regret_rows
from stopwise_paper.analysis.replay import Variant, pbgi_alone
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._bars import ADJUSTED
from stopwise_paper.figures._results import Results
from stopwise_paper.figures._style import Sheet
from stopwise_paper.problems.synthetic_costs import KINDS
from stopwise_paper.runs.trajectory import Trajectory

WINDOWS = (1, 5, 10, 20)
LAM = 1e-2


def draw(results: Results) -> Iterator[Sheet]:
    """One panel for each price: cost-adjusted regret of the PBGI/LogEIPC rule by window."""
    views = results.views("gp8d")
    table: list[Mean] = []
    for window in WINDOWS:
        rows = regret_rows(
            views, [LAM], rules=pbgi_alone, variant=Variant(window), baselines=window == 1
        )
        table += means(rows)
    figure, (panels,) = style.panels(1, len(KINDS), width=3.4, height=2.6)
    for axes, cost in zip(panels, KINDS, strict=True):
        panel = [m for m in table if m.pair.cost == cost]
        for i, acquisition in enumerate(dict.fromkeys(m.pair.acquisition for m in panel)):
            name, colour = style.acquisition_style(acquisition)
            of_acquisition = [m for m in panel if m.pair.acquisition == acquisition]
            by_window = [m for m in of_acquisition if m.pair.rule == "pbgi"]
            axes.errorbar(
                np.arange(len(by_window)) + 0.08 * i - 0.12,
                [m.adjusted for m in by_window],
                yerr=[np.nan_to_num(2.0 * m.adjusted_se) for m in by_window],
                fmt="o-",
                color=colour,
                markersize=4,
                linewidth=0.9,
                capsize=2,
                label=name,
            )
            for m in of_acquisition:
                if m.pair.rule == HINDSIGHT:
                    axes.axhline(m.adjusted, color=colour, linestyle=":", linewidth=0.8)
        axes.set_xticks(range(len(WINDOWS)), [str(w) for w in WINDOWS])
        style.title(axes, f"{cost} cost, {style.lam_label(LAM)} (dotted: Hindsight)")
        style.labels(axes, x="window W")
    style.labels(panels[0], y=ADJUSTED)
    style.legend(figure, panels)
    yield Sheet("windows", as_records(table), figure, results.note("gp8d"))


def lam_of(view: Trajectory, lam: float) -> float:
    """The lambda at which a trajectory is read: that of its acquisition, if it has one."""
    of_acquisition = view.cell.lam
    if of_acquisition is None or math.isclose(of_acquisition, lam):
        return lam
    return of_acquisition
