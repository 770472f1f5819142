# SPDX-License-Identifier: Apache-2.0
"""GSS: the global stopping strategy, improvement beside the spread of observations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Scale, Signal, Trace
from stopwise.stopping._rule import check_count, check_positive
from stopwise.stopping.verdict import Verdict


@dataclass(frozen=True, slots=True)
class GSS:
    r"""Stop when :math:`y^*_{t-w} - y^*_t \le \phi\,\mathrm{IQR}`.

    IQR is the interquartile range of *all* values observed so far; where it is 0, no answer.

    Args:
        phi: The fraction of the interquartile range that is too little.
        window: Evaluations over which the improvement is taken, w.

    References:
        Bakshy et al. (2018); Ax's ImprovementGlobalStoppingStrategy.
    """

    phi: float = 0.01
    window: int = 5
    name: ClassVar[str] = "gss"
    signal_scale: ClassVar[Scale] = "linear"

    def __post_init__(self) -> None:
        check_positive("GSS", "phi", self.phi)
        check_count("GSS", "window", self.window)

    @property
    def key(self) -> str:
        """The improvement depends on the window."""
        return f"improvement_per_iqr_{self.window}"

    def signal(self, snapshot: Snapshot) -> Signal:
        """Improvement over the window, in interquartile ranges."""
        if snapshot.t < self.window:
            return snapshot.signal(math.nan)
        low, high = np.quantile(snapshot.y, [0.25, 0.75])
        earlier = float(np.min(snapshot.y[: snapshot.n - self.window]))
        gain, iqr = earlier - snapshot.best, float(high - low)
        return snapshot.signal(gain / iqr if iqr > 0 else math.nan, gain=gain, iqr=iqr)

    def verdict(self, trace: Trace) -> Verdict:
        """Compare with phi."""
        now = trace.current
        if math.isnan(now.value):
            sentence = f"fewer than {self.window} evaluations, or values without spread: go on"
            return Verdict.not_yet(self.name, sentence)
        sentence = (
            f"the last {self.window} evaluations gained {quantity(now.facts['gain'])}, which is"
            f" {quantity(now.value)} of the interquartile range; the least worth going on for is"
            f" {quantity(self.phi)}"
        )
        return Verdict.at_most(self.name, now.value, self.phi, sentence)
