# SPDX-License-Identifier: Apache-2.0
"""NATS-Bench: bars at three lambdas; labels say where the topology space stands in."""

from __future__ import annotations

from collections.abc import Iterator

from stopwise_paper.figures._grid import by_problem
from stopwise_paper.figures._results import Results
from stopwise_paper.figures._style import Sheet


def draw(results: Results) -> Iterator[Sheet]:
    """All data sets."""
    yield by_problem(results, "nats", "nats")
