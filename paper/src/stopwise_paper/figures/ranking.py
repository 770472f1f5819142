# SPDX-License-Identifier: Apache-2.0
"""LCBench: how often the PBGI/LogEIPC rule is among the best pairs, large and all data sets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from stopwise_paper.analysis.departures import PUBLISHED_DEPARTURES
from stopwise_paper.analysis.published import published_counts
from stopwise_paper.analysis.rankings import Place, top_k
from stopwise_paper.analysis.regret import Mean
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import LAMS, Results
from stopwise_paper.figures._style import Sheet
from stopwise_paper.problems.lcbench import instances

LARGE = 10_000  # instances; the paper's large data sets have more
_EDGE: dict[str, Any] = {"edgecolor": "black", "linewidth": 0.5}
_SHADES = {1: style.BLUE, 2: style.SKY, 3: "#C9E6F5"}


def draw(results: Results) -> Iterator[Sheet]:
    """A table of every pair, published counts beside ours; a figure of the matched ones.

    Right beside ours stands what the same trajectories give with the published departures.
    """
    table = results.means("lcbench")
    departed = results.means("lcbench", departures=PUBLISHED_DEPARTURES["lcbench"])
    groups = _groups(table)
    records: list[dict[str, Any]] = []
    figure, grid = style.panels(1, max(len(groups), 1), width=4.6, height=2.6, share_y=True)
    for axes, (group, problems) in zip(grid[0], groups.items(), strict=False):
        places = top_k(table, problems=problems)
        departures = top_k(departed, problems=problems)
        records += [_record(group, place, departures) for place in places]
        ticks = []
        matched = [(lam, a) for lam in LAMS["lcbench"] for a in ("pbgi", "logeipc")]
        for i, (lam, acquisition) in enumerate(matched):
            ticks.append(f"{style.acquisition_style(acquisition)[0]}\n{lam:g}")
            for k in (3, 2, 1):
                share = _share(places, lam, acquisition, k)
                axes.bar(i - 0.2, share, 0.4, color=_SHADES[k], label=f"top {k}", **_EDGE)
                share = _share(departures, lam, acquisition, k)
                axes.bar(i + 0.2, share, 0.4, color=_SHADES[k], hatch="///", **_EDGE)
                theirs = _published(group, lam, acquisition, k)
                if theirs is not None:
                    axes.hlines(theirs, i - 0.45, i + 0.45, color=style.RED, label="published")
        axes.set_xticks(range(len(ticks)), ticks)
        style.title(axes, f"{group}: {len(problems)} data sets")
        style.labels(axes, y="percent of data sets")
    axes.bar(0, 0, color="white", hatch="///", label="with their departures", **_EDGE)
    style.legend(figure, grid[0])
    yield Sheet("ranking", records, figure, results.note("lcbench"))


def _groups(table: list[Mean]) -> dict[str, set[str]]:
    everything = {m.pair.problem for m in table}
    sizes = instances()
    large = {p for p in everything if sizes.get(p.partition(":")[2], 0) > LARGE}
    return {"large": large, "all": everything} if large else {"all": everything}


def _share(places: list[Place], lam: float, acquisition: str, k: int, rule: str = "pbgi") -> float:
    for p in places:
        if (p.acquisition, p.rule, p.k) == (acquisition, rule, k) and math.isclose(p.lam, lam):
            return 100.0 * p.count / p.of
    return 0.0


def _published(group: str, lam: float, acquisition: str, k: int) -> float | None:
    for c in published_counts():
        same = (c.table, c.problem, c.acquisition, c.rule) == (
            "ranking",
            group,
            acquisition,
            f"top-{k}",
        )
        if same and math.isclose(c.lam, lam):
            return 100.0 * c.count / c.of
    return None


def _record(group: str, place: Place, departures: list[Place]) -> dict[str, Any]:
    theirs = None
    if place.rule == "pbgi":
        theirs = _published(group, place.lam, place.acquisition, place.k)
    return {
        "group": group,
        "lam": place.lam,
        "acquisition": place.acquisition,
        "rule": place.rule,
        "top": place.k,
        "count": place.count,
        "of": place.of,
        "percent": 100.0 * place.count / place.of,
        "percent_with_departures": _share(
            departures, place.lam, place.acquisition, place.k, place.rule
        ),
        "published_percent": theirs,
    }
