# SPDX-License-Identifier: Apache-2.0
"""``python -m stopwise_paper``: run the paper's experiments."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from stopwise.errors import StopwiseError
from stopwise_paper.engine import ENGINES
from stopwise_paper.plans import EXPERIMENTS, SCALES
from stopwise_paper.producing import OUT, produce


def main(arguments: list[str] | None = None) -> int:
    """Run experiments; 1 if a cell failed."""
    names = "; ".join(f"{name}: {found.purpose}" for name, found in EXPERIMENTS.items())
    parser = argparse.ArgumentParser(prog="python -m stopwise_paper", epilog=names)
    parser.add_argument(
        "experiments", nargs="*", metavar="EXPERIMENT", help="all if none is given"
    )
    parser.add_argument("--scale", choices=SCALES, default="laptop")
    parser.add_argument("--engine", choices=ENGINES, default="local")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; -1: one per core")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--acquisition", action="append", default=[], metavar="MODULE:CLASS")
    parser.add_argument("--rule", action="append", default=[], metavar="MODULE:CLASS")
    given = parser.parse_args(arguments)
    try:
        made = produce(
            given.experiments,
            scale=given.scale,
            engine=given.engine,
            jobs=given.jobs,
            out=given.out,
            acquisitions=tuple(given.acquisition),
            rules=tuple(given.rule),
            progress=sys.stderr.isatty(),
        )
    except StopwiseError as error:
        parser.error(str(error))
    failed = 0
    for produced in made:
        sys.stdout.write(f"{produced}\n")
        for cell, why in produced.done.failed.items() if produced.done else ():
            failed += 1
            sys.stderr.write(f"{cell}\n{why}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
