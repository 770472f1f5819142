# SPDX-License-Identifier: Apache-2.0
"""The summary of all runs: cells, seeds, versions, and the time of an evaluation by part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from stopwise_paper.cell import COST_BLIND
from stopwise_paper.experiments import EXPERIMENTS
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import MissingTrajectoriesError, Results
from stopwise_paper.figures._style import Sheet
from stopwise_paper.runs.trajectory import Trajectory

_PARTS = {  # of an evaluation, in the order in which they are stacked
    "fit": ("fit", style.GREY),
    "ask": ("choice", style.BLACK),
    "pbgi": ("PBGI rule", style.RED),
    "pbgi-before": ("PBGI, before the update", style.PINK),
    "srgap-med": ("SRGap-med", style.YELLOW),
    "ucb-lcb": ("UCB-LCB", style.GREEN),
    "prb": ("PRB", style.SKY),
    "prb-mean": ("PRB, plain fraction", style.BLUE),
}
_VERSIONS = ("stopwise", "python", "numpy", "scipy")


def draw(results: Results) -> Iterator[Sheet]:
    """A line for each experiment and acquisition."""
    records: list[dict[str, Any]] = []
    notes: list[str] = []
    for experiment in EXPERIMENTS:
        try:
            views = results.views(experiment)
        except MissingTrajectoriesError as error:
            notes.append(str(error))
            continue
        by_acquisition: dict[str, dict[str, Trajectory]] = defaultdict(dict)
        for view in views:  # a trajectory that serves several prices is one
            cell = view.cell
            cell = replace(cell, cost="") if cell.acquisition in COST_BLIND else cell
            by_acquisition[cell.acquisition][cell.key] = view
        records += [
            _record(experiment, name, list(group.values()))
            for name, group in by_acquisition.items()
        ]
        notes.append(results.note(experiment))
    if not records:
        raise MissingTrajectoriesError("; ".join(notes))
    height = 0.2 * len(records) + 1.0
    figure, ((axes,),) = style.panels(1, 1, width=7.0, height=height)
    left = np.zeros(len(records))
    for part, (label, colour) in _PARTS.items():
        width = np.array([r[f"ms_{part}"] for r in records])
        axes.barh(range(len(records)), width, left=left, color=colour, label=label)
        left += width
    ticks = [f"{r['experiment']}, {style.acquisition_style(r['acquisition'])[0]}" for r in records]
    axes.set_yticks(range(len(records)), ticks, fontsize=7)
    axes.margins(y=0.01)
    axes.invert_yaxis()
    style.labels(axes, x="milliseconds an evaluation, all rules recorded")
    style.legend(figure, [axes], columns=4)
    yield Sheet("summary", records, figure, "; ".join(filter(None, notes))[:200])


def _record(experiment: str, acquisition: str, views: list[Trajectory]) -> dict[str, Any]:
    """Counts, hours, and milliseconds an evaluation by part."""
    parts = {part: f"rule:{part}" if part not in ("fit", "ask") else part for part in _PARTS}
    mean = {
        part: np.mean([np.mean(view.seconds.get(name, 0.0)) for view in views])
        for part, name in parts.items()
    }
    total = sum(np.mean(taken) * (view.T + 1) for view in views for taken in view.seconds.values())
    return {
        "experiment": experiment,
        "acquisition": acquisition,
        "trajectories": len(views),
        "problems": len({view.cell.problem for view in views}),
        "seeds": len({view.cell.seed for view in views}),
        "cap": max(view.cell.cap for view in views),
        "refit": views[0].cell.option("refit", "always"),
        "core_hours": float(total / 3600.0),
        **{f"ms_{part}": float(1e3 * value) for part, value in mean.items()},
        **{name: _versions(views, name) for name in _VERSIONS},
    }


def _versions(views: list[Trajectory], name: str) -> str:
    return " ".join(sorted({str(view.facts[name]) for view in views if name in view.facts}))
