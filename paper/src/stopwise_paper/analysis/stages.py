# SPDX-License-Identifier: Apache-2.0
"""The comparison of searches on learning curves: what is paid, spent and lost at each price.

Paid is the judged regret of the best finished run plus all that was spent, in gaps from the median
of a table's judged values to its best. A search that knows no price is scored at every price; at
each price it is shown with the one number of trials at which it pays least over all tables, which
a user would not know.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from stopwise_paper.problems.curve_tables import half_of
from stopwise_paper.runs.stages.plan import (
    EVALUATIONS,
    HOURS,
    METHODS,
    STAGED,
    STUDIES,
    WHOLE,
)
from stopwise_paper.runs.stages.record import StagesRun

ALL = "all"
Rows = list[dict[str, Any]]


def best_counts(runs: Iterable[StagesRun]) -> dict[tuple[str, int], int]:
    """The number of trials at which each search pays least over all tables, at each price."""
    by_count: dict[tuple[str, int], list[StagesRun]] = defaultdict(list)
    for run in runs:
        if run.cell.method not in STUDIES:
            by_count[run.cell.method, run.cell.size].append(run)
    best: dict[tuple[str, int], int] = {}
    for method in dict.fromkeys(method for method, _ in by_count):
        counts = [count for other, count in by_count if other == method]
        for evaluations in EVALUATIONS:
            paid = {n: _mean_paid(by_count[method, n], evaluations) for n in counts}
            best[method, evaluations] = min(paid, key=lambda n: paid[n])
    return best


def compare(runs: Sequence[StagesRun]) -> Rows:
    """A row for each half, table, price and method, and one for all tables of a half."""
    counts = best_counts(runs)
    rows: Rows = []
    for evaluations in EVALUATIONS:
        for method in METHODS:
            size = evaluations if method in STUDIES else counts.get((method, evaluations))
            of_method = [r for r in runs if (r.cell.method, r.cell.size) == (method, size)]
            for (half, source, problem), group in _grouped(of_method).items():
                identity = {
                    "half": half,
                    "source": source,
                    "problem": problem,
                    "price": f"gap/{evaluations}",
                    "method": method,
                    "trials": "" if method in STUDIES else size,
                }
                rows.append(identity | _measures(group, evaluations))
    return rows


def targets(rows: Rows) -> Rows:
    """Each table and price beside the two targets, as differences and ratios."""
    by_key = {(r["problem"], r["half"], r["source"], r["price"], r["method"]): r for r in rows}
    found: Rows = []
    for (problem, half, source, price, method), staged in by_key.items():
        whole = by_key.get((problem, half, source, price, WHOLE))
        asha = by_key.get((problem, half, source, price, "ASHA"))
        if method != STAGED or whole is None or asha is None:
            continue
        found.append(
            {
                "half": half,
                "source": source,
                "problem": problem,
                "price": price,
                "spent": staged["spent"],
                "spent_whole": whole["spent"],
                "ratio": whole["spent"] / staged["spent"],
                "regret": staged["regret"],
                "regret_whole": whole["regret"],
                "paid": staged["paid"],
                "paid_whole": whole["paid"],
                "paid_asha": asha["paid"],
                "half_the_cost": whole["spent"] >= 2.0 * staged["spent"]
                and staged["regret"] <= whole["regret"] + 1e-9,
                "no_worse_than_asha": staged["paid"] <= asha["paid"] + 1e-9,
            }
        )
    return found


def alexnet_hours(runs: Iterable[StagesRun]) -> Rows:
    """What studies on AlexNet spend, in hours, where accuracy has a price in hours."""
    groups: dict[tuple[int, str], list[StagesRun]] = defaultdict(list)
    for run in runs:
        if run.cell.problem == "alexnet" and run.cell.method in STUDIES and run.cell.size in HOURS:
            groups[run.cell.size, run.cell.method].append(run)
    rows: Rows = []
    for (size, method), group in sorted(groups.items()):
        hours = [run.spent * run.run_cost for run in group]
        measures = {
            "runs": len(group),
            "hours": float(np.mean(hours)),
            "fewest_hours": min(hours),
            "most_hours": max(hours),
            "regret": float(np.mean([run.regret for run in group])),
            "paid": float(np.mean([run.paid(size) for run in group])),
        }
        rows.append({"price": HOURS[size], "method": method} | measures)
    return rows


def _grouped(runs: Iterable[StagesRun]) -> dict[tuple[str, str, str], list[StagesRun]]:
    """Runs by half, source and table; those of all tables of a half and source together too."""
    groups: dict[tuple[str, str, str], list[StagesRun]] = defaultdict(list)
    for run in runs:
        half = half_of(run.cell.problem)
        groups[half, run.source, run.cell.problem].append(run)
        groups[half, run.source, ALL].append(run)
    return dict(sorted(groups.items()))


def _measures(runs: Sequence[StagesRun], evaluations: int) -> dict[str, Any]:
    close = [run.spent_until_close for run in runs]
    reached = [spent for spent in close if np.isfinite(spent)]
    return {
        "tables": len({run.cell.problem for run in runs}),
        "runs": len(runs),
        "paid": _mean_paid(runs, evaluations),
        "regret": _mean_over_tables(runs, "regret"),
        "spent": _mean_over_tables(runs, "spent"),
        "spent_in_units": float(np.mean([run.spent * run.run_cost for run in runs])),
        "started": _mean_over_tables(runs, "started"),
        "finished": _mean_over_tables(runs, "finished"),
        "close": len(reached) / len(runs),
        "spent_until_close": float(np.median(reached)) if reached else np.nan,
        "seconds": _mean_over_tables(runs, "seconds"),
    }


def _mean_over_tables(runs: Iterable[StagesRun], name: str) -> float:
    by_table = defaultdict(list)
    for run in runs:
        by_table[run.cell.problem].append(getattr(run, name))
    return float(np.mean([np.mean(values) for values in by_table.values()]))


def _mean_paid(runs: Iterable[StagesRun], evaluations: int) -> float:
    by_table = defaultdict(list)
    for run in runs:
        by_table[run.cell.problem].append(run.paid(evaluations))
    return float(np.mean([np.mean(values) for values in by_table.values()]))
