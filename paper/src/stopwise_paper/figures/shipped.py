# SPDX-License-Identifier: Apache-2.0
"""The table that comes with this package, with known and with learned costs."""

from __future__ import annotations

from collections.abc import Iterator

from stopwise_paper.figures._grid import by_problem
from stopwise_paper.figures._results import Results
from stopwise_paper.figures._style import Sheet


def draw(results: Results) -> Iterator[Sheet]:
    """All data sets, three lambdas."""
    yield by_problem(results, "sklearn", "shipped-known-cost")
    yield by_problem(results, "sklearn-unknown", "shipped-learned-cost")
