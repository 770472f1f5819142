# SPDX-License-Identifier: Apache-2.0
"""1D: cost-adjusted regret for three prices and three lambdas."""

from __future__ import annotations

from collections.abc import Iterator

from stopwise_paper.figures._grid import by_cost
from stopwise_paper.figures._results import Results
from stopwise_paper.figures._style import Sheet


def draw(results: Results) -> Iterator[Sheet]:
    """Rules as they are."""
    yield by_cost(results, "gp1d", "bars-1d")
