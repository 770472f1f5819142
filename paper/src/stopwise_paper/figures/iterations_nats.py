# SPDX-License-Identifier: Apache-2.0
"""NATS-Bench: regret against iteration, with stopping markers, one figure for each data set."""

from __future__ import annotations

from collections.abc import Iterator

from stopwise_paper.figures._curves import iterations
from stopwise_paper.figures._results import Results
from stopwise_paper.figures._style import Sheet


def draw(results: Results) -> Iterator[Sheet]:
    """All data sets."""
    for problem in dict.fromkeys(v.cell.problem for v in results.views("nats")):
        name = f"iterations-nats-{problem.partition(':')[2]}"
        yield iterations(results, "nats", problem, "proxy", name)
