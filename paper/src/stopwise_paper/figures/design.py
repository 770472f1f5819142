# SPDX-License-Identifier: Apache-2.0
"""How many initial points: PBGI after smaller and larger designs, everything paid for."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from stopwise.stopping import PBGI, StoppingRule
from stopwise_paper.arrays import Array
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._found import LAMS, Found, MissingTrajectoriesError
from stopwise_paper.figures._style import Sheet
from stopwise_paper.regret import Row, regret_rows
from stopwise_paper.trajectory import Trajectory

BASES = ("gp1d", "gp8d", "functions", "lcbench")

_USUAL = 2  # times d + 1
_Key = tuple[str, int, float]  # problem, seed, lambda
_COLOURS = (style.BLUE, style.ORANGE, style.GREEN)


def draw(found: Found) -> Iterator[Sheet]:
    """Cost-adjusted regret, the design paid, by size of the design."""
    records: list[dict[str, Any]] = []
    notes: list[str] = []
    for base in BASES:
        try:
            records += _records(found, base)
            notes.append(found.note(f"design-{base}"))
        except MissingTrajectoriesError as error:
            notes.append(str(error))
    if not records:
        raise MissingTrajectoriesError("; ".join(notes))
    bases = list(dict.fromkeys(r["experiment"] for r in records))
    figure, (panels,) = style.panels(1, len(bases), width=3.4, height=2.8)
    for axes, base in zip(panels, bases, strict=True):
        own = [r for r in records if r["experiment"] == base]
        for colour, lam in zip(_COLOURS, dict.fromkeys(r["lam"] for r in own), strict=False):
            line = [r for r in own if r["lam"] == lam]
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
        axes.set_xticks(sorted({r["times_d_plus_1"] for r in own}))
        style.title(axes, base)
        style.labels(axes, x="initial points, times d + 1", y="regret against 2(d + 1)")
        axes.legend(fontsize=7, frameon=False)
    yield Sheet("design", records, figure, "; ".join(filter(None, notes))[:200])


def _records(found: Found, base: str) -> Iterator[dict[str, Any]]:
    """By lambda and size: the regret, and its difference from the usual design's."""
    views = found.views(f"design-{base}")
    cap = min(view.cell.cap for view in views)  # nobody may go on for longer than the others
    usual = {view.cell.problem: view.n_initial for view in found.views(base)}
    sizes = _by_size([*views, *found.views(base)], base, cap, usual)
    reference = sizes.get(_USUAL, {})
    wanted = set(reference).intersection(*sizes.values())
    for lam in LAMS[base]:
        keys = sorted(key for key in wanted if key[2] == lam)
        for times, rows in sorted(sizes.items()) if keys else ():
            own, their = [rows[k] for k in keys], [reference[k] for k in keys]
            yield _record(base, lam, times, own, their)


def _by_size(
    views: Sequence[Trajectory], base: str, cap: int, usual: Mapping[str, int]
) -> dict[int, dict[_Key, Row]]:
    """The plain rule on matched PBGI trajectories, by how many times d + 1 points came first."""
    found: dict[int, dict[_Key, Row]] = defaultdict(dict)
    for view in views:
        cell = view.cell
        if cell.acquisition == "pbgi" and cell.cost in ("linear", "proxy"):
            times = _USUAL * view.n_initial // usual[cell.problem]
            rows = regret_rows([view.upto(cap)], LAMS[base], rules=_pbgi, baselines=False)
            found[times] |= {(cell.problem, cell.seed, row.pair.lam): row for row in rows}
    return found


def _pbgi(_view: Trajectory, lam: float) -> dict[str, StoppingRule]:
    return {"pbgi": PBGI(lam)}


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
    """Over problems where there are several, over seeds else."""
    problems = [row.pair.problem for row in rows]
    if len(set(problems)) > 1:
        own = {
            name: [v for v, p in zip(values, problems, strict=True) if p == name]
            for name in problems
        }
        values = np.array([np.mean(v) for v in own.values()])
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
