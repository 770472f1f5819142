# SPDX-License-Identifier: Apache-2.0
"""Repeats of noisy evaluations: regret plus lam times cost, with repeats and without.

Branin and Hartmann-3 with normal noise of 1 % and 5 % of their range, and a table with real
repeats: the error in percent of 80 linear classifiers on handwritten digits, each trained on 24
random halves of 300 images, of which an evaluation draws one. Noise is learned, each evaluation
costs 1. What counts is the true value of the reported configuration (of the table: the mean of its
24) less the least one, plus lam times what was spent.

"never" is ``replicates=False``, "repeats" is ``replicates=True``, and "rule alone" stops by the
worth of one observation, as "repeats" does, but repeats nothing.

Run ``python -m benchmarks.repeats FILE [SEEDS [SURROGATE]]``: each study appends a line of JSON to
the file, and what is there is not run again. Without seeds it prints what the file holds.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

import stopwise as sw
from benchmarks import Row, _report
from stopwise.core.numerics.seeds import stream

ARMS = ("never", "repeats", "rule alone")
MOST_TRIALS = 50
_SPLITS, _IMAGES = 24, 300


class Problem(NamedTuple):
    """A noisy objective, and what it is without noise."""

    space: Any
    value: Callable[[Mapping[str, Any]], float]
    noisy: Callable[[Mapping[str, Any], np.random.Generator], float]
    least: float
    lam: float


def branin(p: Mapping[str, float]) -> float:
    x, y = 15.0 * p["x0"] - 5.0, 15.0 * p["x1"]
    bend = y - 5.1 / (4.0 * np.pi**2) * x**2 + 5.0 / np.pi * x - 6.0
    return float(bend**2 + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(x) + 10.0)


_HARTMANN = (
    np.array([1.0, 1.2, 3.0, 3.2]),
    np.array([[3.0, 10, 30], [0.1, 10, 35], [3.0, 10, 30], [0.1, 10, 35]]),
    1e-4
    * np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]),
)


def hartmann3(p: Mapping[str, float]) -> float:
    weights, scales, centres = _HARTMANN
    x = np.array([p["x0"], p["x1"], p["x2"]])
    return -float(weights @ np.exp(-np.sum(scales * (x - centres) ** 2, axis=1)))


def smooth(f: Callable[[Mapping[str, float]], float], d: int, least: float, size: float) -> Any:  # noqa: ANN401
    """The problem of a function with noise of a share of its range."""

    def problem(share: float) -> Problem:
        return Problem(
            {f"x{i}": sw.Real(0.0, 1.0) for i in range(d)},
            f,
            lambda p, rng: f(p) + share * size * float(rng.standard_normal()),
            least,
            1e-3 * size,
        )

    return problem


@cache
def classifiers() -> tuple[list[dict[str, Any]], np.ndarray]:
    """Configurations of a linear classifier, and its errors in percent on random splits."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import SGDClassifier

    X, y = load_digits(return_X_y=True)
    X = X[:_IMAGES] / 16.0
    grid = [
        {"log_alpha": a, "log_eta": e, "loss": loss}
        for a in np.linspace(-6, -1, 8).tolist()
        for e in np.linspace(-3, 0, 5).tolist()
        for loss in ("log_loss", "hinge")
    ]
    errors = np.empty((len(grid), _SPLITS))
    for i, row in enumerate(grid):
        for j in range(_SPLITS):
            order = np.random.default_rng(j).permutation(_IMAGES)
            train, test = np.split(order, 2)
            model = SGDClassifier(
                loss=row["loss"],
                alpha=10.0 ** row["log_alpha"],
                eta0=10.0 ** row["log_eta"],
                learning_rate="constant",
                max_iter=5,
                tol=None,
                random_state=j,
            ).fit(X[train], y[train])
            errors[i, j] = 100.0 * (1.0 - model.score(X[test], y[test]))
    return grid, errors


def table() -> Problem:
    grid, errors = classifiers()
    means = errors.mean(axis=1)
    at = {tuple(row.values()): i for i, row in enumerate(grid)}
    return Problem(
        sw.Candidates(grid),
        lambda p: float(means[at[tuple(p.values())]]),
        lambda p, rng: float(rng.choice(errors[at[tuple(p.values())]])),
        float(means.min()),
        0.03,
    )


