# SPDX-License-Identifier: Apache-2.0
"""1D: regret against iteration, with stopping markers, one figure for each price."""

from __future__ import annotations

from collections.abc import Iterator

from stopwise_paper.figures._curves import iterations
from stopwise_paper.figures._results import Results
from stopwise_paper.figures._style import Sheet
from stopwise_paper.problems.synthetic_costs import KINDS


def draw(results: Results) -> Iterator[Sheet]:
    """Rules as they are."""
    for cost in KINDS:
        yield iterations(results, "gp1d", "gp1d", cost, f"iterations-1d-{cost}")
