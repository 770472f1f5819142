# SPDX-License-Identifier: Apache-2.0
"""Runs that a rule never stopped, on LCBench and NATS-Bench."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from stopwise_paper.analysis.published import published_counts
from stopwise_paper.analysis.regret import Pair, non_stops
from stopwise_paper.experiments import RUNTIMES
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import LAMS, MissingTrajectoriesError, Results
from stopwise_paper.figures._style import Sheet

SHOWN_LAM = {"lcbench": 1e-4, "nats": 1e-5}


def draw(results: Results) -> Iterator[Sheet]:
    """The table has every data set, lambda and acquisition; the figure what the paper shows."""
    records: list[dict[str, Any]] = []
    shown: dict[str, dict[str, float]] = {}
    notes = []
    for experiment in ("lcbench", "nats"):
        try:
            table = non_stops(results.rows(experiment))
        except MissingTrajectoriesError as missing:
            if experiment == "lcbench":
                raise
            notes.append(str(missing))
            continue
        notes.append(results.note(experiment))
        records += [_record(pair, *count) for pair, count in table.items()]
        lam = min(LAMS[experiment], key=lambda candidate: abs(candidate - SHOWN_LAM[experiment]))
        for pair, (count, of) in table.items():
            if _is_shown(pair, lam):
                row = f"{style.problem_label(pair.problem)}, {_name(pair.acquisition)}"
                shown.setdefault(row, {})[pair.rule] = 100.0 * count / of
    yield Sheet("non-stop", records, _heat(shown), "; ".join(filter(None, notes)))


def _is_shown(pair: Pair, lam: float) -> bool:
    name = pair.problem.partition(":")[2]
    return math.isclose(pair.lam, lam) and (pair.experiment == "nats" or name in RUNTIMES)


def _name(acquisition: str) -> str:
    return style.acquisition_style(acquisition)[0]


def _heat(shown: dict[str, dict[str, float]]) -> Any:  # noqa: ANN401  a Figure
    rules = list(dict.fromkeys(rule for row in shown.values() for rule in row))
    values = np.array([[row.get(rule, np.nan) for rule in rules] for row in shown.values()])
    figure, ((axes,),) = style.panels(1, 1, width=6.5, height=0.24 * len(shown) + 0.8)
    if not shown:
        axes.text(0.5, 0.5, "nothing to show", ha="center")
        return figure
    axes.grid(visible=False)
    image = axes.imshow(values, cmap="Blues", vmin=0.0, vmax=100.0, aspect="auto")
    for i, j in np.ndindex(values.shape):
        dark = values[i, j] > 60.0
        if np.isfinite(values[i, j]):
            axes.text(
                j,
                i,
                f"{values[i, j]:.0f}",
                ha="center",
                va="center",
                fontsize=6,
                color="white" if dark else "black",
            )
    names = [style.rule_style(rule)[0] for rule in rules]
    axes.set_xticks(range(len(rules)), names, rotation=25, ha="right")
    axes.set_yticks(range(len(shown)), list(shown))
    figure.colorbar(image, ax=axes, label="percent of runs never stopped")
    return figure


def _record(pair: Pair, count: int, of: int) -> dict[str, Any]:
    theirs = [
        c
        for c in published_counts()
        if (c.table, c.problem, c.rule) == ("non-stop", pair.problem, pair.rule)
        and math.isclose(c.lam, pair.lam)
    ]
    return {
        "experiment": pair.experiment,
        "problem": pair.problem,
        "lam": pair.lam,
        "acquisition": pair.acquisition,
        "rule": pair.rule,
        "non_stops": count,
        "of": of,
        "published_non_stops": theirs[0].count if theirs else None,
        "published_of": theirs[0].of if theirs else None,
    }
