# SPDX-License-Identifier: Apache-2.0
"""The size of the initial design: PBGI after smaller and larger ones, all costs paid."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from stopwise_paper.analysis.regret import Row, regret_rows
from stopwise_paper.analysis.replay import pbgi_alone
from stopwise_paper.analysis.standard_error import standard_error
from stopwise_paper.arrays import Array
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import LAMS, MissingTrajectoriesError, Results
from stopwise_paper.figures._style import Sheet
from stopwise_paper.runs.trajectory import Trajectory

BASES = ("gp1d", "gp8d", "functions", "lcbench")
READS = (*BASES, *(f"design-{base}" for base in BASES))

_USUAL = 2  # times d + 1
_Key = tuple[str, int, float]  # problem, seed, lambda
_COLOURS = (style.BLUE, style.ORANGE, style.GREEN)


def draw(results: Results) -> Iterator[Sheet]:
    """Cost-adjusted regret, the design paid, by size of the design."""
    records: list[dict[str, Any]] = []
    notes: list[str] = []
    for base in BASES:
        try:
            records += _records(results, base)
            notes.append(results.note(f"design-{base}"))
        except MissingTrajectoriesError as error:
            notes.append(str(error))
    if not records:
        raise MissingTrajectoriesError("; ".join(notes))
    bases = list(dict.fromkeys(r["experiment"] for r in records))
    figure, (panels,) = style.panels(1, len(bases), width=3.4, height=2.8)
    for axes, base in zip(panels, bases, strict=True):
        panel = [r for r in records if r["experiment"] == base]
        for colour, lam in zip(_COLOURS, dict.fromkeys(r["lam"] for r in panel), strict=False):
            line = [r for r in panel if r["lam"] == lam]
            axes.errorbar(
                [r["times_d_plus_1"] for r in line],
                [r["difference"] for r in line],
                yerr=[np.nan_to_num(2.0 * r["difference_se"]) for r in line],
                fmt="o-",
                color=colour,
                markersize=4,
                capsize=2,
                label=style.lam_label(lam),
            )
        axes.axhline(0.0, color=style.GREY, linewidth=0.8)
        axes.set_xticks(sorted({r["times_d_plus_1"] for r in panel}))
        style.title(axes, base)
        style.labels(axes, x="initial points, times d + 1", y="regret against 2(d + 1)")
        axes.legend(fontsize=7, frameon=False)
    yield Sheet("design", records, figure, "; ".join(filter(None, notes))[:200])


def _records(results: Results, base: str) -> Iterator[dict[str, Any]]:
    """By lambda and size: the regret, and its difference from the usual design's."""
    views = results.views(f"design-{base}")
    cap = min(view.cell.cap for view in views)  # the same for all
    usual = {view.cell.problem: view.n_initial for view in results.views(base)}
    sizes = _by_size([*views, *results.views(base)], base, cap, usual)
    reference = sizes.get(_USUAL, {})
    wanted = set(reference).intersection(*sizes.values())
    for lam in LAMS[base]:
        keys = sorted(key for key in wanted if key[2] == lam)
        for times, rows in sorted(sizes.items()) if keys else ():
            yield _record(base, lam, times, [rows[k] for k in keys], [reference[k] for k in keys])


def _by_size(
    views: Sequence[Trajectory], base: str, cap: int, usual: Mapping[str, int]
) -> dict[int, dict[_Key, Row]]:
    """The plain rule on PBGI trajectories, by size of the design in multiples of d + 1."""
    sizes: dict[int, dict[_Key, Row]] = defaultdict(dict)
    for view in views:
        cell = view.cell
        if cell.acquisition == "pbgi" and cell.cost in ("linear", "proxy"):
            times = _USUAL * view.n_initial // usual[cell.problem]
            rows = regret_rows([view.upto(cap)], LAMS[base], rules=pbgi_alone, baselines=False)
            sizes[times] |= {(cell.problem, cell.seed, row.pair.lam): row for row in rows}
    return sizes


def _record(
    base: str, lam: float, times: int, rows: Sequence[Row], reference: Sequence[Row]
) -> dict[str, Any]:
    value = np.array([row.adjusted_with_initial for row in rows])
    difference = value - np.array([row.adjusted_with_initial for row in reference])
    return {
        "experiment": base,
        "lam": lam,
        "times_d_plus_1": times,
        "runs": len(value),
        "adjusted_with_initial": float(value.mean()),
        "adjusted_se": _se(value, rows),
        "difference": float(difference.mean()),
        "difference_se": _se(difference, rows),
        "evaluations_after": float(np.mean([row.t for row in rows])),
        "never_stopped": sum(not row.stopped for row in rows),
    }


def _se(values: Array, rows: Sequence[Row]) -> float:
    """The standard error over problems where there are several, else over seeds."""
    problems = [row.pair.problem for row in rows]
    if len(set(problems)) > 1:
        by_problem = {
            name: [v for v, p in zip(values, problems, strict=True) if p == name]
            for name in problems
        }
        values = np.array([np.mean(v) for v in by_problem.values()])
    return float(standard_error(values))
