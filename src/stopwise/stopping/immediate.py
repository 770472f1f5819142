# SPDX-License-Identifier: Apache-2.0
"""Immediate: stop right after the initial design; the yardstick of the paper's theorem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Signal
from stopwise.stopping.signals import EVALUATIONS, evaluations
from stopwise.stopping.threshold_rule import Boundary, SignalRecord, ThresholdRule
from stopwise.stopping.traits import RuleTraits


@dataclass(frozen=True, slots=True)
class Immediate(ThresholdRule):
    r"""Stop at :math:`t = 0`, after the initial design.

    Assumes nothing: it is there to compare with.

    References:
        Xie et al. (2026), Theorem 3.2 compares with it.
    """

    name: ClassVar[str] = "immediate"

    @property
    def traits(self) -> RuleTraits:
        """A count."""
        return RuleTraits(EVALUATIONS, memory=1)

    def signal(self, snapshot: Snapshot) -> Signal:
        """Evaluations so far."""
        return evaluations(snapshot)

    def boundary(self, record: SignalRecord) -> Boundary:  # noqa: ARG002  it is the same always
        """Zero evaluations."""
        return Boundary(0.0, "at least")

    def sentence(self, now: Signal, level: float) -> str:  # noqa: ARG002  0 is not worth saying
        """How many evaluations there were since the initial design."""
        return f"the initial design is done, with {now.value:g} evaluations since"
