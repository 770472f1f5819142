# SPDX-License-Identifier: Apache-2.0
"""The default rule: candidates for stopping="pbgi" by measured regret, over all experiments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from stopwise_paper.analysis.default_rule import (
    CandidateResult,
    CandidateSummary,
    compare_candidates,
    summarise,
)
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import LAMS, MissingTrajectoriesError, Results
from stopwise_paper.figures._style import Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

READS = (
    "gp1d",
    "gp8d",
    "boxes",
    "functions",
    "lcbench",
    "nats",
    "sklearn",
    "unknown-cost",
    "sklearn-unknown",
)

_COLUMNS = 4


def draw(results: Results) -> Iterator[Sheet]:
    """The whole table, and a figure of regret relative to the plain rule."""
    table: list[CandidateResult] = []
    notes = []
    for experiment in READS:
        try:
            table += compare_candidates(results.views(experiment), LAMS[experiment])
            notes.append(results.note(experiment))
        except MissingTrajectoriesError as error:
            notes.append(str(error))
    if not table:
        raise MissingTrajectoriesError("; ".join(notes))
    summary = summarise(table)
    details = [{k: v for k, v in asdict(s).items() if k != "by_seed"} for s in table]
    yield Sheet("default-rule-details", details)
    shown = [s for s in summary if s.candidate != "immediate"]
    experiments = list(dict.fromkeys(s.experiment for s in shown))
    columns = min(len(experiments), _COLUMNS)
    figure, grid = style.panels(-(-len(experiments) // columns), columns, width=3.2, height=2.8)
    panels = [axes for line in grid for axes in line]
    for i, (axes, experiment) in enumerate(zip(panels, experiments, strict=False)):
        candidates = [s for s in shown if s.experiment == experiment]
        _panel(axes, candidates, labelled=i % columns == 0)
        style.title(axes, experiment)
    for axes in panels[len(experiments) :]:
        axes.set_visible(False)
    text = "; ".join(filter(None, notes))
    yield Sheet("default-rule", [asdict(s) for s in summary], figure, text[:200])


def _panel(axes: Axes, candidates: list[CandidateSummary], *, labelled: bool) -> None:
    places = np.arange(len(candidates))[::-1]
    axes.errorbar(
        [s.relative for s in candidates],
        places,
        xerr=[np.nan_to_num(2.0 * s.relative_se) for s in candidates],
        fmt="o",
        color=style.BLUE,
        markersize=4,
        capsize=2,
    )
    axes.axvline(1.0, color=style.GREY, linewidth=0.8)
    axes.set_yticks(places, [s.candidate if labelled else "" for s in candidates])
    axes.locator_params(axis="x", nbins=5)
    style.labels(axes, x="regret relative to plain")
