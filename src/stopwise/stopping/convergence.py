# SPDX-License-Identifier: Apache-2.0
"""Convergence: stop when the best value has not changed for a while."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Scale, Signal, Trace
from stopwise.stopping._rule import check_count
from stopwise.stopping.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Convergence:
    r"""Stop when :math:`y^*_t = y^*_{t-k}`: k evaluations without improvement.

    Args:
        patience: Evaluations without improvement that are too many, k.

    References:
        Common practice; Xie et al. (2026), Section 4.
    """

    patience: int = 5
    name: ClassVar[str] = "convergence"
    signal_scale: ClassVar[Scale] = "linear"

    def __post_init__(self) -> None:
        check_count("Convergence", "patience", self.patience)

    @property
    def key(self) -> str:
        """Free of the patience."""
        return "evaluations_without_improvement"

    def signal(self, snapshot: Snapshot) -> Signal:
        """Evaluations since the best value last changed, counted from t = 0."""
        since = snapshot.n - 1 - int(np.argmin(snapshot.y))
        return snapshot.signal(min(since, snapshot.t))

    def verdict(self, trace: Trace) -> Verdict:
        """Compare with the patience."""
        value = trace.current.value
        sentence = (
            f"the best value has not changed over the last {value:g} evaluations; the patience is"
            f" {self.patience}"
        )
        return Verdict.at_least(self.name, value, self.patience, sentence)
