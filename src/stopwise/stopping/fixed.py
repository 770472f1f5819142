# SPDX-License-Identifier: Apache-2.0
"""FixedTrials: stop after a number of evaluations; what most people do today."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Scale, Signal, Trace
from stopwise.stopping._rule import check_count
from stopwise.stopping.verdict import Verdict


@dataclass(frozen=True, slots=True)
class FixedTrials:
    r"""Stop at :math:`t = n`: n evaluations after the initial design.

    Args:
        n: How many evaluations.

    References:
        Common practice. ``max_trials`` of a study counts the initial design too.
    """

    n: int
    name: ClassVar[str] = "fixed"
    signal_scale: ClassVar[Scale] = "linear"

    def __post_init__(self) -> None:
        check_count("FixedTrials", "n", self.n)

    @property
    def key(self) -> str:
        """Counted, not computed."""
        return "evaluations"

    def signal(self, snapshot: Snapshot) -> Signal:
        """Evaluations so far."""
        return snapshot.signal(snapshot.t)

    def verdict(self, trace: Trace) -> Verdict:
        """Compare with n."""
        value = trace.current.value
        sentence = f"{value:g} of {self.n} evaluations after the initial design"
        return Verdict.at_least(self.name, value, self.n, sentence)
