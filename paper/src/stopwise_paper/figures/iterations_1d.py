# SPDX-License-Identifier: Apache-2.0
"""1D: regret against iteration, with stopping markers, one figure for each price."""

from __future__ import annotations

from collections.abc import Iterator

from stopwise_paper.figures._curves import iterations
from stopwise_paper.figures._found import Found
from stopwise_paper.figures._style import Sheet
from stopwise_paper.problems.costs import KINDS


def draw(found: Found) -> Iterator[Sheet]:
    """Rules as they are."""
    for cost in KINDS:
        yield iterations(found, "gp1d", "gp1d", cost, f"iterations-1d-{cost}")
