# SPDX-License-Identifier: Apache-2.0
"""LCBench with costs that are learned while they are paid."""

from __future__ import annotations

from collections.abc import Iterator

from stopwise_paper.figures._grid import by_problem
from stopwise_paper.figures._results import Results
from stopwise_paper.figures._style import Sheet


def draw(results: Results) -> Iterator[Sheet]:
    """Every data set whose runtimes are there, measured or predicted, at three lambdas."""
    yield by_problem(results, "unknown-cost", "unknown-cost")
