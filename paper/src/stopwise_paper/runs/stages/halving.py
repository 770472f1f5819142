# SPDX-License-Identifier: Apache-2.0
"""Random search with successive halving: ASHA (Li et al. 2020) and Hyperband (Li et al. 2018).

One worker, as the studies they are compared with. Rungs are the stages of the table. If no run is
finished when the last configuration has been started and promoted, the best one of the highest
rung is finished, so that there is a result.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from stopwise_paper.problems.curve_tables import ETA, CurveTable
from stopwise_paper.runs.stages.ledger import Ledger
from stopwise_paper.seeds import stream


def random_search(table: CurveTable, n: int, seed: int) -> Ledger:
    """Whole runs of n random configurations."""
    ledger = Ledger(table)
    for row in _random_rows(table, n, seed):
        ledger.finish(row)
    return _with_a_result(ledger, {})


def asha(table: CurveTable, n: int, seed: int) -> Ledger:
    """Asynchronous successive halving of n random configurations."""
    ledger = Ledger(table)
    rungs: dict[int, dict[int, float]] = defaultdict(dict)  # stage: row: value
    for row in _random_rows(table, n, seed):
        _enter(ledger, rungs, row)
        while (promoted := _promotable(rungs, len(table.steps))) is not None:
            _enter(ledger, rungs, promoted)
    return _with_a_result(ledger, rungs)


def hyperband(table: CurveTable, n: int, seed: int) -> Ledger:
    """Hyperband's brackets in turn until n random configurations have been started."""
    ledger = Ledger(table)
    rows = iter(_random_rows(table, n, seed))
    last = len(table.steps)
    best_rungs: dict[int, dict[int, float]] = defaultdict(dict)
    left, bracket = min(n, len(table)), last - 1
    while left > 0:
        size = min(left, int(np.ceil(last / (bracket + 1) * ETA**bracket)))
        left -= size
        _halve(ledger, [next(rows) for _ in range(size)], last - bracket, best_rungs)
        bracket = bracket - 1 if bracket else last - 1
    return _with_a_result(ledger, best_rungs)


def _halve(
    ledger: Ledger, rows: list[int], first: int, rungs: dict[int, dict[int, float]]
) -> None:
    """One bracket: all rows to their first rung, a third of them to the next, and so on."""
    last = len(ledger.table.steps)
    for stage in range(first, last + 1):
        values = {}
        for row in rows:
            while ledger.reached.get(row, 0) < stage:
                value = ledger.advance(row)
                if np.isnan(value):
                    break
            values[row] = np.inf if np.isnan(value) else value
            rungs[stage][row] = values[row]
        rows = sorted(values, key=lambda row: values[row])[: max(len(values) // ETA, 1)]
        rows = [row for row in rows if np.isfinite(values[row])]


def _random_rows(table: CurveTable, n: int, seed: int) -> list[int]:
    rng = stream(seed, "random rows")
    return [int(row) for row in rng.permutation(len(table))[:n]]


def _enter(ledger: Ledger, rungs: dict[int, dict[int, float]], row: int) -> None:
    value = ledger.advance(row)
    rungs[ledger.reached[row]][row] = np.inf if np.isnan(value) else value


def _promotable(rungs: dict[int, dict[int, float]], last: int) -> int | None:
    """A row in the best third of its rung that has not gone on, from the highest rung down."""
    for stage in range(last - 1, 0, -1):
        rung = rungs[stage]
        best = sorted(rung, key=lambda row: rung[row])[: len(rung) // ETA]
        for row in best:
            if row not in rungs[stage + 1] and np.isfinite(rung[row]):
                return row
    return None


def _with_a_result(ledger: Ledger, rungs: dict[int, dict[int, float]]) -> Ledger:
    """Finish the best run of the highest rung if none is finished, then the next best, ..."""
    table = ledger.table
    for stage in range(len(table.steps) - 1, 0, -1):
        for row in sorted(rungs.get(stage, {}), key=lambda row: rungs[stage][row]):
            if ledger.path:
                return ledger
            if np.isfinite(rungs[stage][row]):
                ledger.finish(row)
    for row in range(len(table)):
        if ledger.path:
            return ledger
        if row not in ledger.reached:
            ledger.finish(row)
    return ledger
