# SPDX-License-Identifier: Apache-2.0
"""1D: the order of the posterior update, before or after the stopping decision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from stopwise.stopping import PBGI, StoppingRule
from stopwise_paper.analysis.regret import Row, regret_rows
from stopwise_paper.analysis.standard_error import standard_error
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import LAMS, Results
from stopwise_paper.figures._style import Sheet
from stopwise_paper.runs.trajectory import Trajectory

ORDERS = {"after": style.RED, "before": style.BLUE}


def draw(results: Results) -> Iterator[Sheet]:
    """PBGI and LogEIPC: regret of both orders, and the difference seed by seed."""
    views = [v for v in results.views("gp1d") if v.cell.acquisition in ("pbgi", "logeipc")]
    rows = regret_rows(views, LAMS["gp1d"], rules=_both, baselines=False)
    groups: dict[tuple[str, float, str], dict[str, list[Row]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        key = (row.pair.acquisition, row.pair.lam, row.pair.cost)
        groups[key][row.pair.rule].append(row)
    records = [_record(key, by_order) for key, by_order in groups.items()]
    figure, (panels,) = style.panels(1, 2, width=4.6, height=2.8)
    for axes, acquisition in zip(panels, ("pbgi", "logeipc"), strict=True):
        panel = [r for r in records if r["acquisition"] == acquisition]
        for i, (order, colour) in enumerate(ORDERS.items()):
            axes.errorbar(
                np.arange(len(panel)) + 0.2 * i - 0.1,
                [r[order] for r in panel],
                yerr=[np.nan_to_num(2.0 * r[f"{order}_se"]) for r in panel],
                fmt="o" if order == "after" else "s",
                color=colour,
                markersize=4,
                capsize=2,
                label=f"{order} the posterior update",
            )
        ticks = [f"{r['cost']}\n{r['lam']:g}" for r in panel]
        axes.set_xticks(range(len(panel)), ticks, fontsize=6)
        style.log_axis(axes)
        style.title(axes, style.acquisition_style(acquisition)[0])
        style.labels(axes, x=r"price and $\lambda$", y="cost-adjusted regret")
    style.legend(figure, panels)
    yield Sheet("order", records, figure, results.note("gp1d"))


def _both(_view: Trajectory, lam: float) -> dict[str, StoppingRule]:
    return {"after": PBGI(lam), "before": PBGI(lam, "before")}


def _record(key: tuple[str, float, str], by_order: dict[str, list[Row]]) -> dict[str, Any]:
    acquisition, lam, cost = key
    value = {
        order: np.array([r.adjusted for r in sorted(rows, key=lambda row: row.seed)])
        for order, rows in by_order.items()
    }
    difference = value["after"] - value["before"]
    return {
        "acquisition": acquisition,
        "cost": cost,
        "lam": lam,
        "seeds": len(difference),
        "after": float(value["after"].mean()),
        "after_se": float(standard_error(value["after"])),
        "before": float(value["before"].mean()),
        "before_se": float(standard_error(value["before"])),
        "difference": float(difference.mean()),
        "difference_se": float(standard_error(difference)),
        "after_better": int(np.sum(difference < 0.0)),
        "equal": int(np.sum(difference == 0.0)),
        "t_after": float(np.mean([r.t for r in by_order["after"]])),
        "t_before": float(np.mean([r.t for r in by_order["before"]])),
    }
