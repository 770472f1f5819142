# SPDX-License-Identifier: Apache-2.0
"""LogEIPC-med: stop when gain per cost is small beside what it was at first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

from stopwise.acquisition.pbgi_d import WORTH
from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Scale, Signal, Trace
from stopwise.stopping._rule import check_count, check_positive
from stopwise.stopping.pbgi import worth_signal
from stopwise.stopping.verdict import Verdict


@dataclass(frozen=True, slots=True)
class LogEIPCMedian:
    r"""Stop when :math:`\sup\log\mathrm{EI}/c \le \log\eta + \mathrm{median}_{t=1..I}` of itself.

    It can answer from t = I + 1 on. With equal costs it is the EI-med of Ishibashi et al. (2023).

    Args:
        eta: The fraction of the first gains per cost that is too little.
        initial: How many first values make the median, I.

    References:
        Ishibashi et al. (2023); Xie et al. (2026), Section 4.
    """

    eta: float = 0.01
    initial: int = 20
    name: ClassVar[str] = "logeipc-med"
    signal_scale: ClassVar[Scale] = "log"

    def __post_init__(self) -> None:
        check_positive("LogEIPCMedian", "eta", self.eta)
        check_count("LogEIPCMedian", "initial", self.initial)

    @property
    def key(self) -> str:
        """Shared with the PBGI rule."""
        return WORTH

    def signal(self, snapshot: Snapshot) -> Signal:
        """The supremum of log EI per cost."""
        return worth_signal(snapshot)

    def verdict(self, trace: Trace) -> Verdict:
        """Compare with the median of the first values."""
        now = trace.current
        first = trace.between(1, self.initial)
        if now.t <= self.initial or not first:
            sentence = f"{now.t} of {self.initial} first values of gain per cost: go on"
            return Verdict.not_yet(self.name, sentence, now.value)
        threshold = math.log(self.eta) + median(first)
        sentence = (
            f"the best remaining gain per cost is {quantity(math.exp(now.value))}, and"
            f" {quantity(self.eta)} of its median over the first {self.initial} evaluations is"
            f" {quantity(math.exp(threshold))}"
        )
        return Verdict.at_most(self.name, now.value, threshold, sentence)
