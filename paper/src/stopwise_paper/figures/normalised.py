# SPDX-License-Identifier: Apache-2.0
"""Min-max-normalised regret, averaged over data sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from stopwise_paper.analysis.rankings import Normalised, normalised
from stopwise_paper.analysis.regret import BASELINES
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import LAMS, MissingTrajectoriesError, Results
from stopwise_paper.figures._style import Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(results: Results) -> Iterator[Sheet]:
    """One figure for LCBench, one for NATS-Bench where it is there."""
    yield _sheet(results, "lcbench")
    try:
        yield _sheet(results, "nats")
    except MissingTrajectoriesError:
        return


def _sheet(results: Results, experiment: str) -> Sheet:
    table = normalised(results.means(experiment))
    lams = LAMS[experiment]
    figure, (panels,) = style.panels(1, len(lams), width=3.6, height=2.6, share_y=True)
    for axes, lam in zip(panels, lams, strict=True):
        _panel(axes, [n for n in table if n.lam == lam])
        style.title(axes, f"{experiment}, {style.lam_label(lam)}")
    style.labels(panels[0], y="normalised regret")
    style.legend(figure, panels)
    note = results.note(experiment)
    stands_in = any(v.cell.problem.startswith("nats-topology") for v in results.views(experiment))
    if stands_in:
        note = "; ".join(filter(None, ["topology space, in place of the size space", note]))
    records = [{"experiment": experiment, **asdict(n)} for n in table]
    return Sheet(f"normalised-{experiment}", records, figure, note)


def _panel(axes: Axes, table: list[Normalised]) -> None:
    acquisitions = list(dict.fromkeys(n.acquisition for n in table))
    rules = list(dict.fromkeys(n.rule for n in table if n.rule not in BASELINES))
    shown = [*rules, "hindsight", "best-fixed"]
    width = 0.84 / len(shown)
    for i, rule in enumerate(shown):
        label, colour, _ = style.rule_style(rule)
        if rule in style.BASELINES:
            label, colour = style.BASELINES[rule], {"hindsight": "black"}.get(rule, "white")
        drawn = [(acquisitions.index(n.acquisition), n) for n in table if n.rule == rule]
        axes.bar(
            [g + (i - 0.5 * (len(shown) - 1)) * width for g, _ in drawn],
            [n.value for _, n in drawn],
            width,
            yerr=[np.nan_to_num(2.0 * n.se) for _, n in drawn],
            color=colour,
            edgecolor="black",
            linewidth=0.3,
            error_kw={"elinewidth": 0.7, "capsize": 1.2},
            label=label,
        )
    at_once = [n.value for n in table if n.rule == "immediate"]
    if at_once:
        axes.axhline(at_once[0], color=style.GREY, linestyle="--", label="Immediate")
    axes.set_xticks(range(len(acquisitions)))
    axes.set_xticklabels([style.acquisition_style(a)[0] for a in acquisitions])
    axes.set_ylim(0.0, None)
