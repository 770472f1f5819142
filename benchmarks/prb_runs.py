# SPDX-License-Identifier: Apache-2.0
"""PRB beside the other rules over whole runs: what a step costs in the mean, and at most.

At every step of a run after its initial design each rule is asked of a fresh snapshot, so none
profits from what another has computed. PRB's epsilon is a tenth or a hundredth of the deviation of
the function. Milliseconds are those of the process, with one BLAS thread, as in a study.
"""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import stopwise as sw
from benchmarks import Row
from stopwise.core.numerics.threads import one_blas_thread
from stopwise.core.snapshot import Snapshot
from stopwise.stopping import (
    PBGI,
    UCBLCB,
    FixedTrials,
    LogEIPCMedian,
    ProbabilisticRegretBound,
    SRGapMedian,
    StoppingRule,
)
from tests.support.problems import SMOOTH

Array = NDArray[np.float64]
STEPS = 50
SHARES = (0.1, 0.01)


def run(*, quick: bool) -> list[Row]:
    names = list(SMOOTH)[1:2] if quick else list(SMOOTH)
    with one_blas_thread():
        return [row for name in names for row in _rows(name, 15 if quick else STEPS)]


def _rows(name: str, steps: int) -> list[Row]:
    function, d, *_ = SMOOTH[name]
    spread = float(np.std(function(np.random.default_rng(0).random((300, d)))))
    snapshots = _snapshots(function, d, steps)
    others: dict[str, StoppingRule] = {
        "pbgi": PBGI(1e-4),
        "logeipc-med": LogEIPCMedian(),
        "srgap-med": SRGapMedian(),
        "ucb-lcb": UCBLCB(),
    }
    rows: list[Row] = []
    for share in SHARES:
        rules = others | {"prb": ProbabilisticRegretBound(share * spread)}
        seconds: dict[str, list[float]] = {rule: [] for rule in rules}
        sampled = 0
        for snapshot in snapshots:
            for what, rule in rules.items():
                fresh = replace(snapshot)
                start = time.process_time()
                signal = rule.signal(fresh)
                seconds[what].append(time.process_time() - start)
                sampled += signal.facts.get("samples", 0) > 0
        means = {what: 1e3 * float(np.mean(s)) for what, s in seconds.items()}
        rows.append(
            {"run": f"{name}, d = {d}", "epsilon": f"{share} sd"}
            | {what: f"{mean:.1f} ms" for what, mean in means.items()}
            | {
                "prb at most": f"{1e3 * max(seconds['prb']):.0f} ms",
                "others at most": f"{1e3 * max(max(seconds[what]) for what in others):.0f} ms",
                "sampled": f"{sampled} of {len(snapshots)}",
                "prb/dearest": means["prb"] / max(means[what] for what in others),
            }
        )
    return rows


def _snapshots(function: Callable[[Array], Array], d: int, steps: int) -> list[Snapshot]:
    """Those of a run with the defaults, one after each evaluation past the initial design."""
    space = {f"x{i}": sw.Real(0, 1) for i in range(d)}
    study = sw.Study(space, lam=1e-6, stopping=FixedTrials(10**6))
    found = []
    for n in range(2 * (d + 1) + steps):
        trial = study.ask()
        point = np.array([[float(value) for value in trial.params.values()]])
        study.tell(trial, float(function(point)[0]))
        if n + 1 >= 2 * (d + 1):
            found.append(study.snapshot())
    return found
