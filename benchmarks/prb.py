# SPDX-License-Identifier: Apache-2.0
"""PRB beside the other rules: what one signal costs on boxes and on a mixed space.

Snapshots are those of runs of LogEIPC. Each rule is asked of a fresh snapshot, so none profits
from what another has computed; they take turns. PRB is asked at an epsilon that one point alone
gains with a chance of a half (then no sample is needed), of 0.5 % and of 0.05 % (then samples
decide), and at a hundredth of the range of y. Seconds are those of the process, not of the clock,
so that other programs do not count.
"""

import math
import statistics
import time
from collections.abc import Mapping
from dataclasses import replace

from scipy.special import ndtri

import stopwise as sw
from benchmarks import Row
from stopwise.acquisition import LogEIPC
from stopwise.acquisition.improvement import ImprovementBy
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

SIZES = (20, 50, 100, 200)
CHANCES = {"likely": 0.5, "0.5 %": 0.005, "0.05 %": 0.0005}
Params = dict[str, float | int | str]

BOXES = {f"box, d = {d}": {f"x{i}": sw.Real(0, 1) for i in range(d)} for d in (2, 4, 8)}
SPACES: dict[str, Mapping[str, object]] = BOXES | {
    "mixed, d = 5": {f"x{i}": sw.Real(0, 1) for i in range(3)}
    | {"k": sw.Integer(0, 9), "kind": sw.Categorical(["plain", "bent", "odd"])}
}


def run(*, quick: bool) -> list[Row]:
    spaces = list(SPACES)[:1] if quick else list(SPACES)
    sizes = SIZES[:1] if quick else SIZES
    with one_blas_thread():
        return [
            _row(name, snapshot, repeats=2 if quick else 5)
            for name in spaces
            for snapshot in _snapshots(SPACES[name], sizes)
        ]


def height(params: Params) -> float:
    """A bowl with ripples; a wrong choice or integer costs something."""
    numbers = [v for name, v in params.items() if name.startswith("x")]
    away = [float(v) - 0.37 for v in numbers]
    ripples = sum(1.0 - math.cos(7.0 * a) for a in away) / math.sqrt(len(away))
    extra = 0.2 * abs(int(params.get("k", 3)) - 3) + 0.3 * (params.get("kind") == "bent")
    return 3.0 * sum(a * a for a in away) + 0.3 * ripples + extra


def _snapshots(space: Mapping[str, object], sizes: tuple[int, ...]) -> list[Snapshot]:
    study = sw.Study(space, lam=1e-9, acquisition=LogEIPC(), stopping=FixedTrials(10**6), seed=1)
    found = []
    for n in range(1, sizes[-1] + 1):
        trial = study.ask()
        study.tell(trial, height(trial.params))
        if n in sizes:
            found.append(study.snapshot())
    return found


def _row(name: str, snapshot: Snapshot, repeats: int) -> Row:
    others: dict[str, StoppingRule] = {
        "pbgi": PBGI(1e-3),
        "logeipc-med": LogEIPCMedian(),
        "srgap-med": SRGapMedian(),
        "ucb-lcb": UCBLCB(),
    }
    epsilons = {what: _epsilon(snapshot, chance) for what, chance in CHANCES.items()}
    epsilons["range/100"] = float(max(snapshot.y) - min(snapshot.y)) / 100.0
    rules = others | {f"prb, {what}": ProbabilisticRegretBound(e) for what, e in epsilons.items()}
    seconds: dict[str, list[float]] = {rule: [] for rule in rules}
    for _ in range(repeats):
        for what, rule in rules.items():
            fresh = replace(snapshot)
            start = time.process_time()
            rule.signal(fresh)
            seconds[what].append(time.process_time() - start)
    times = {what: f"{1e3 * statistics.median(s):.0f} ms" for what, s in seconds.items()}
    return {"space": name, "n": snapshot.n, **times}


def _epsilon(snapshot: Snapshot, chance: float) -> float:
    """The margin that the likeliest point gains with this chance, by bisection."""
    low, high = (f * snapshot.belief.objective.unit for f in (1e-9, 20.0))
    for _ in range(25):
        middle = math.sqrt(low * high)
        z = replace(snapshot).sup(ImprovementBy(middle)).value
        low, high = (middle, high) if z > ndtri(chance) else (low, middle)
    return high
