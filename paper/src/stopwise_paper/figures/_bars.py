# SPDX-License-Identifier: Apache-2.0
"""Bars of cost-adjusted regret: rules within acquisitions, baselines across."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from stopwise_paper.analysis.regret import BASELINES, BEST_FIXED, HINDSIGHT, IMMEDIATE, Mean
from stopwise_paper.figures import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ADJUSTED = "cost-adjusted regret"
_WIDTH = 0.84  # of a group


def chosen(
    table: Sequence[Mean], *, problem: str, cost: str, lam: float, rules: bool | None = None
) -> list[Mean]:
    """The means of one panel."""
    return [
        m
        for m in table
        if (m.pair.problem, m.pair.cost) == (problem, cost)
        and math.isclose(m.pair.lam, lam)
        and (rules is None or (m.pair.rule not in BASELINES) == rules)
    ]


def bars(axes: Axes, table: Sequence[Mean]) -> None:
    """One panel: a group for each acquisition, a bar for each rule, error bars of two SE."""
    acquisitions = list(dict.fromkeys(m.pair.acquisition for m in table))
    rules = list(dict.fromkeys(m.pair.rule for m in table if m.pair.rule not in BASELINES))
    by_pair = {(m.pair.acquisition, m.pair.rule): m for m in table}
    width = _WIDTH / max(len(rules), 1)
    for i, rule in enumerate(rules):
        label, colour, _ = style.rule_style(rule)
        drawn = [(g, by_pair[a, rule]) for g, a in enumerate(acquisitions) if (a, rule) in by_pair]
        axes.bar(
            [g + (i - 0.5 * (len(rules) - 1)) * width for g, _ in drawn],
            [m.adjusted for _, m in drawn],
            width,
            yerr=[_two(m.adjusted_se) for _, m in drawn],
            color=colour,
            edgecolor="black",
            linewidth=0.3,
            error_kw={"elinewidth": 0.7, "capsize": 1.2, "capthick": 0.7},
            label=label,
        )
    _baselines(axes, acquisitions, by_pair)
    axes.set_xticks(range(len(acquisitions)))
    axes.set_xticklabels([style.acquisition_style(a)[0] for a in acquisitions])
    log_scale(axes, [m.adjusted for m in table])


def log_scale(axes: Axes, values: Sequence[float]) -> None:
    """A logarithmic axis from a little below the smallest positive value on."""
    positive = [v for v in values if v > 0.0]
    if not positive:
        return
    low, high = min(positive), max(positive)
    style.log_axis(axes)
    axes.set_ylim(0.7 * low, 1.8 * high)


def _baselines(
    axes: Axes, acquisitions: Sequence[str], by_pair: dict[tuple[str, str], Mean]
) -> None:
    at_once = [by_pair[a, IMMEDIATE] for a in acquisitions if (a, IMMEDIATE) in by_pair]
    if at_once:
        value = float(np.mean([m.adjusted for m in at_once]))
        axes.axhline(value, color=style.GREY, linestyle="--", linewidth=1.0, label="Immediate")
    for rule, marker, face in ((HINDSIGHT, "D", "black"), (BEST_FIXED, "o", "white")):
        drawn = [(g, by_pair[a, rule]) for g, a in enumerate(acquisitions) if (a, rule) in by_pair]
        if drawn:
            axes.errorbar(
                [g for g, _ in drawn],
                [m.adjusted for _, m in drawn],
                yerr=[_two(m.adjusted_se) for _, m in drawn],
                fmt=marker,
                markersize=4,
                markerfacecolor=face,
                color="black",
                elinewidth=0.7,
                label=style.BASELINES[rule],
                zorder=5,
            )


def _two(se: float) -> float:
    return 0.0 if math.isnan(se) else 2.0 * se
