# SPDX-License-Identifier: Apache-2.0
"""8D: cost-adjusted regret for three prices and three lambdas."""

from __future__ import annotations

from collections.abc import Iterator

from stopwise_paper.analysis.replay import Variant
from stopwise_paper.figures._grid import by_cost
from stopwise_paper.figures._results import Results
from stopwise_paper.figures._style import Sheet

AVERAGED = Variant(20)  # the paper's, in 8D


def draw(results: Results) -> Iterator[Sheet]:
    """Rules averaged over 20 evaluations, as in the paper; the table has both."""
    yield by_cost(results, "gp8d", "bars-8d", AVERAGED)
