# SPDX-License-Identifier: Apache-2.0
"""LCBench: simple regret against what was spent, PBGI-D among the acquisitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from stopwise_paper.analysis.standard_error import standard_error
from stopwise_paper.arrays import Array
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import Results
from stopwise_paper.figures._style import Sheet
from stopwise_paper.runs.trajectory import Trajectory

_POINTS = 201
_DASHES = {1e-3: "-", 1e-4: "--", 1e-5: ":"}


def draw(results: Results) -> Iterator[Sheet]:
    """One panel for each data set that PBGI-D was run on."""
    groups: dict[str, dict[tuple[str, float | None], list[Trajectory]]] = {}
    for view in results.views("budgeted"):
        groups.setdefault(view.cell.problem, defaultdict(list))["pbgi-d", view.cell.lam].append(
            view
        )
    for view in results.views("lcbench"):
        if view.cell.problem in groups:
            groups[view.cell.problem][view.cell.acquisition, view.cell.lam].append(view)
    figure, (panels,) = style.panels(1, len(groups), width=4.0, height=2.8)
    records: list[dict[str, Any]] = []
    for axes, (problem, policies) in zip(panels, groups.items(), strict=True):
        budget = min(_reach(views) for views in policies.values())
        grid = np.linspace(0.0, budget, _POINTS)
        for (acquisition, lam), views in sorted(policies.items(), key=str):
            name, colour = style.acquisition_style(acquisition)
            label = name if lam is None else f"{name}({lam:g})"
            mean, se = spent_curve(views, grid)
            dash = _DASHES.get(lam, "-") if lam is not None else "-"
            axes.plot(grid, mean, dash, color=colour, linewidth=1.2, label=label)
            band = np.nan_to_num(2.0 * se)
            axes.fill_between(
                grid, mean - band, mean + band, color=colour, alpha=0.12, linewidth=0
            )
            records += [
                {"problem": problem, "policy": label, "spent": s, "regret": m, "regret_se": e}
                for s, m, e in zip(grid.tolist(), mean.tolist(), se.tolist(), strict=True)
            ]
        style.log_axis(axes)
        style.title(axes, style.problem_label(problem))
        style.labels(axes, x="spent after the initial design (seconds, proxy)")
    style.labels(panels[0], y="simple regret (test error)")
    style.legend(figure, panels)
    notes = "; ".join(filter(None, (results.note("budgeted"), results.note("lcbench"))))
    yield Sheet("budgeted", records, figure, notes)


def spent_curve(views: list[Trajectory], grid: Array) -> tuple[Array, Array]:
    """Mean and standard error of the regret that each sum buys, a step at every evaluation."""
    curves = np.array(
        [v.regret[np.searchsorted(v.spent(), grid, side="right") - 1] for v in views]
    )
    return curves.mean(axis=0), standard_error(curves)


def _reach(views: list[Trajectory]) -> float:
    """The largest sum that all of them spent."""
    return min(float(view.spent()[-1]) for view in views)
