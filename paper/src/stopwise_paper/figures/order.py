# SPDX-License-Identifier: Apache-2.0
"""1D: stopping by the posterior after the last observation, or the one before it; all seeds."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from stopwise.stopping import PBGI, StoppingRule
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._found import LAMS, Found
from stopwise_paper.figures._style import Sheet
from stopwise_paper.regret import Row, regret_rows
from stopwise_paper.trajectory import Trajectory

ORDERS = {"after": style.RED, "before": style.BLUE}


def draw(found: Found) -> Iterator[Sheet]:
    """PBGI and LogEIPC: regret of both orders, and the difference seed by seed."""
    views = [v for v in found.views("gp1d") if v.cell.acquisition in ("pbgi", "logeipc")]
    rows = regret_rows(views, LAMS["gp1d"], rules=_both, baselines=False)
    groups: dict[tuple[str, float, str], dict[str, list[Row]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        key = (row.pair.acquisition, row.pair.lam, row.pair.cost)
        groups[key][row.pair.rule].append(row)
    records = [_record(key, own) for key, own in groups.items()]
    figure, (panels,) = style.panels(1, 2, width=4.6, height=2.8)
    for axes, acquisition in zip(panels, ("pbgi", "logeipc"), strict=True):
        own = [r for r in records if r["acquisition"] == acquisition]
        for i, (order, colour) in enumerate(ORDERS.items()):
            axes.errorbar(
                np.arange(len(own)) + 0.2 * i - 0.1,
                [r[order] for r in own],
                yerr=[np.nan_to_num(2.0 * r[f"{order}_se"]) for r in own],
                fmt="o" if order == "after" else "s",
                color=colour,
                markersize=4,
                capsize=2,
                label=f"{order} the posterior update",
            )
        ticks = [f"{r['cost']}\n{r['lam']:g}" for r in own]
        axes.set_xticks(range(len(own)), ticks, fontsize=6)
        style.log_axis(axes)
        style.title(axes, style.acquisition_style(acquisition)[0])
        style.labels(axes, x=r"price and $\lambda$", y="cost-adjusted regret")
    style.legend(figure, panels)
    yield Sheet("order", records, figure, found.note("gp1d"))


def _both(_view: Trajectory, lam: float) -> dict[str, StoppingRule]:
    return {"after": PBGI(lam), "before": PBGI(lam, "before")}


def _record(key: tuple[str, float, str], own: dict[str, list[Row]]) -> dict[str, Any]:
    acquisition, lam, cost = key
    value = {
        order: np.array([r.adjusted for r in sorted(rows, key=lambda row: row.seed)])
        for order, rows in own.items()
    }
    difference = value["after"] - value["before"]
    return {
        "acquisition": acquisition,
        "cost": cost,
        "lam": lam,
        "seeds": len(difference),
        "after": float(value["after"].mean()),
        "after_se": _se(value["after"]),
        "before": float(value["before"].mean()),
        "before_se": _se(value["before"]),
        "difference": float(difference.mean()),
        "difference_se": _se(difference),
        "after_better": int(np.sum(difference < 0.0)),
        "equal": int(np.sum(difference == 0.0)),
        "t_after": float(np.mean([r.t for r in own["after"]])),
        "t_before": float(np.mean([r.t for r in own["before"]])),
    }


def _se(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
