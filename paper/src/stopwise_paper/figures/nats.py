# SPDX-License-Identifier: Apache-2.0
"""NATS-Bench: bars at three lambdas; the topology space where it stands in says so."""

from __future__ import annotations

from collections.abc import Iterator

from stopwise_paper.figures._found import Found
from stopwise_paper.figures._grid import by_problem
from stopwise_paper.figures._style import Sheet


def draw(found: Found) -> Iterator[Sheet]:
    """All data sets."""
    yield by_problem(found, "nats", "nats")
