# SPDX-License-Identifier: Apache-2.0
"""FixedTrials: stop after a number of evaluations; what most people do today."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Signal
from stopwise.stopping._checks import check_count
from stopwise.stopping.signals import BEGUN, EVALUATIONS, evaluations
from stopwise.stopping.threshold_rule import Boundary, SignalRecord, ThresholdRule
from stopwise.stopping.traits import RuleTraits


@dataclass(frozen=True, slots=True)
class FixedTrials(ThresholdRule):
    r"""Stop at :math:`t = n`: n evaluations after the initial design.

    Assumes that somebody knows beforehand how many are worth it. With stages, evaluations count
    when they are begun.

    Args:
        n: How many evaluations.

    References:
        Common practice. ``max_trials`` of a study counts the initial design too.
    """

    n: int
    name: ClassVar[str] = "fixed"
    typical: ClassVar[Mapping[str, int]] = MappingProxyType({"n": 20})

    def __post_init__(self) -> None:
        check_count("FixedTrials", "n", self.n)

    @property
    def traits(self) -> RuleTraits:
        """A count; its record serves every n."""
        return RuleTraits(EVALUATIONS, memory=1)

    def signal(self, snapshot: Snapshot) -> Signal:
        """Evaluations so far."""
        return evaluations(snapshot)

    def boundary(self, record: SignalRecord) -> Boundary:  # noqa: ARG002  it is the same always
        """The number n."""
        return Boundary(self.n, "at least")

    def sentence(self, now: Signal, level: float) -> str:
        """How many evaluations there were, of how many."""
        what = "trials begun" if BEGUN in now.facts else "evaluations"
        return f"{now.value:g} of {level} {what} after the initial design"
