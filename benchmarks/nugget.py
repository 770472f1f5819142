# SPDX-License-Identifier: Apache-2.0
"""Which nugget: how far sup EI falls on smooth noiseless functions, and the regret reached.

Behind docs/adr/0012-nugget.md. Regrets, not timings: the figures do not depend on the machine.
"""

import numpy as np

from benchmarks import Row
from stopwise.acquisition import LogEIPC
from stopwise.core.numerics.threads import one_blas_thread
from tests.support.landscapes import box, snapshot_of
from tests.support.problems import SMOOTH

CASES = [(1e-6, False), (1e-9, True), (1e-10, True), (1e-11, True), (1e-12, False), (1e-12, True)]


def run(*, quick: bool) -> list[Row]:
    seeds = range(1 if quick else 3)
    names = ["wave"] if quick else list(SMOOTH)
    with one_blas_thread():
        return [_row(name, *case, seeds) for name in names for case in CASES]


def _row(name: str, noise: float, interpolate: bool, seeds: range) -> Row:  # noqa: FBT001
    runs = [_run(name, noise, interpolate, seed) for seed in seeds]
    last, first, regret, jitters = (list(column) for column in zip(*runs, strict=True))
    return {
        "function": name,
        "nugget": noise,
        "interpolate": str(interpolate),
        "largest final sup EI/sd": max(last),
        "first below 1e-6": " ".join("-" if f is None else str(f) for f in first),
        "median regret": float(np.median(regret)),
        "fits with jitter": sum(jitters),
    }


def _run(
    name: str,
    noise: float,
    interpolate: bool,  # noqa: FBT001
    seed: int,
) -> tuple[float, int | None, float, int]:
    function, d, steps, minimum = SMOOTH[name]
    domain = box(d)
    X = domain.sobol(2 * (d + 1), np.random.default_rng(seed))
    y, start, suprema, jitters = function(X), None, [], 0
    for _ in range(steps):
        snapshot = snapshot_of(
            domain, X, y, noise=noise, interpolate=interpolate, start=start, seed=seed
        )
        start = snapshot.belief.objective.hyper
        jitters += snapshot.belief.objective.jitter > 0
        found = snapshot.sup(LogEIPC())
        suprema.append(float(np.exp(found.value) / np.std(y, ddof=1)))
        X, y = np.vstack([X, found.x]), np.append(y, function(found.x[None, :]))
    first = next((i for i, value in enumerate(suprema) if value < 1e-6), None)
    return suprema[-1], first, float(y.min() - minimum), jitters
