# SPDX-License-Identifier: Apache-2.0
"""A step of large studies, with a fit of the hyper-parameters and without, and its memory.

Each case has a process of its own, with one BLAS thread; the plain model and the default one. A
study is told all but the last of its observations and makes a suggestion, which is not timed; then
it is told of that suggestion, asked whether to stop, and asked for the next one: a step. Beyond
100 observations a study fits at fixed sizes of its data, a tenth apart, so the first step is one
that reaches such a size, the largest up to n; the median of the next ones is a step without a fit.
Seconds are those of the process; memory is the most that the process has had, all libraries
included.

``python -m benchmarks.scale KIND SIZE N SURROGATE`` measures one case.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import stopwise as sw
from benchmarks import Row
from benchmarks._step_worker import LAM, drawn, space, value
from stopwise.core.beliefs.refits import RefitAtSizes

ROOT = Path(__file__).parent.parent
MIB = 1024  # of the kilobytes that Linux counts
STEPS = 3  # without a fit

CASES = [  # kind of space, its parameters or rows, n, seconds wanted without a fit and with one
    ("table", 100_000, 200, 0.3, None),
    ("mixed", 30, 300, 0.5, None),
    ("box", 8, 1_000, 0.15, 1.0),
    ("box", 8, 2_000, 0.5, 5.0),
    ("box", 8, 5_000, 3.0, 60.0),
]


def run(*, quick: bool) -> list[Row]:
    rows = []
    for kind, size, n, without, fitted in CASES[:3] if quick else CASES:
        for surrogate in ("plain", "default"):
            of = _in_a_process(kind, size, n, surrogate)
            memory = {"peak, MiB": f"{of['peak'] / MIB:.0f}"}
            case: Row = {"what": f"{kind} {size}, n = {of['n']:.0f}", "model": surrogate}
            rows.append({**case, **_compared("with a fit", of["fitted"], fitted), **memory})
            rows.append({**case, **_compared("without", of["without"], without), **memory})
    return rows


def _compared(which: str, seconds: float, wanted: float | None) -> Row:
    met = "" if wanted is None else "yes" if seconds <= wanted else "NO"
    return {
        "step": which,
        "seconds": f"{seconds:.3f}",
        "wanted": "" if wanted is None else f"{wanted:g}",
        "met": met,
    }


def _in_a_process(kind: str, size: int, n: int, surrogate: str) -> dict[str, float]:
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.scale", kind, str(size), str(n), surrogate]
    done = subprocess.run(  # noqa: S603  our own worker
        command,
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **threads},
    )
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def measured(kind: str, size: int, n: int, surrogate: str) -> dict[str, float]:
    """CPU seconds of a step with a fit and of one without, and the peak of the memory in KiB."""
    n = RefitAtSizes().latest(n)
    study = sw.Study(space(kind, size), lam=LAM, seed=0, surrogate=surrogate, max_trials=2 * n)
    for params in drawn(kind, size, n - 1, seed=0):
        study.tell(params, value(params))
    study.should_stop()
    trial, seconds = study.ask(), []
    for _ in range(1 + STEPS):
        begin = time.process_time()
        study.tell(trial, value(trial.params))
        study.should_stop()
        trial = study.ask()
        seconds.append(time.process_time() - begin)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fitted, *without = seconds
    return {"n": n, "fitted": fitted, "without": statistics.median(without), "peak": peak}


if __name__ == "__main__":
    kind, size, n, surrogate = sys.argv[1:]
    print(json.dumps(measured(kind, int(size), int(n), surrogate)))
