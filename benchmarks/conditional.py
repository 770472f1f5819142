# SPDX-License-Identifier: Apache-2.0
"""Conditional spaces, searched by several samplers: the loss reached, trial by trial.

The objective "pipeline" is the cross-validated log loss of a scikit-learn pipeline on 300
handwritten digits: an optional reduction, and one of four classifiers, each with parameters of its
own. The objectives "boosters" and "boosters-digits" are those of LightGBM
(``_boosters.py``). All samplers run the same
define-by-run objective for the same number of trials. "ours, children drawn" is our sampler as it
was before it knew conditions: it chooses what all trials share, and what is left is drawn at
random. "ours, design of 10" begins with as many trials as TPE and GPSampler do. "ours, natively"
is a study without Optuna, which knows the number of trials and sizes its design by it.

``python -m benchmarks conditional`` runs two seeds of the pipeline. For more, and for the other
objective, run ``python -m benchmarks.conditional FILE [SEEDS [OBJECTIVE]]`` (10: the seeds 0 to 9;
100:120: those from 100 to 119). Each run appends a line of JSON to the file, and what is there is
not run again. Without seeds it prints a table of what the file holds; give each objective a file
of its own.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import optuna

import stopwise as sw
from benchmarks import Row, _boosters
from stopwise.core.numerics.arrays import Array
from stopwise.integrations.optuna import StopwiseSampler

TRIALS = 30
SHOWN = (10, 15, 20, 25, 30)

SPACE = {
    "reduce": sw.Categorical(["none", "pca"]),
    "components": sw.Integer(5, 60, when={"reduce": ["pca"]}),
    "classifier": sw.Categorical(["svm", "neighbours", "forest", "discriminant"]),
    "kernel": sw.Categorical(["rbf", "poly"], when={"classifier": ["svm"]}),
    "C": sw.Real(1e-2, 1e3, log=True, when={"classifier": ["svm"]}),
    "gamma": sw.Real(1e-5, 1e-1, log=True, when={"classifier": ["svm"]}),
    "degree": sw.Integer(2, 5, when={"kernel": ["poly"]}),
    "k": sw.Integer(1, 50, log=True, when={"classifier": ["neighbours"]}),
    "weights": sw.Categorical(["uniform", "distance"], when={"classifier": ["neighbours"]}),
    "trees": sw.Integer(5, 60, log=True, when={"classifier": ["forest"]}),
    "features": sw.Real(0.02, 1.0, log=True, when={"classifier": ["forest"]}),
    "leaf": sw.Integer(1, 20, log=True, when={"classifier": ["forest"]}),
    "shrinkage": sw.Real(0.0, 1.0, when={"classifier": ["discriminant"]}),
}


@cache
def _digits() -> tuple[Any, Any]:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:300]
    return X[rows] / 16.0, y[rows]


def _classifier(trial: optuna.Trial) -> Any:  # noqa: ANN401  an estimator
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    kind = trial.suggest_categorical("classifier", ["svm", "neighbours", "forest", "discriminant"])
    if kind == "svm":
        kernel = trial.suggest_categorical("kernel", ["rbf", "poly"])
        C = trial.suggest_float("C", 1e-2, 1e3, log=True)
        gamma = trial.suggest_float("gamma", 1e-5, 1e-1, log=True)
        degree = trial.suggest_int("degree", 2, 5) if kernel == "poly" else 3
        machine = SVC(kernel=kernel, C=C, gamma=gamma, degree=degree)
        return CalibratedClassifierCV(machine, cv=3, ensemble=False)
    if kind == "neighbours":
        k = trial.suggest_int("k", 1, 50, log=True)
        weights = trial.suggest_categorical("weights", ["uniform", "distance"])
        return KNeighborsClassifier(k, weights=weights)
    if kind == "forest":
        trees = trial.suggest_int("trees", 5, 60, log=True)
        features = trial.suggest_float("features", 0.02, 1.0, log=True)
        leaf = trial.suggest_int("leaf", 1, 20, log=True)
        return RandomForestClassifier(
            trees, max_features=features, min_samples_leaf=leaf, random_state=0
        )
    shrinkage = trial.suggest_float("shrinkage", 0.0, 1.0)
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage)


def objective(trial: optuna.Trial) -> float:
    """The log loss on three fixed folds."""
    from sklearn.decomposition import PCA
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline

    reduce = trial.suggest_categorical("reduce", ["none", "pca"])
    first = (
        PCA(trial.suggest_int("components", 5, 60), svd_solver="full")
        if reduce == "pca"
        else "passthrough"
    )
    model = make_pipeline(first, _classifier(trial))
    X, y = _digits()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(-cross_val_score(model, X, y, cv=3, scoring="neg_log_loss").mean())


class Problem(NamedTuple):
    """A conditional space, the objective that is defined by running it, and what that needs."""

    space: Mapping[str, sw.space.Parameter]
    objective: Callable[[optuna.Trial], float]
    package: str


PROBLEMS = {
    "pipeline": Problem(SPACE, objective, "sklearn"),
    "boosters": Problem(_boosters.SPACE, _boosters.of_cancer, "lightgbm"),
    "boosters-digits": Problem(_boosters.SPACE, _boosters.of_odd_digits, "lightgbm"),
}


NATIVELY = "ours, natively"

# Every trial costs 1 and their number is given, so the expected gain alone counts.
_BY_GAIN = {"lam": 0.01, "acquisition": "logeipc"}  # which does not read lam


def _samplers(
    seed: int, space: Mapping[str, sw.space.Parameter]
) -> dict[str, optuna.samplers.BaseSampler]:
    shared = {name: p for name, p in space.items() if p.when is None}
    return {
        "ours": StopwiseSampler(space=space, seed=seed, **_BY_GAIN),
        "ours, design of 10": StopwiseSampler(space=space, seed=seed, n_initial=10, **_BY_GAIN),
        "TPE": optuna.samplers.TPESampler(seed=seed),
        "GPSampler": optuna.samplers.GPSampler(seed=seed),
        "ours, children drawn": StopwiseSampler(space=shared, seed=seed, **_BY_GAIN),
        "random": optuna.samplers.RandomSampler(seed=seed),
        "ours, tree learned": StopwiseSampler(seed=seed, **_BY_GAIN),
    }


def _losses(who: str, seed: int, problem: Problem, trials: int) -> list[float]:
    """The losses of one run, in the order of its trials."""
    if who == NATIVELY:
        return _natively(seed, problem, trials)
    study = optuna.create_study(sampler=_samplers(seed, problem.space)[who])
    study.optimize(problem.objective, n_trials=trials)
    return [trial.values[0] for trial in study.trials]


def _natively(seed: int, problem: Problem, trials: int) -> list[float]:
    study = sw.Study(problem.space, seed=seed, max_trials=trials, **_BY_GAIN)
    losses = []
    for _ in range(trials):
        trial = study.ask()
        losses.append(problem.objective(optuna.trial.FixedTrial(trial.params)))
        study.tell(trial, losses[-1])
    return losses


def run(*, quick: bool) -> list[Row]:
    trials, seeds = (8, 1) if quick else (TRIALS, 2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.jsonl"
        run_all(path, range(seeds), PROBLEMS["pipeline"], trials)
        return [
            {"sampler": who, "seeds": len(best), f"least loss of {trials} trials": loss}
            for who, best in _best_so_far(path).items()
            for loss in [f"{best[:, -1].mean():.4f}"]
        ]


def run_all(path: Path, seeds: range, problem: Problem, trials: int = TRIALS) -> None:
    """Run what the file does not hold yet, a line for each run."""
    if find_spec(problem.package) is None:
        print(f"skipped: the package {problem.package} is not installed.")
        return
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    done = {(line["who"], line["seed"]) for line in _lines(path)}
    runs = [(seed, who) for seed in seeds for who in (NATIVELY, *_samplers(seed, problem.space))]
    for seed, who in sorted(runs, key=lambda run: "learned" in run[1]):  # those last
        if (who, seed) in done:
            continue
        began = time.perf_counter()
        line = {"who": who, "seed": seed, "losses": _losses(who, seed, problem, trials)}
        line["seconds"] = round(time.perf_counter() - began, 1)
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")


def table(path: Path) -> str:
    """The mean of the least loss so far, with its standard error, by sampler and trial."""
    heads = " | ".join(f"{n} trials" for n in SHOWN)
    rows = [f"| sampler | seeds | {heads} |", "|---|---|" + "---|" * len(SHOWN)]
    for who, best in _best_so_far(path).items():
        spread = best.std(axis=0, ddof=min(1, len(best) - 1)) / math.sqrt(len(best))
        cells = " | ".join(f"{best[:, n - 1].mean():.4f} ± {spread[n - 1]:.4f}" for n in SHOWN)
        rows.append(f"| {who} | {len(best)} | {cells} |")
    return "\n".join(rows)


def _best_so_far(path: Path) -> dict[str, Array]:
    """By sampler the least loss after each trial, a row for each seed."""
    by_sampler: dict[str, list[list[float]]] = {}
    for line in _lines(path):
        by_sampler.setdefault(line["who"], []).append(line["losses"])
    return {who: np.minimum.accumulate(np.array(runs), axis=1) for who, runs in by_sampler.items()}


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _seeds(given: str) -> range:
    """Seeds as they are given: how many, or the first and the one after the last."""
    first, _, end = given.rpartition(":")
    return range(int(first or 0), int(end))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        chosen = PROBLEMS[sys.argv[3] if len(sys.argv) > 3 else "pipeline"]
        run_all(Path(sys.argv[1]), _seeds(sys.argv[2]), chosen)
    print(table(Path(sys.argv[1])))
