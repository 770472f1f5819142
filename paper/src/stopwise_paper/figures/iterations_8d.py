# SPDX-License-Identifier: Apache-2.0
"""8D: regret against iteration, with stopping markers, one figure for each price."""

from __future__ import annotations

from collections.abc import Iterator

from stopwise_paper.figures._curves import iterations
from stopwise_paper.figures._results import Results
from stopwise_paper.figures._style import Sheet
from stopwise_paper.figures.bars_8d import AVERAGED
from stopwise_paper.problems.synthetic_costs import KINDS


def draw(results: Results) -> Iterator[Sheet]:
    """Rules averaged over 20 evaluations."""
    for cost in KINDS:
        yield iterations(results, "gp8d", "gp8d", cost, f"iterations-8d-{cost}", AVERAGED)
