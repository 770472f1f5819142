# SPDX-License-Identifier: Apache-2.0
"""LCBench: regret against iteration, with stopping markers, one figure for each data set."""

from __future__ import annotations

from collections.abc import Iterator

from stopwise_paper.experiments import RUNTIMES
from stopwise_paper.figures._curves import iterations
from stopwise_paper.figures._results import Results
from stopwise_paper.figures._style import Sheet


def draw(results: Results) -> Iterator[Sheet]:
    """The data sets that the paper shows; the first data set if there are none of these."""
    there = list(dict.fromkeys(v.cell.problem for v in results.views("lcbench")))
    shown = [f"lcbench:{name}" for name in RUNTIMES if f"lcbench:{name}" in there]
    for problem in shown or there[:1]:
        name = f"iterations-{problem.partition(':')[2]}"
        yield iterations(results, "lcbench", problem, "proxy", name)
