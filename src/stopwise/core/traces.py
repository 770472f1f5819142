# SPDX-License-Identifier: Apache-2.0
"""Signals and traces: the numbers that stopping rules record.

A rule's ``signal`` is computed once per number of observations and recorded; its ``verdict`` reads
recorded signals only. So live stopping, replay and audit run the same code.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from stopwise.core.units import PLAIN, AnswerUnits

Scale = Literal["log", "linear"]


@dataclass(frozen=True, slots=True)
class Signal:
    """The number that a rule decides by, at one moment.

    Args:
        t: Evaluations after the initial design.
        n: Observations in all.
        value: The number; nan means that there is no answer yet.
        facts: The few numbers that the rule's sentence needs.
        units: The names and units of values and costs, for the sentence; they are not recorded.
    """

    t: int
    n: int
    value: float
    facts: Mapping[str, float] = field(default_factory=dict)
    units: AnswerUnits = field(default=PLAIN, compare=False, repr=False)


def _moment(signal: Signal) -> int:
    return signal.t


@dataclass(frozen=True, slots=True)
class Trace:
    """Recorded signals of one key, in the order of t, and the one that a verdict is about."""

    signals: tuple[Signal, ...] = ()
    now: Signal | None = None

    @classmethod
    def of(cls, signals: tuple[Signal, ...]) -> Trace:
        """A trace whose verdict is about its last signal."""
        return cls(signals, signals[-1] if signals else None)

    def __len__(self) -> int:
        """Number of recorded signals."""
        return len(self.signals)

    def __iter__(self) -> Iterator[Signal]:
        """The recorded signals."""
        return iter(self.signals)

    @property
    def current(self) -> Signal:
        """The signal that a verdict is about; its value is nan if nothing was recorded."""
        return Signal(0, 0, math.nan) if self.now is None else self.now

    def between(self, first: int, last: int) -> list[float]:
        """Recorded values with first <= t <= last that are not nan."""
        start = bisect_left(self.signals, first, key=_moment)
        end = bisect_right(self.signals, last, lo=start, key=_moment)
        return [s.value for s in self.signals[start:end] if not math.isnan(s.value)]

    def upto(self, n: int) -> Trace:
        """The trace as it was after n observations."""
        return Trace.of(tuple(s for s in self.signals if s.n <= n))

    def in_units(self, units: AnswerUnits) -> Trace:
        """The same record, about which rules speak in these names and units."""
        if units == PLAIN:
            return self
        now = None if self.now is None else replace(self.now, units=units)
        return Trace(tuple(replace(signal, units=units) for signal in self.signals), now)
