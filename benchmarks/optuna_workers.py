# SPDX-License-Identifier: Apache-2.0
"""Optuna workers on one storage, with trials that take no time or sleep: one against eight.

Behind docs/adr/0042-one-worker-chooses-for-those-that-wait.md. Each worker is a process with a
sampler and a callback of ours, which has done three trials of another study; 3 parameters.

- surrogate: of ours, or "random": Optuna's random sampler, which shows what the storage costs.
- sleeps: seconds that each trial sleeps.
- finished before: trials that the storage holds before anybody works.
- trials/s: of all workers together, from the first trial to the end of the last.
- first: seconds of the first trial of a worker, the slowest of them; with trials before, it reads
  and fits all of them.
- median, slowest: seconds of a further trial in its worker, from the end of the one before.

``python -m benchmarks.optuna_workers [--against SRC] [--repeats N]`` compares with the code in
another folder, in turns.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, product
from pathlib import Path

import optuna

from benchmarks import Row, _report
from benchmarks._optuna_filling import filled
from benchmarks._optuna_worker import NAME
from tests.support.postgres import server

ROOT = Path(__file__).parent.parent
KINDS = ("postgresql", "sqlite", "journal file")
PATIENCE = 3600.0  # seconds that a run may take


def run(*, quick: bool) -> list[Row]:
    surrogates = ["plain"] if quick else ["plain", "default"]
    trials, before = (24, [50]) if quick else (64, [50, 200, 1000, 5000])
    with places() as at:
        side_by_side = product(surrogates, KINDS, [0], [1, 8])
        with_data = product(surrogates, KINDS, before, [1])
        plans = [
            *(Plan(*plan, trials) for plan in side_by_side),
            *(Plan(*p, 5) for p in with_data),
        ]
        return [row for plan in plans for row in measured(plan, at)]


@dataclass(frozen=True)
class Plan:
    """What is run: so many trials by so many workers, where some are finished before."""

    surrogate: str
    kind: str
    finished: int
    workers: int
    trials: int
    sleeps: float = 0.0


@contextmanager
def places() -> Iterator[Callable[[str], str]]:
    """A new place of a kind at each call, for as long as the context lasts."""
    number = count()
    with tempfile.TemporaryDirectory() as folder, server() as url:

        def place(kind: str) -> str:
            if kind == "postgresql":
                if NAME in optuna.get_all_study_names(url):
                    optuna.delete_study(study_name=NAME, storage=url)
                return url
            file = Path(folder) / f"study{next(number)}"
            return f"sqlite:///{file}.db" if kind == "sqlite" else f"{file}.log"

        yield place


def measured(
    plan: Plan,
    place: Callable[[str], str],
    codes: Sequence[Path] = (ROOT / "src",),
    repeats: int = 1,
) -> Iterator[Row]:
    """A row for each run; the versions of the code take turns."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    before = filled(place(plan.kind), plan.finished) if plan.finished else None
    for _, code in product(range(repeats), codes):
        ends = _run(plan, before or filled(place(plan.kind), 0), code)
        first, further = [each[0] for each in ends], [s for each in ends for s in each[1:]]
        further = further or [math.nan]  # each worker had one trial
        yield {
            "code": code.parent.name,
            "surrogate": plan.surrogate,
            "storage": plan.kind,
            "finished before": plan.finished,
            "sleeps, s": plan.sleeps,
            "workers": plan.workers,
            "trials/s": sum(map(len, ends)) / max(map(sum, ends)),
            "first, s": max(first),
            "median, s": statistics.median(further),
            "slowest, s": max(further),
        }


def _run(plan: Plan, place: str, code: Path) -> list[list[float]]:
    """The seconds of each trial, by worker."""
    each = str(max(plan.trials // plan.workers, 1))
    worker_of = [sys.executable, "-m", "benchmarks._optuna_worker"]
    command = [*worker_of, place, plan.surrogate, each, str(plan.sleeps)]
    environment = {
        **os.environ,
        "PYTHONPATH": str(code),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    workers = [
        subprocess.Popen(  # noqa: S603  our own worker
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment,
        )
        for _ in range(plan.workers)
    ]
    try:
        for worker in workers:
            assert worker.stdout is not None
            worker.stdout.readline()  # it is ready
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write("go\n")
            worker.stdin.flush()
        give_up = time.monotonic() + PATIENCE
        answers = [w.communicate(timeout=give_up - time.monotonic())[0] for w in workers]
    finally:
        for worker in workers:
            worker.kill()
    return [json.loads(answer) for answer in answers]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.optuna_workers")
    parser.add_argument("--against", type=Path, default=None, help="another checkout's src")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--surrogates", nargs="+", default=["plain", "default"])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    parser.add_argument("--finished", nargs="+", type=int, default=[0])
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 8])
    parser.add_argument("--sleeps", nargs="+", type=float, default=[0.0])
    parser.add_argument("--trials", type=int, default=64)
    given = parser.parse_args()
    codes = [ROOT / "src"] if given.against is None else [given.against.resolve(), ROOT / "src"]
    kinds = product(given.sleeps, given.surrogates, given.kinds, given.finished, given.workers)
    print("code, surrogate, storage, before, sleeps, workers, trials/s, first, median, slowest")
    with places() as at:
        for sleeps, *plan in kinds:
            for row in measured(Plan(*plan, given.trials, sleeps), at, codes, given.repeats):
                print(_report.table([row]).rpartition("\n")[2], flush=True)


if __name__ == "__main__":
    main()
