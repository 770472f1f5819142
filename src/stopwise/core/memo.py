# SPDX-License-Identifier: Apache-2.0
"""The memo of a snapshot: computed values, each with the recorded signals it was read from.

A supremum takes milliseconds and is asked for by several rules and by the acquisition, so it is
kept. Everything it depends on is fixed for the life of a memo, except the recorded signals, which
grow when rules are asked. The memo therefore notes which records a computation reads, and gives
a value back only where those records are still the same. Nothing kept can outlive what it was
computed from, and looking at a snapshot changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from stopwise.core.traces import Trace

T = TypeVar("T")

_EMPTY = Trace()


@dataclass(slots=True)
class Reads:
    """The recorded signals and suprema that a computation has read.

    Args:
        traces: Recorded signals by key, as they were.
        suprema: Suprema that it asked for, directly or through other computations.
    """

    traces: dict[str, Trace] = field(default_factory=dict)
    suprema: list[Any] = field(default_factory=list)

    def add(self, other: Reads) -> None:
        """Add what a computation inside this one has read."""
        self.traces |= other.traces
        self.suprema += other.suprema

    def still_hold(self, traces: Mapping[str, Trace]) -> bool:
        """Whether the computation would read the same from these traces."""
        return not self.traces or all(
            traces.get(key, _EMPTY) == trace for key, trace in self.traces.items()
        )


class Memo:
    """Values by key, each kept with what it was computed from."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, list[tuple[Reads, Any]]] = {}
        self._open: list[Reads] = []  # one for each running computation, innermost last

    def once(self, key: Hashable, traces: Mapping[str, Trace], compute: Callable[[], T]) -> T:
        """The value of a key where it was computed from the same traces; else compute it."""
        for reads, value in self._kept.get(key, ()):
            if reads.still_hold(traces):
                self._note(reads)
                kept: T = value
                return kept
        computed, reads = self.tracked(compute)
        self._kept.setdefault(key, []).append((reads, computed))
        return computed

    def tracked(self, compute: Callable[[], T]) -> tuple[T, Reads]:
        """Compute a value, and return it with what the computation has read."""
        self._open.append(Reads())
        try:
            value = compute()
        finally:
            reads = self._open.pop()
        self._note(reads)
        return value, reads

    def note_trace(self, key: str, trace: Trace) -> None:
        """Note that the running computation reads a trace."""
        if self._open:
            self._open[-1].traces[key] = trace

    def note_supremum(self, supremum: object) -> None:
        """Note that the running computation asks for a supremum."""
        if self._open:
            self._open[-1].suprema.append(supremum)

    def _note(self, reads: Reads) -> None:
        if self._open and (reads.traces or reads.suprema):
            self._open[-1].add(reads)


class TrackedTraces(Mapping[str, Trace]):
    """Recorded signals by key that tell a memo when they are read."""

    __slots__ = ("_memo", "untracked")

    def __init__(self, traces: Mapping[str, Trace], memo: Memo) -> None:
        plain = traces.untracked if isinstance(traces, TrackedTraces) else traces
        self.untracked: Mapping[str, Trace] = plain
        self._memo = memo

    def __getitem__(self, key: str) -> Trace:
        self._memo.note_trace(key, self.untracked.get(key, _EMPTY))
        return self.untracked[key]

    def __iter__(self) -> Iterator[str]:
        for key, trace in self.untracked.items():
            self._memo.note_trace(key, trace)
        return iter(self.untracked)

    def __len__(self) -> int:
        return len(self.untracked)

    def __repr__(self) -> str:
        return repr(self.untracked)
