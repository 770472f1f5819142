# SPDX-License-Identifier: Apache-2.0
"""PBGI-D: the fair value at a lambda that falls as the study goes on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from stopwise.acquisition._pointwise import PointwiseScore
from stopwise.acquisition.pbgi import PBGI
from stopwise.core.exchange_rate import check_lam
from stopwise.core.numerics.limits import as_amount
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Trace

WORTH = "sup_log_ei_per_cost"  # the recorded signal: sup over x of log EI(x)/c(x)


@dataclass(frozen=True, slots=True)
class PBGID:
    r"""PBGI with :math:`\lambda_0`, halved each time the stopping rule would trigger.

    For a budget B and an initial design of cost C, :math:`\lambda_0 = U/(B - C)` keeps the
    expected spend within B, where U bounds what can still be gained (Xie et al. 2026, Section
    3.1.1); the halving then uses up what is left. Lambda is halved at most once per evaluation,
    before the choice, when :math:`\sup_x \log \mathrm{EI}/c \le \log\lambda_t`; the Lemma does not
    hold in that step. It is read from the recorded signals, so it is the same after a resume.
    Assumes that there is a budget, and no price of its own for a unit of it.

    Args:
        lam0: The first lambda, in objective units per unit of cost.

    References:
        Xie et al. (2024); Xie et al. (2026).
    """

    lam0: float
    name: ClassVar[str] = "pbgi-d"

    def __post_init__(self) -> None:
        object.__setattr__(self, "lam0", check_lam(self.lam0))

    def lam(self, trace: Trace) -> float:
        """Lambda after what was recorded."""
        lam = self.lam0
        for signal in trace:
            if signal.t >= 0 and signal.value <= math.log(lam):
                lam = as_amount(lam / 2.0)
        return lam

    def bind(self, snapshot: Snapshot) -> PointwiseScore:
        """The score on a snapshot, at the lambda that its trace gives."""
        return PBGI(self.lam(snapshot.trace(WORTH))).bind(snapshot)
