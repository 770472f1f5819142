# SPDX-License-Identifier: Apache-2.0
"""Utilities that are linear between knots: by a list of points, a threshold, or throughout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np

from stopwise.core.beliefs.laws.linear_pieces import LinearPieces
from stopwise.core.beliefs.utilities._checks import (
    checked_positive,
    checked_unit,
    checked_value,
    wrong_way,
)
from stopwise.core.checks import as_number
from stopwise.core.numerics.limits import LARGEST_AMOUNT
from stopwise.core.quantity import quantity
from stopwise.errors import InputError, InputTypeError, shown

_POINTS = "Give pairs of a value and its worth, as in piecewise([(0.9, 0), (0.95, 1000)])."


@dataclass(frozen=True, slots=True)
class Piecewise:
    """Worth by a list of points: linear between them, and flat beyond the first and the last.

    Args:
        points: Pairs of a value of the objective and its worth, in any order; at least two.
            Better values, lower ones to minimise and higher ones to maximise, must not be worth
            less.
        unit: The name of the currency, for sentences.
    """

    points: Sequence[tuple[float, float]]
    unit: str = ""
    kind: ClassVar[str] = "piecewise"

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", _checked_points(self.points))
        checked_unit("piecewise", self.unit)

    def loss(self, sign: float) -> LinearPieces:
        """The points with their worth negated, by what is minimised."""
        pairs = sorted((sign * value, -worth, value) for value, worth in self.points)
        for (_, better, x), (_, worse, y) in pairwise(pairs):
            if worse < better:
                worths = f"{quantity(x)} is worth {quantity(-better)}"
                where = f"{worths} and {quantity(y)} is worth {quantity(-worse)}"
                raise wrong_way("piecewise", sign, where)
        return LinearPieces(tuple(p[0] for p in pairs), tuple(p[1] for p in pairs))


def _checked_points(given: object) -> tuple[tuple[float, float], ...]:
    """Points by value, each value once, and not all of one worth."""
    try:
        pairs = [tuple(pair) for pair in given]  # type: ignore[attr-defined]
    except TypeError:
        raise InputTypeError(
            f"piecewise({shown(given)}): these are no points. {_POINTS}"
        ) from None
    if len(pairs) < 2 or any(len(pair) != 2 for pair in pairs):
        raise InputError(f"piecewise({shown(given)}): these are not two or more points. {_POINTS}")
    points = [
        (
            checked_value("piecewise", "a value", value),
            as_number("piecewise(a worth)", worth, "Give what the value is worth."),
        )
        for value, worth in pairs
    ]
    points.sort()
    for (a, _), (b, _) in pairwise(points):
        if a == b:
            message = (
                f"piecewise: there are two points at the value {quantity(a)}. A worth that jumps"
                " has no derivative there: put the two points a little apart."
            )
            raise InputError(message)
    if not all(abs(worth) <= LARGEST_AMOUNT for _, worth in points):
        message = f"piecewise({shown(given)}): a worth is {LARGEST_AMOUNT:g} at most. {_POINTS}"
        raise InputError(message)
    if np.ptp([worth for _, worth in points]) == 0.0:
        message = f"piecewise({shown(given)}): all points have one worth, so nothing is to gain."
        raise InputError(message)
    return tuple(points)


@dataclass(frozen=True, slots=True)
class Threshold:
    """Worth in proportion to the value, but nothing on one side of a threshold counts.

    Args:
        at: The threshold, a value of the objective.
        slope: What a unit of the objective is worth where it counts.
        counts: ``"above"``: nothing below the threshold counts. To minimise, a value there is
            good enough; to maximise, one there is worth nothing. ``"below"`` is the reverse.
        unit: The name of the currency, for sentences.
    """

    at: float
    slope: float = 1.0
    counts: Literal["above", "below"] = "above"
    unit: str = ""
    kind: ClassVar[str] = "threshold"

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", checked_value("threshold", "at", self.at))
        worth = "what a unit of the objective is worth"
        slope = checked_positive("threshold", "slope", self.slope, worth)
        object.__setattr__(self, "slope", slope)
        if self.counts not in ("above", "below"):
            message = (
                f"threshold(counts={shown(self.counts)}): give 'above' (nothing below counts) or"
                " 'below' (nothing above counts)."
            )
            raise InputError(message)
        checked_unit("threshold", self.unit)

    def loss(self, sign: float) -> LinearPieces:
        """0 at the threshold, and linear on the side that counts."""
        after = (self.counts == "above") == (sign > 0.0)
        before, after_slope = (0.0, self.slope) if after else (self.slope, 0.0)
        return LinearPieces((sign * self.at,), (0.0,), before, after_slope)


@dataclass(frozen=True, slots=True)
class Linear:
    """Worth in proportion to the value, everywhere: a price for a unit of the objective.

    Args:
        slope: What an improvement by a unit of the objective is worth.
        unit: The name of the currency, for sentences.
    """

    slope: float
    unit: str = ""
    kind: ClassVar[str] = "linear"

    def __post_init__(self) -> None:
        worth = "what a unit of the objective is worth"
        object.__setattr__(self, "slope", checked_positive("linear", "slope", self.slope, worth))
        checked_unit("linear", self.unit)

    def loss(self, sign: float) -> LinearPieces:  # noqa: ARG002  an improvement either way
        """The slope times what is minimised."""
        return LinearPieces((0.0,), (0.0,), self.slope, self.slope)
