# SPDX-License-Identifier: Apache-2.0
"""LCBench: tables with hyper-parameters fitted on a schedule and at every step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from stopwise_paper.analysis.regret import Mean, Row, means
from stopwise_paper.analysis.standard_error import standard_error
from stopwise_paper.arrays import Array
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import MissingTrajectoriesError, Results
from stopwise_paper.figures._style import Sheet

_Key = tuple[str, float, str, str, int]


def draw(results: Results) -> Iterator[Sheet]:
    """Every pair with a fit at every step against the schedule, seed by seed."""
    always, schedule = _by_seed(results, "refit"), _by_seed(results, "lcbench")
    shared = [key for key in always if key in schedule]
    if not shared:
        message = "no trajectory of refit has its like among those of lcbench"
        raise MissingTrajectoriesError(message)
    records: list[dict[str, Any]] = []
    for pair in dict.fromkeys(key[:4] for key in shared):
        keys = [key for key in shared if key[:4] == pair]
        (every,) = means([always[key] for key in keys])
        (rare,) = means([schedule[key] for key in keys])
        difference = np.array([schedule[k].adjusted - always[k].adjusted for k in keys])
        records.append(_record(every, rare, difference))
    figure, ((axes,),) = style.panels(1, 1, width=4.6, height=4.0)
    for rule in dict.fromkeys(r["rule"] for r in records):
        label, colour, marker = style.rule_style(rule)
        of_rule = [r for r in records if r["rule"] == rule]
        axes.errorbar(
            [r["always"] for r in of_rule],
            [r["schedule"] for r in of_rule],
            yerr=[np.nan_to_num(2.0 * r["difference_se"]) for r in of_rule],
            fmt=marker,
            color=colour if rule in style.RULES else "black",
            markeredgecolor="black",
            markeredgewidth=0.3,
            markersize=4,
            elinewidth=0.6,
            label=style.BASELINES.get(rule, label),
        )
    style.log_axis(axes, "x")
    style.log_axis(axes)
    axes.axline((1.0, 1.0), (10.0, 10.0), color=style.GREY, linewidth=0.8)
    style.labels(axes, x="cost-adjusted regret, fit at every step", y="on the schedule")
    style.legend(figure, [axes], columns=4)
    yield Sheet("refit", records, figure, results.note("refit"))


def _by_seed(results: Results, experiment: str) -> dict[_Key, Row]:
    return {
        (r.pair.problem, r.pair.lam, r.pair.acquisition, r.pair.rule, r.seed): r
        for r in results.rows(experiment)
    }


def _record(every: Mean, rare: Mean, difference: Array) -> dict[str, Any]:
    se = float(standard_error(difference))
    return {
        "problem": every.pair.problem,
        "lam": every.pair.lam,
        "acquisition": every.pair.acquisition,
        "rule": every.pair.rule,
        "seeds": len(difference),
        "always": every.adjusted,
        "always_se": every.adjusted_se,
        "schedule": rare.adjusted,
        "schedule_se": rare.adjusted_se,
        "difference": float(difference.mean()),
        "difference_se": se,
        "differs": bool(abs(difference.mean()) > 2.0 * se),
    }
