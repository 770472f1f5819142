# SPDX-License-Identifier: Apache-2.0
"""Convergence: stop when the best value has not changed for a while."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Signal
from stopwise.stopping._checks import check_count
from stopwise.stopping.signals import PURE_NUMBER, SignalKind
from stopwise.stopping.threshold_rule import Boundary, SignalRecord, ThresholdRule
from stopwise.stopping.traits import RuleTraits

EVALUATIONS_WITHOUT_IMPROVEMENT = SignalKind(
    "evaluations_without_improvement",
    "linear",
    "trials without improvement",
    reads="values",
    unit=PURE_NUMBER,
)


@dataclass(frozen=True, slots=True)
class Convergence(ThresholdRule):
    r"""Stop when :math:`y^*_t = y^*_{t-k}`: k evaluations without improvement.

    Assumes no model: that who has waited k evaluations in vain waits in vain.

    Args:
        patience: Evaluations without improvement that are too many, k.

    References:
        Common practice; Xie et al. (2026), Section 4.
    """

    patience: int = 5
    name: ClassVar[str] = "convergence"

    def __post_init__(self) -> None:
        check_count("Convergence", "patience", self.patience)

    @property
    def traits(self) -> RuleTraits:
        """A count; its record serves every patience."""
        return RuleTraits(EVALUATIONS_WITHOUT_IMPROVEMENT, memory=1)

    def signal(self, snapshot: Snapshot) -> Signal:
        """Evaluations since the best value last changed, counted from t = 0."""
        since = snapshot.n - 1 - int(np.argmin(snapshot.attained))
        return snapshot.signal(min(since, snapshot.t))

    def boundary(self, record: SignalRecord) -> Boundary:  # noqa: ARG002  it is the same always
        """The patience."""
        return Boundary(self.patience, "at least")

    def sentence(self, now: Signal, level: float) -> str:
        """How long the best value has not changed, and the patience."""
        last = "evaluation" if now.value == 1 else f"{now.value:g} evaluations"
        return f"the best value has not changed over the last {last}; the patience is {level}"
