# SPDX-License-Identifier: Apache-2.0
"""A step of a study (tell, fit, signal, ask) with the plain model and the default one.

Seconds are those of the process, with one BLAS thread, in the mean over a few steps of a study;
medians over studies with different data, and in brackets the quartiles of ratios. Everybody has a
process of its own, and all take turns with the same data.

``python -m benchmarks.step --against SRC [--repeats N] [--surrogate NAME]`` compares with the
code in another folder, such as that of version 0.1. "search of 0.1" is the code as it is, but for
searches that begin nowhere near observations: what thorougher searches cost (decisions 34 and 38).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks import Row, _report, _wanted
from benchmarks._step_worker import PARTS

ROOT = Path(__file__).parent.parent
OURS = ROOT / "src"

CASES = [  # kind of space, its parameters or rows, observations
    ("box", 1, 10),
    ("box", 2, 12),
    ("box", 2, 30),
    ("box", 4, 20),
    ("box", 4, 30),
    ("box", 8, 100),
    ("box", 8, 300),
    ("mixed", 6, 30),
    ("table", 1_000, 30),
    ("table", 100_000, 30),
]


@dataclass(frozen=True)
class Contender:
    """A version of the code, a surrogate (None: that of 0.1, which has but one), and a search."""

    code: Path
    surrogate: str | None
    old_search: bool = False


class Worker:
    """A process that takes steps of a contender's studies."""

    def __init__(self, contender: Contender) -> None:
        self.contender = contender
        options = ["--search-as-in-0.1"] if contender.old_search else []
        threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        self.process = subprocess.Popen(  # noqa: S603  our own worker
            [sys.executable, "-m", "benchmarks._step_worker", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, **threads, "PYTHONPATH": str(contender.code)},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.terminate()
        self.process.wait()

    def step(self, kind: str, size: int, n: int, seed: int) -> dict[str, float]:
        """CPU seconds of the parts of a step."""
        case = {"kind": kind, "size": size, "n": n, "seed": seed}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        line = json.dumps({**case, "surrogate": self.contender.surrogate})
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        parts: dict[str, float] = json.loads(self.process.stdout.readline())
        return {**parts, "step": sum(parts.values())}


def run(*, quick: bool) -> list[Row]:
    cases = CASES[:5] if quick else CASES
    return list(measured(both_models(), cases, 2 if quick else 9, _wanted.DEFAULT_OVER_PLAIN))


def both_models() -> dict[str, Contender]:
    """The plain model and the default one, with the code as it is."""
    return {"plain": Contender(OURS, "plain"), "default": Contender(OURS, "default")}


def with_other_code(arguments: argparse.Namespace) -> dict[str, Contender]:
    """The code of another folder and that of this one."""
    contenders = {
        "before": Contender(arguments.against.resolve(), arguments.theirs),
        "now": Contender(OURS, arguments.surrogate),
    }
    if arguments.old_search:
        contenders["now, search of 0.1"] = Contender(OURS, arguments.surrogate, old_search=True)
    return contenders


def measured(
    contenders: dict[str, Contender],
    cases: list[tuple[str, int, int]],
    repeats: int,
    wanted: float | None = None,
) -> Iterator[Row]:
    """A row for each case and contender; ratios are to the first contender."""
    with ExitStack() as stack:
        workers = {
            name: stack.enter_context(Worker(contender)) for name, contender in contenders.items()
        }
        for worker in workers.values():
            worker.step("box", 2, 10, seed=0)  # loads what is loaded once
        for kind, size, n in cases:
            times: dict[str, list[dict[str, float]]] = {name: [] for name in workers}
            for seed in range(repeats):
                for name, worker in workers.items():
                    times[name].append(worker.step(kind, size, n, seed))
            reference = next(iter(times.values()))
            for name, steps in times.items():
                most = None if steps is reference else wanted
                yield _row(f"{kind} {size}, n = {n}", name, steps, reference, most)


def _row(
    what: str,
    who: str,
    steps: list[dict[str, float]],
    reference: list[dict[str, float]],
    wanted: float | None,
) -> Row:
    ratios = [ours["step"] / its["step"] for ours, its in zip(steps, reference, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    row: Row = {"what": what, "who": who}
    for part in (*PARTS, "step"):
        row[f"{part}, ms"] = f"{1e3 * statistics.median(step[part] for step in steps):.1f}"
    row["ratio"] = f"{middle:.2f} ({low:.2f} to {high:.2f})"
    return row | _wanted.at_most(middle, wanted)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.step")
    parser.add_argument(
        "--against", type=Path, help="the src of another version; without it, both of our models"
    )
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--surrogate", default="plain", help="of ours; plain is that of 0.1")
    parser.add_argument(
        "--theirs", default=None, help="the surrogate of the other version, if it has several"
    )
    parser.add_argument("--old-search", action="store_true", help="also the search of 0.1")
    parser.add_argument("--only", help="cases that begin so")
    arguments = parser.parse_args()
    contenders = with_other_code(arguments) if arguments.against else both_models()
    wanted = None if arguments.against else _wanted.DEFAULT_OVER_PLAIN
    cases = [c for c in CASES if not arguments.only or f"{c[0]} {c[1]}".startswith(arguments.only)]
    print(_report.table(list(measured(contenders, cases, arguments.repeats, wanted))))


if __name__ == "__main__":
    main()
