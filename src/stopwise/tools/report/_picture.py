# SPDX-License-Identifier: Apache-2.0
"""A picture of a report: the drawing, what it shows in words, and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stopwise.tools.report._axis import Axis
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._markup import Markup

MOST_POINTS = 600  # drawn, and listed, of one series


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, what it shows in words, and its numbers.

    Args:
        name: Of one word, for addresses.
        title: Of a few words.
        words: What there is to see, for those who do not see it.
        svg: The picture; None where there is nothing to draw, and the words say why.
        header: Names of the columns.
        rows: The numbers.
    """

    name: str
    title: str
    words: str
    svg: Markup | None = None
    header: tuple[str, ...] = ()
    rows: Sequence[tuple[Any, ...]] = ()


def trials_axis(facts: Facts) -> Axis:
    """The horizontal axis of pictures over time."""
    last = max(len(facts.steps), 2)
    return Axis(1 - 0.03 * last, 1.03 * last, "evaluations told", whole=True)
