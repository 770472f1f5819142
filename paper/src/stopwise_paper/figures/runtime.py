# SPDX-License-Identifier: Apache-2.0
"""8D: the time that each rule takes at each step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from stopwise_paper.arrays import Array
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import Results
from stopwise_paper.figures._style import Sheet
from stopwise_paper.runs.trajectory import Trajectory

RULES = ("pbgi", "srgap-med", "ucb-lcb", "prb")  # the others read values that are there
_LEAST = 1e-6  # seconds: below that a logarithm says nothing


def draw(results: Results) -> Iterator[Sheet]:
    """Mean over seeds and prices, one panel for each policy."""
    groups: dict[str, list[Trajectory]] = defaultdict(list)
    for view in results.views("gp8d"):
        name = style.acquisition_style(view.cell.acquisition)[0]
        lam = view.cell.lam
        groups[name if lam is None else f"{name}({lam:g})"].append(view)
    columns = min(len(groups), 3)
    lines = -(-len(groups) // columns)
    figure, grid = style.panels(lines, columns, width=3.2, height=2.3, share_y=True)
    panels = [axes for row in grid for axes in row]
    records: list[dict[str, Any]] = []
    for axes, (policy, views) in zip(panels, groups.items(), strict=False):
        for rule in RULES:
            taken = _mean_seconds(views, rule)
            if taken is None:
                continue
            label, colour, _ = style.rule_style(rule)
            t = np.arange(1, len(taken))  # at t = 0 some rules have nothing to do
            axes.plot(t, np.maximum(taken[1:], _LEAST), color=colour, linewidth=1.2, label=label)
            records += [
                {"policy": policy, "rule": rule, "t": t, "seconds": float(s)}
                for t, s in enumerate(taken)
            ]
        style.log_axis(axes)
        style.title(axes, policy)
        style.labels(axes, x="evaluations after the initial design", y="seconds a step")
    for axes in panels[len(groups) :]:
        axes.set_visible(False)
    style.legend(figure, panels)
    yield Sheet("runtime", records, figure, results.note("gp8d"))


def _mean_seconds(views: list[Trajectory], rule: str) -> Array | None:
    taken = [v.seconds[f"rule:{rule}"] for v in views if f"rule:{rule}" in v.seconds]
    if not taken:
        return None
    last = min(len(s) for s in taken)
    return np.asarray(np.mean([s[:last] for s in taken], axis=0))
