# SPDX-License-Identifier: Apache-2.0
"""Rules that compare their signal with a stopping boundary, one moment or a whole record at once.

A rule says its boundary once; its verdict and a sweep over a record (``sweeps.py``) both read it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np

from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Scale, Signal, Trace
from stopwise.stopping.traits import RuleTraits
from stopwise.stopping.verdict import Verdict


class SignalRecord(Protocol):
    """Recorded signals of one key: a trace, or the columns of one."""

    def between(self, first: int, last: int) -> list[float]:
        """Recorded values with first <= t <= last that are answers."""
        ...


@dataclass(frozen=True, slots=True)
class Boundary:
    """A stopping boundary, as in sequential analysis: one stops where the signal crosses it.

    Args:
        level: What the signal is compared with; nan while there is nothing to compare with.
        side: On which side of the level one stops; ties stop.
        since: The first t at which there is an answer.
    """

    level: float
    side: Literal["at most", "at least"] = "at most"
    since: float = -math.inf

    def is_crossed(self, t: int | Indices, value: float | Array) -> bool | Mask:
        """Whether one stops, at one moment or elementwise; nan never stops."""
        beyond = value <= self.level if self.side == "at most" else value >= self.level
        return beyond & (t >= self.since)


@dataclass(frozen=True, slots=True, eq=False)
class SignalColumns:
    """A record in columns, in the order of t.

    Args:
        t: Evaluations after the initial design, (m,).
        values: The recorded numbers, (m,); nan where there is no answer.
    """

    t: Indices
    values: Array

    def between(self, first: int, last: int) -> list[float]:
        """Recorded values with first <= t <= last that are answers."""
        start, end = np.searchsorted(self.t, [first, last + 1])
        values = self.values[start:end]
        return list(values[~np.isnan(values)].tolist())


class ThresholdRule(ABC):
    """A rule that stops where its signal crosses a boundary.

    A subclass is a frozen dataclass with a ``name``, and has ``traits``, ``signal``, ``boundary``
    and ``sentence``.
    """

    __slots__ = ()
    name: ClassVar[str]

    @property
    @abstractmethod
    def traits(self) -> RuleTraits:
        """What others need to know of it."""

    @abstractmethod
    def signal(self, snapshot: Snapshot) -> Signal:
        """The number that decides, at the moment of the snapshot."""

    @abstractmethod
    def boundary(self, record: SignalRecord) -> Boundary:
        """What the signal is compared with.

        It may depend on recorded signals before its ``since``; so the boundary of a whole record
        is that of each of its moments.
        """

    @abstractmethod
    def sentence(self, now: Signal, level: float) -> str:
        """The comparison in words, with its numbers."""

    def waiting(self, now: Signal) -> str:
        """Why there is no answer yet, in words."""
        return f"no answer after {now.t} evaluation{'' if now.t == 1 else 's'}"

    @property
    def key(self) -> str:
        """The name under which the signal is recorded."""
        return self.traits.signal.key

    @property
    def signal_scale(self) -> Scale:
        """``"log"`` if the signal is a logarithm."""
        return self.traits.signal.scale

    def verdict(self, trace: Trace) -> Verdict:
        """The comparison of the current signal with the boundary."""
        now, boundary = trace.current, self.boundary(trace)
        if now.t < boundary.since or math.isnan(boundary.level) or math.isnan(now.value):
            return Verdict.not_yet(self.name, f"{self.waiting(now)}: go on", now.value)
        return Verdict.decided(
            self.name,
            now.value,
            boundary.level,
            self.sentence(now, boundary.level),
            stop=bool(boundary.is_crossed(now.t, now.value)),
        )

    def stops(self, record: SignalColumns, read: Array) -> Mask | None:
        """At which moments of a record the verdict is to stop; see ``sweep``."""
        return np.asarray(self.boundary(record).is_crossed(record.t, read))


def median_of_first(record: SignalRecord, count: int) -> float:
    """The median of the answers at t = 1..count; nan if there is none."""
    from statistics import median  # which takes long to import

    first = record.between(1, count)
    return median(first) if first else math.nan
