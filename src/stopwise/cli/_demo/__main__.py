# SPDX-License-Identifier: Apache-2.0
"""``python -m stopwise.cli._demo [--problem pandora]``, as ``make demo`` calls it."""

from argparse import ArgumentParser

from stopwise.cli._demo import PROBLEMS, demo

if __name__ == "__main__":
    parser = ArgumentParser(prog="demo", description="Show stopwise at work.")
    parser.add_argument("--problem", choices=PROBLEMS, default="train")
    parser.add_argument("--report", help="where the report goes")
    parser.add_argument("--seed", type=int, help="of everything that is random")
    given = parser.parse_args()
    demo(given.problem, seed=given.seed, report=given.report)
