# SPDX-License-Identifier: Apache-2.0
"""A step of large studies, with a fit of the hyper-parameters and without, and its memory.

Each case has a process of its own, with one BLAS thread; the plain model and the default one. A
study is told all but the last of its observations and makes a suggestion, which is not timed; then
it is told of that suggestion, asked whether to stop, and asked for the next one: a step. Beyond
100 observations a study fits at fixed sizes of its data, a tenth apart, so the first step is one
that reaches such a size, the largest up to n; the median of the next ones is a step without a fit.
Seconds are those of the process; memory is the most that the process has had, all libraries
included: by what Linux keeps of the process alone, because the peak that ``getrusage`` names
begins with that of the process which started it.

``python -m benchmarks.scale KIND SIZE N SURROGATE`` measures one case.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import stopwise as sw
from benchmarks import Row, _wanted
from benchmarks._step_worker import LAM, drawn, space, value
from stopwise.core.beliefs.refits import RefitAtSizes

ROOT = Path(__file__).parent.parent
MIB = 1024  # of the kilobytes that Linux counts
STEPS = 3  # without a fit

LARGEST = 5_000  # the size at which memory has a target


def run(*, quick: bool) -> list[Row]:
    rows = []
    cases = list(_wanted.LARGE_STEP.items())
    for (kind, size, n), (without, fitted) in cases[:3] if quick else cases:
        for surrogate in ("plain", "default"):
            of = _in_a_process(kind, size, n, surrogate)
            case: Row = {"what": f"{kind} {size}, n = {of['n']:.0f}", "model": surrogate}
            mib, most = of["peak"] / MIB, _wanted.LARGE_STEP_MIB if n == LARGEST else None
            rows += [
                {**case, **_compared("with a fit, s", f"{of['fitted']:.3f}", fitted)},
                {**case, **_compared("without, s", f"{of['without']:.3f}", without)},
                {**case, **_compared("peak, MiB", f"{mib:.0f}", most)},
            ]
    return rows


def _compared(which: str, measured: str, wanted: float | None) -> Row:
    return {"step": which, "measured": measured, **_wanted.at_most(float(measured), wanted)}


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
    fitted, *without = seconds
    return {"n": n, "fitted": fitted, "without": statistics.median(without), "peak": _peak()}


def _peak() -> float:
    """The most memory that this process has had, in KiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    [peak] = [line for line in lines if line.startswith("VmHWM:")]
    return float(peak.split()[1])


if __name__ == "__main__":
    kind, size, n, surrogate = sys.argv[1:]
    print(json.dumps(measured(kind, int(size), int(n), surrogate)))
