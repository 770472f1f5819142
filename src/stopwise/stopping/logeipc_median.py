# SPDX-License-Identifier: Apache-2.0
"""LogEIPC-med: stop when gain per cost is small beside what it was at first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from stopwise.core.numerics.limits import exp_or_inf
from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Signal
from stopwise.stopping._checks import check_count, check_positive
from stopwise.stopping.signals import GAIN_PER_COST, discount, gain_per_cost
from stopwise.stopping.threshold_rule import (
    Boundary,
    SignalRecord,
    ThresholdRule,
    median_of_first,
)
from stopwise.stopping.traits import RuleTraits


@dataclass(frozen=True, slots=True)
class LogEIPCMedian(ThresholdRule):
    r"""Stop when :math:`\sup\log\mathrm{EI}/c \le \log\eta + \mathrm{median}_{t=1..I}` of itself.

    It can answer from t = I + 1 on. With equal costs it is the EI-med of Ishibashi et al. (2023).
    Assumes that the first gains say what a gain is worth: no price enters.

    Args:
        eta: The fraction of the first gains per cost that is too little.
        initial: How many first values make the median, I.

    References:
        Ishibashi et al. (2023); Xie et al. (2026), Section 4.
    """

    eta: float = 0.01
    initial: int = 20
    name: ClassVar[str] = "logeipc-med"

    def __post_init__(self) -> None:
        eta = check_positive("LogEIPCMedian", "eta", self.eta)
        object.__setattr__(self, "eta", eta)
        check_count("LogEIPCMedian", "initial", self.initial)

    @property
    def traits(self) -> RuleTraits:
        """Its record is shared with the PBGI rule; the median reads it from its beginning."""
        return RuleTraits(GAIN_PER_COST)

    def signal(self, snapshot: Snapshot) -> Signal:
        """The supremum of log EI per cost."""
        return gain_per_cost(snapshot)

    def boundary(self, record: SignalRecord) -> Boundary:
        """A fraction of the median of the first values."""
        level = math.log(self.eta) + median_of_first(record, self.initial)
        return Boundary(level, since=self.initial + 1)

    def sentence(self, now: Signal, level: float) -> str:
        """The gain per cost now, and the fraction of what it was at first."""
        unit = f" {now.units.lam}" if now.units.value_name else ""
        rate, least = exp_or_inf(now.value), exp_or_inf(level)
        return (
            f"the best remaining gain per cost is {quantity(rate, least)}{unit}, and"
            f" {quantity(self.eta)} of its median over the first {self.initial} evaluations is"
            f" {quantity(least, rate)}{discount(now)}"
        )

    def waiting(self, now: Signal) -> str:
        """The median is not complete yet."""
        return f"{now.t} of {self.initial} first values of gain per cost"
