# SPDX-License-Identifier: Apache-2.0
"""GSS: the global stopping strategy, improvement beside the spread of observations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Signal
from stopwise.stopping._checks import check_count, check_positive
from stopwise.stopping.signals import PURE_NUMBER, SignalKind
from stopwise.stopping.threshold_rule import Boundary, SignalRecord, ThresholdRule
from stopwise.stopping.traits import RuleTraits


@dataclass(frozen=True, slots=True)
class GSS(ThresholdRule):
    r"""Stop when :math:`y^*_{t-w} - y^*_t \le \phi\,\mathrm{IQR}`.

    IQR is the interquartile range of *all* values observed so far; where it is 0, no answer.
    Assumes no model: that improvements to come are as large as the last ones, and that the spread
    of values says what is large.

    Args:
        phi: The fraction of the interquartile range that is too little.
        window: Evaluations over which the improvement is taken, w.

    References:
        Bakshy et al. (2018); Ax's ImprovementGlobalStoppingStrategy.
    """

    phi: float = 0.01
    window: int = 5
    name: ClassVar[str] = "gss"

    def __post_init__(self) -> None:
        phi = check_positive("GSS", "phi", self.phi)
        object.__setattr__(self, "phi", phi)
        check_count("GSS", "window", self.window)

    @property
    def traits(self) -> RuleTraits:
        """Its signal depends on the window, and on the model only where values are noisy."""
        signal = SignalKind(
            f"improvement_per_iqr_{self.window}",
            "linear",
            "gain per interquartile range",
            reads="judged values",
            unit=PURE_NUMBER,
        )
        return RuleTraits(signal, memory=1)

    def signal(self, snapshot: Snapshot) -> Signal:
        """Improvement over the window, in interquartile ranges."""
        if snapshot.t < self.window:
            return snapshot.signal(math.nan)
        low, high = np.quantile(snapshot.y, [0.25, 0.75])
        earlier = float(np.min(snapshot.attained[: snapshot.n - self.window]))
        gain, iqr = earlier - snapshot.best, float(high - low)
        return snapshot.signal(gain / iqr if iqr > 0 else math.nan, gain=gain, iqr=iqr)

    def boundary(self, record: SignalRecord) -> Boundary:  # noqa: ARG002  it is the same always
        """The fraction phi."""
        return Boundary(self.phi)

    def sentence(self, now: Signal, level: float) -> str:
        """What the last evaluations gained, and what would be worth going on for."""
        return (
            f"the last {self.window} evaluations gained {quantity(now.facts['gain'])}"
            f"{now.units.in_value}, which is {quantity(now.value, level)} of the interquartile"
            f" range; the least worth going on for is {quantity(level, now.value)}"
        )

    def waiting(self, now: Signal) -> str:  # noqa: ARG002
        """A window is not full yet, or there is no spread to compare with."""
        return f"fewer than {self.window} evaluations, or values without spread"
