# SPDX-License-Identifier: Apache-2.0
"""1D: cost-adjusted regret for three prices and three lambdas."""

from __future__ import annotations

from collections.abc import Iterator

from stopwise_paper.figures._found import Found
from stopwise_paper.figures._grid import by_cost
from stopwise_paper.figures._style import Sheet


def draw(found: Found) -> Iterator[Sheet]:
    """Rules as they are."""
    yield by_cost(found, "gp1d", "bars-1d")