_BRANIN = smooth(branin, 2, 0.397887, 307.73)
_HARTMANN3 = smooth(hartmann3, 3, -3.86278, 3.86)
PROBLEMS: dict[str, Callable[[], Problem]] = {
    "branin 1 %": lambda: _BRANIN(0.01),
    "branin 5 %": lambda: _BRANIN(0.05),
    "hartmann3 1 %": lambda: _HARTMANN3(0.01),
    "hartmann3 5 %": lambda: _HARTMANN3(0.05),
    "classifiers": table,
}


def studied(name: str, arm: str, seed: int, surrogate: str = "default") -> dict[str, Any]:
    """One study: what it reported, spent and repeated."""
    problem, rng = PROBLEMS[name](), stream(seed, "noise")
    where = "stopwise.study.choosing.action_instead"
    with patch(where, lambda *_: None) if arm == "rule alone" else patch.dict({}, {}):
        result = sw.minimize(
            lambda p: problem.noisy(p, rng),
            problem.space,
            lam=problem.lam,
            noise="learn",
            replicates=arm != "never",
            max_trials=MOST_TRIALS,
            surrogate=surrogate,
            seed=seed,
        )
    configurations = {tuple(o.params.values()) for o in result.history}
    best = result.best
    return {
        "problem": name,
        "arm": arm,
        "seed": seed,
        "surrogate": surrogate,
        "regret": problem.value(best.params) - problem.least if best else None,
        "spent": result.spent,
        "paid": problem.lam * result.spent,
        "repeats": len(result.history) - len(configurations),
        "stopped by": result.verdict.rule,
    }


def run(*, quick: bool) -> list[Row]:
    seeds = range(2 if quick else 10)
    names = ["classifiers"] if quick else list(PROBLEMS)
    return rows([studied(n, arm, s) for n in names for arm in ARMS for s in seeds])


def rows(lines: list[dict[str, Any]]) -> list[Row]:
    """Means and standard errors by problem and arm; "saved" is paired with "never"."""
    made: list[Row] = []
    for name in PROBLEMS:
        here = [r for r in lines if r["problem"] == name]
        by = {arm: {r["seed"]: r for r in here if r["arm"] == arm} for arm in ARMS}
        for arm in ARMS:
            seeds = [s for s in by[arm] if s in by["never"]]
            if len(seeds) < 2:
                continue
            of = {key: np.array([by[arm][s][key] for s in seeds]) for key in ("regret", "paid")}
            never = np.array([by["never"][s]["regret"] + by["never"][s]["paid"] for s in seeds])
            total = of["regret"] + of["paid"]
            made.append(
                {
                    "problem": name,
                    "arm": arm,
                    "seeds": len(seeds),
                    "regret": _mean(of["regret"]),
                    "lam x cost": _mean(of["paid"]),
                    "sum": _mean(total),
                    "saved": "" if arm == "never" else _mean(never - total),
                    "trials": f"{np.mean([by[arm][s]['spent'] for s in seeds]):.1f}",
                    "repeats": f"{np.mean([by[arm][s]['repeats'] for s in seeds]):.1f}",
                    "at the cap": sum(by[arm][s]["stopped by"] == "max-trials" for s in seeds),
                }
            )
    return made


def _mean(values: np.ndarray) -> str:
    return f"{values.mean():.3g} ± {values.std(ddof=1) / np.sqrt(len(values)):.2g}"


def main() -> None:
    file, seeds = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    surrogate = sys.argv[3] if len(sys.argv) > 3 else "default"
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    done = {(r["problem"], r["arm"], r["seed"], r["surrogate"]) for r in lines}
    first = [(arm, seed) for seed in range(seeds) for arm in ARMS[:2]]
    for arm, seed in [*first, *((ARMS[2], seed) for seed in range(seeds))]:
        for name in PROBLEMS:
            if (name, arm, seed, surrogate) in done:
                continue
            lines.append(studied(name, arm, seed, surrogate))
            with file.open("a") as out:
                out.write(json.dumps(lines[-1]) + "\n")
    for model in dict.fromkeys(r["surrogate"] for r in lines):
        print(f"\nsurrogate={model!r}\n")
        made = rows([r for r in lines if r["surrogate"] == model])
        print(_report.table(made) if made else "fewer than two seeds")


if __name__ == "__main__":
    main()
