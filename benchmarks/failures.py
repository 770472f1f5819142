# SPDX-License-Identifier: Apache-2.0
"""Where evaluations fail: the chance to succeed, learned, against the median that decision 14 had.

Behind docs/adr/0037-success-with-a-probability.md. The sum is regret plus lam times all that was
spent, failures included, in gaps from the median value to the best; the gap is worth 100
evaluations of median cost. The boxes are Branin's with its left third failing, with a thin shell
around its best minimum failing, with the better corner failing, and Hartmann's of three parameters
where three places of ten fail; three of them again with failures that cost ten times as much. The
tables are a valley of which the bottom fails, so that the best is beside failures, AlexNet, and
four tasks of TaskSet with their diverged runs. Both ways play the same problems with the same
seeds, so differences are paired.

``python -m benchmarks failures`` runs one seed of each. For more run
``python -m benchmarks.failures FILE [SEEDS [WORD]]``, where SEEDS is a number of them or a range
such as 2000:2060. Each run appends a line of JSON to the file, and what is there is not run again.
A word of a problem's name runs that problem alone. Without seeds it prints a table of what the
file holds.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import stopwise as sw
from benchmarks import Row
from benchmarks.utilities import branin, hartmann

WAYS = ("median", "chance")
MOST = 80  # trials
WORTH = 100  # median evaluations that the gap is worth
_DEAR = 10.0  # what a failure costs where it is dear, in successes
_TASKS = 4  # of TaskSet, those with the most diverged runs
_BRANIN = {"x": sw.Real(-5.0, 10.0), "y": sw.Real(0.0, 15.0)}
_HARTMANN = {name: sw.Real(0.0, 1.0) for name in "abc"}


class Problem(NamedTuple):
    """What is evaluated: None is a failure; regret counts from the best that succeeds."""

    space: Any
    evaluate: Any  # params -> (value or None, cost)
    gap: float
    cost: float  # the median
    optimum: float
    reported: bool = False  # whether costs are learned from what is paid


def _box(
    space: Mapping[str, sw.Real],
    function: Any,  # noqa: ANN401
    fails: Any,  # noqa: ANN401
    *,
    dear: float = 1.0,
) -> Problem:
    """A box of which a part fails, at a cost of its own; units come from a fixed sample of it."""
    rng = np.random.default_rng(0)
    draws = [
        {n: p.low + (p.high - p.low) * rng.random() for n, p in space.items()}
        for _ in range(20_000)
    ]
    values = np.array([function(p) for p in draws if not fails(p)])
    best = float(values.min())

    def evaluate(params: Mapping[str, Any]) -> tuple[float | None, float]:
        return (None, dear) if fails(params) else (function(params), 1.0)

    return Problem(
        dict(space), evaluate, float(np.median(values)) - best, 1.0, best, reported=dear != 1.0
    )


def _from_minimum(params: Mapping[str, Any]) -> float:
    return math.hypot(params["x"] - math.pi, params["y"] - 2.275)


def _at_random(params: Mapping[str, Any]) -> bool:
    """Whether a place is one of three in ten that fail; the same whenever it is asked."""
    return zlib.crc32(repr(sorted(params.items())).encode()) % 10 < 3


def _loss(params: Mapping[str, Any]) -> float:
    return -hartmann(params)


@cache
def problems() -> dict[str, Problem]:
    """All problems that can be played here, by name."""
    boxes = {
        "third of a box": _box(_BRANIN, branin, lambda p: p["x"] < 0.0),
        "thin shell": _box(_BRANIN, branin, lambda p: 1.5 < _from_minimum(p) < 2.0),
        "the better corner": _box(_BRANIN, branin, lambda p: _from_minimum(p) < 3.0),
        "three in ten": _box(_HARTMANN, _loss, _at_random),
        "third of a box, dear": _box(_BRANIN, branin, lambda p: p["x"] < 0.0, dear=_DEAR),
        "the better corner, dear": _box(
            _BRANIN, branin, lambda p: _from_minimum(p) < 3.0, dear=_DEAR
        ),
        "three in ten, dear": _box(_HARTMANN, _loss, _at_random, dear=_DEAR),
    }
    return boxes | {"beside failures": _valley()} | _tables()


def _valley() -> Problem:
    """A valley of 30 rows of which the bottom fails: the best row is beside it."""
    rows = [{"x": i, "y": (5 * i) % 7} for i in range(30)]

    def evaluate(params: Mapping[str, Any]) -> tuple[float | None, float]:
        fails = params["x"] in (11, 12, 13, 20)
        return (None if fails else 0.1 * (params["x"] - 13) ** 2 + params["y"]), 1.0

    values = [value for value, _ in map(evaluate, rows) if value is not None]
    best = min(values)
    return Problem(sw.Candidates(rows), evaluate, float(np.median(values)) - best, 1.0, best)


def _tables() -> dict[str, Problem]:
    from stopwise_paper.problems.data_folder import MissingDataError

    try:
        return _curve_tables()
    except MissingDataError as error:
        print(error)
        return {}


def _curve_tables() -> dict[str, Problem]:
    """AlexNet, and the tasks of TaskSet with the most diverged runs."""
    from stopwise_paper.cell import Cell
    from stopwise_paper.problems import make_problem
    from stopwise_paper.runs.beliefs import plan

    def made(named: tuple[str, str]) -> tuple[float, str, Problem]:
        name, price = named
        table: Any = make_problem(Cell.of("failures", name, price, "pbgi", seed=0, cap=MOST))
        failed = float(np.mean(np.isnan(table.judged)))
        return failed, name, _table(table, price)

    [(_, _, alexnet)] = map(made, plan.PARTS["alexnet"].problems())
    tasks = sorted(map(made, plan.PARTS["taskset"].problems()), key=lambda m: -m[0])[:_TASKS]
    return {"alexnet": alexnet} | {name: problem for _, name, problem in tasks}


def _table(table: Any, price: str) -> Problem:  # noqa: ANN401
    def evaluate(params: Mapping[str, Any]) -> tuple[float | None, float]:
        [x] = table.domain.encode(params)
        paid = table.evaluate(np.asarray(x))
        return (None if np.isnan(paid.value) else float(paid.value)), float(paid.costs[price])

    gap = float(np.nanmedian(table.judged)) - table.optimum
    cost = float(np.median(table.costs[price]))
    reported = price == "learned"
    return Problem(table.domain, evaluate, gap, cost, table.optimum, reported)


def play(name: str, way: str, seed: int) -> dict[str, Any]:
    """One study, until it stops or has had its trials."""
    problem = problems()[name]
    lam = problem.gap / (WORTH * problem.cost)
    priced = {"cost": "reported"} if problem.reported else {}
    study = sw.Study(problem.space, lam=lam, seed=seed, failures=way, **priced)
    best, spent, failed = math.inf, 0.0, 0
    while len(study.history) < MOST and not study.should_stop():
        trial = study.ask()
        value, cost = problem.evaluate(trial.params)
        study.tell(trial, value, **({"cost": cost} if priced else {}))
        spent += cost
        failed += value is None
        best = best if value is None else min(best, value)
    promised = sum(promise.promised for promise in study.promises)
    total = (best - problem.optimum) / problem.gap + lam * spent / problem.gap
    trials = len(study.history)
    return {"sum": total, "failed": failed, "trials": trials, "promised": promised / problem.gap}


def run_all(path: Path, seeds: range, word: str = "") -> None:
    """Play what the file does not hold yet, a line for each run."""
    done = {(line["problem"], line["way"], line["seed"]) for line in _lines(path)}
    for seed in seeds:
        for name in problems():
            for way in WAYS:
                if word in name and (name, way, seed) not in done:
                    line = {"problem": name, "way": way, "seed": seed, **play(name, way, seed)}
                    with path.open("a") as file:
                        file.write(json.dumps(line) + "\n")


def rows(path: Path) -> list[Row]:
    """A row for each problem: both sums, and the paired difference with its standard error.

    The last row is of all problems: the error is that of the means over problems, one a seed.
    """
    lines = _lines(path)
    by_run = {(line["problem"], line["way"], line["seed"]): line for line in lines}
    names = list(dict.fromkeys(line["problem"] for line in lines))
    seeds = {line["seed"] for line in lines}
    played = [s for s in seeds if all((n, w, s) in by_run for n in names for w in WAYS)]
    means = {
        ("all", way, seed): {
            what: float(np.mean([by_run[name, way, seed][what] for name in names]))
            for what in ("sum", "failed", "promised")
        }
        for way in WAYS
        for seed in played
    }
    every = [_row(name, by_run) for name in names]
    return [*every, _row("all", means)] if played and len(names) > 1 else every


def _row(name: str, by_run: Mapping[tuple[str, str, int], Mapping[str, float]]) -> Row:
    seeds = sorted(
        s for n, way, s in by_run if n == name and way == WAYS[0] and (n, WAYS[1], s) in by_run
    )
    sums, failed, promised = (
        np.array([[by_run[name, way, seed][what] for way in WAYS] for seed in seeds])
        for what in ("sum", "failed", "promised")
    )
    difference = sums[:, 1] - sums[:, 0]
    error = difference.std(ddof=min(1, len(seeds) - 1)) / math.sqrt(len(seeds))
    return {
        "problem": name,
        "seeds": len(seeds),
        **{f"{way}: sum": float(sums[:, i].mean()) for i, way in enumerate(WAYS)},
        "difference": f"{difference.mean():+.3f} +- {error:.3f}",
        **{f"{way}: failed": float(failed[:, i].mean()) for i, way in enumerate(WAYS)},
        **{f"{way}: promised": float(promised[:, i].mean()) for i, way in enumerate(WAYS)},
    }


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run(*, quick: bool) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.jsonl"
        run_all(path, range(1), "third" if quick else "")
        return rows(path)


if __name__ == "__main__":
    from benchmarks import _report

    if len(sys.argv) > 2:
        first, _, last = sys.argv[2].rpartition(":")
        run_all(Path(sys.argv[1]), range(int(first or 0), int(last)), *sys.argv[3:4])
    print(_report.table(rows(Path(sys.argv[1]))))
