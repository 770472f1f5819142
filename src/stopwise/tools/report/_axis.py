# SPDX-License-Identifier: Apache-2.0
"""Axes: the place of a number, and the numbers that are written beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stopwise.core.quantity import quantity

_FAR_APART = 30.0  # positive numbers whose ratio is larger are better seen by their logarithm


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of numbers on a line.

    Args:
        low: The number at 0.
        high: The number at 1.
        label: What is measured, in words.
        log: Whether ratios are shown as distances; needs positive numbers.
        whole: Whether only whole numbers make sense as ticks.
    """

    low: float
    high: float
    label: str
    log: bool = False
    whole: bool = False

    def at(self, value: float) -> float:
        """Where a number lies, 0 to 1; what is beyond an end lies at that end."""
        if self.log:
            low, high, here = (
                math.log(self.low),
                math.log(self.high),
                math.log(max(value, self.low)),
            )
        else:
            low, high, here = self.low, self.high, value
        return min(max((here - low) / (high - low), 0.0), 1.0)

    def ticks(self, most: int = 5) -> list[tuple[float, str]]:
        """A few round numbers with their labels."""
        if self.log:
            values = _log_ticks(self.low, self.high, most)
            if len(values) >= 2:
                return [(v, number(v)) for v in values]
        step = _step((self.high - self.low) / most)
        if self.whole:
            step = max(1.0, step)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        values = [k * step for k in range(first, last + 1)]
        return list(zip(values, _labels(values, step), strict=True))


def axis_of(
    values: Iterable[float], label: str, *, log: bool | None = None, whole: bool = False
) -> Axis:
    """An axis on which all the finite values have room.

    Args:
        values: What is to be shown.
        label: What is measured.
        log: Whether by logarithm; if left out, where positive numbers lie far apart.
        whole: Whether only whole numbers are possible.
    """
    finite = [v for v in values if math.isfinite(v)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    if log is None:
        log = low > 0 and high / low > _FAR_APART
    if log and low <= 0:
        positive = [v for v in finite if v > 0]
        log, low = bool(positive), min(positive, default=low)
    if log:
        room = max((high / low) ** 0.06, 1.05)
        return Axis(low / room, high * room, label, log=True, whole=whole)
    # Equal values lie in the middle; the least room is what floats can still divide.
    room = 0.06 * (high - low) or max(0.5, 0.05 * abs(high))
    return Axis(low - room, high + room, label, whole=whole)


def number(value: float) -> str:
    """A number as verdicts and explanations write it, so that a page has one way; signs for none.

    Example:
        >>> number(0.02), number(12345.678), number(-1e-7), number(float("nan"))
        ('0.02', '12,346', '-1e-07', '\u2013')
    """
    if not math.isfinite(value):
        return {math.inf: "\u221e", -math.inf: "-\u221e"}.get(value, "\u2013")
    return quantity(value + 0.0)  # no minus before a zero


def thinned(count: int, most: int, keep: Iterable[int] = ()) -> list[int]:
    """Positions 0 to count - 1, or, of too many, evenly chosen ones and those to be kept."""
    if count <= most:
        return list(range(count))
    even = {round(i * (count - 1) / (most - 1)) for i in range(most)}
    return sorted(even | set(list(keep)[-most:]))


def _step(rough: float) -> float:
    """The round number, 1, 2 or 5 times a power of ten, that is just above."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= rough * (1 - 1e-9))


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    """Powers of ten, or, within few of them, also 2 and 5 times those."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for mantissas in ((1,), (1, 3), (1, 2, 5)):
        values = [m * 10.0**k for k in range(first, last + 1) for m in mantissas]
        inside = [v for v in values if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]
        if len(inside) >= 3:
            return inside[:: math.ceil(len(inside) / (most + 1))]
    return inside


def _labels(values: Sequence[float], step: float) -> list[str]:
    """Labels with equally many decimals; very large and very small ones by powers of ten."""
    largest = max(map(abs, values), default=1.0)
    if largest >= 1e6 or step < 1e-4:
        return [number(0.0 if abs(v) < step / 2 else v) for v in values]
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return [f"{v + 0.0:.{decimals}f}" for v in values]
