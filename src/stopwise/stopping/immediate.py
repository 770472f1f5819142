# SPDX-License-Identifier: Apache-2.0
"""Immediate: stop right after the initial design; the yardstick of the paper's theorem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Scale, Signal, Trace
from stopwise.stopping.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Immediate:
    r"""Stop at :math:`t = 0`.

    References:
        Xie et al. (2026), Theorem 3.2 compares with it.
    """

    name: ClassVar[str] = "immediate"
    signal_scale: ClassVar[Scale] = "linear"

    @property
    def key(self) -> str:
        """Counted, not computed."""
        return "evaluations"

    def signal(self, snapshot: Snapshot) -> Signal:
        """Evaluations so far."""
        return snapshot.signal(snapshot.t)

    def verdict(self, trace: Trace) -> Verdict:
        """Stop."""
        value = trace.current.value
        sentence = f"the initial design is done, with {value:g} evaluations since"
        return Verdict.at_least(self.name, value, 0.0, sentence)
