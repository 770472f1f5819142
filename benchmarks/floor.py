# SPDX-License-Identifier: Apache-2.0
"""The floor of a step, one factorisation and one solve, and where the rest of a step goes.

Box of eight parameters. The floor is LAPACK's factorisation of an n x n covariance and the solve
with the values: what anybody with an exact Gaussian process does at least. A step is told, asked
whether to stop, and asked for the next point, with hyper-parameters as they are; one of which the
fit is new stands apart. Shares are those of a step without a fit by a profile, functions with all
that they call: "screens" score points of the whole box, "climbs" are local searches, of which
"gradients" is what scores with their gradients take. Seconds are those of the process.
"""

import cProfile
import pstats
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.linalg import cho_factor, cho_solve

import stopwise as sw
from benchmarks import Row
from benchmarks._step_worker import LAM, drawn, space, value
from stopwise.core.beliefs.refits import RefitAtSizes

D = 8
SIZES = (100, 300, 1_000)
STEPS = 5
# File and function of what is counted; their shares may overlap.
SHARES = {
    "screens, %": [("screen.py", "screen"), ("screen.py", "close_starts")],
    "climbs, %": [("batched_bfgs.py", "batched_bfgs")],
    "gradients, %": [("batched_bfgs.py", "evaluate")],
}


def run(*, quick: bool) -> list[Row]:
    sizes = SIZES[:1] if quick else SIZES
    return [_row(n, surrogate) for n in sizes for surrogate in ("plain", "default")]


def _row(n: int, surrogate: str) -> Row:
    size = RefitAtSizes().latest(n)
    study = sw.Study(
        space("box", D), lam=LAM, seed=0, surrogate=surrogate, max_trials=2 * size + 100
    )
    for params in drawn("box", D, size - 1, seed=0):
        study.tell(params, value(params))
    study.should_stop()
    study.tell(trial := study.ask(), value(dict(trial.params)))
    fitted = _seconds(lambda: _decide(study))
    without = statistics.median(_seconds(lambda: _step(study)) for _ in range(STEPS))
    floor = _floor(size)
    return {
        "n": float(size),
        "model": surrogate,
        "floor, ms": f"{1e3 * floor:.2f}",
        "step, ms": f"{1e3 * without:.1f}",
        "with a fit, ms": f"{1e3 * fitted:.1f}",
        "step / floor": f"{without / floor:.0f}",
        **_shares(study),
    }


def _step(study: sw.Study) -> None:
    [trial] = study.pending
    study.tell(trial, value(dict(trial.params)))
    _decide(study)


def _decide(study: sw.Study) -> None:
    study.should_stop()
    study.ask()


def _floor(n: int) -> float:
    """The median of one factorisation and one solve."""
    rng = np.random.default_rng(0)
    X = rng.random((n, D))
    K = np.exp(-((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)) + 1e-6 * np.eye(n)
    y = rng.standard_normal(n)
    seconds = [
        _seconds(lambda: cho_solve(cho_factor(K, lower=True, check_finite=False), y))
        for _ in range(25)
    ]
    return statistics.median(seconds)


def _shares(study: sw.Study) -> Row:
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(STEPS):
        _step(study)
    profile.disable()
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    total = sum(own for _, _, own, _, _ in stats.values())

    def share(places: list[tuple[str, str]]) -> str:
        within = sum(
            cumulative
            for (file, _, function), (_, _, _, cumulative, _) in stats.items()
            if (Path(file).name, function) in places
        )
        return f"{100.0 * within / total:.0f}"

    return {column: share(places) for column, places in SHARES.items()}


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
