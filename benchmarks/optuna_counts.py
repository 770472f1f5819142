# SPDX-License-Identifier: Apache-2.0
"""What an Optuna trial costs a sampler and a callback: fits, suprema, translated trials.

A study in memory holds so many random trials; then a few are run with both. "first" is the first
of these, which reads what is there; "a trial" is the mean over the further ones. "translated" are
the params of trials that were put into our form. LogEIPC is what PBGI's rule maximises, so its
supremum is the choice; with PBGI as the acquisition, rule and choice have a supremum each.

``python -m benchmarks.optuna_counts [--against SRC]`` compares with the code in another folder.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks import Row, _report
from benchmarks._optuna_counts_worker import COUNTED

ROOT = Path(__file__).parent.parent
OURS = ROOT / "src"


def run(*, quick: bool) -> list[Row]:
    finished = [20, 200] if quick else [20, 200, 1000]
    return [row for n in finished for row in rows("now", OURS, n, ["plain"], quick=quick)]


def rows(who: str, code: Path, finished: int, options: list[str], *, quick: bool) -> list[Row]:
    """A row for each acquisition."""
    trials = 4 if quick else 11
    return [
        _row(who, finished, acquisition, measured(code, finished, [acquisition, *options], trials))
        for acquisition in ("logeipc", "pbgi")
    ]


def measured(code: Path, finished: int, options: list[str], trials: int) -> list[dict[str, float]]:
    """Counts and seconds of each trial, in a process of its own."""
    arguments = [str(finished), str(trials), *options]
    process = subprocess.run(  # noqa: S603  our own worker
        [sys.executable, "-m", "benchmarks._optuna_counts_worker", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(code)},
    )
    counts: list[dict[str, float]] = json.loads(process.stdout)
    return counts


def _row(who: str, finished: int, acquisition: str, trials: list[dict[str, float]]) -> Row:
    first, *others = trials
    row: Row = {"finished": finished, "acquisition": acquisition, "who": who}
    for what in COUNTED:
        row[f"{what}, first"] = f"{first[what]:g}"
        row[f"{what}, a trial"] = f"{statistics.mean(trial[what] for trial in others):.3g}"
    row["first, CPU s"] = f"{first['seconds']:.2f}"
    row["a trial, CPU s"] = f"{statistics.median(trial['seconds'] for trial in others):.3f}"
    return row


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.optuna_counts")
    parser.add_argument("--against", type=Path, help="the src of version 0.1")
    parser.add_argument("--quick", action="store_true", help="few trials")
    arguments = parser.parse_args()
    table: list[Row] = []
    for finished in (20, 200, 1000):
        if arguments.against:
            before = arguments.against.resolve()
            table += rows("before", before, finished, [], quick=arguments.quick)
        table += rows("now", OURS, finished, ["plain"], quick=arguments.quick)
    print(_report.table(table))


if __name__ == "__main__":
    main()
