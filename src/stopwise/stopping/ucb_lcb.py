# SPDX-License-Identifier: Apache-2.0
"""UCB-LCB: stop when the confidence bounds leave little to be gained."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.acquisition.lcb import LowerBound, confidence_beta
from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Scale, Signal, Trace
from stopwise.stopping._rule import check_positive
from stopwise.stopping.verdict import Verdict


def confidence_gap(snapshot: Snapshot, beta: float) -> tuple[float, float, float]:
    r""":math:`\min_{x\in D}(\mu + \sqrt\beta\sigma) - \min_{x\in X}(\mu - \sqrt\beta\sigma)`.

    Returns:
        The gap, the upper bound among the evaluated, the lower bound anywhere.
    """
    objective = snapshot.belief.objective
    if objective.exact:  # exact observations: both bounds of the evaluated are their values
        upper = lower = snapshot.best
    else:
        law = objective.law(snapshot.X)
        upper = float(np.min(law.quantile(math.sqrt(beta)).value))
        lower = float(np.min(law.quantile(-math.sqrt(beta)).value))
    # The evaluated belong to X too; a numerical search may miss them.
    lower = min(lower, -snapshot.sup(LowerBound(beta, exclude=False)).value)
    return upper - lower, upper, lower


@dataclass(frozen=True, slots=True)
class UCBLCB:
    r"""Stop when :math:`\min_{x\in D}\mathrm{UCB} - \min_{x\in X}\mathrm{LCB} \le \theta`.

    Bounds are :math:`\mu \pm \sqrt{\beta_n}\,\sigma` with
    :math:`\beta_n = \tfrac25\log(d n^2\pi^2/(6\delta))`, delta = 0.1, n observations in all.

    Args:
        theta: Tolerance, in objective units. (The paper's 0.01 is in percentage points: with
            accuracy in [0, 1] the same is 0.0001.)

    References:
        Makarova et al. (2022), Eq. 3 and Appendix A.
    """

    theta: float = 0.01
    name: ClassVar[str] = "ucb-lcb"
    signal_scale: ClassVar[Scale] = "linear"

    def __post_init__(self) -> None:
        check_positive("UCBLCB", "theta", self.theta)

    @property
    def key(self) -> str:
        """Free of theta."""
        return "ucb_lcb_gap"

    def signal(self, snapshot: Snapshot) -> Signal:
        """The gap between the bounds."""
        gap, upper, lower = confidence_gap(
            snapshot, confidence_beta(snapshot.domain.d, snapshot.n)
        )
        return snapshot.signal(gap, upper=upper, lower=lower)

    def verdict(self, trace: Trace) -> Verdict:
        """Compare with theta."""
        now = trace.current
        sentence = (
            f"the confidence bounds leave at most {quantity(now.value)} to be gained; the"
            f" tolerance is {quantity(self.theta)}"
        )
        return Verdict.at_most(self.name, now.value, self.theta, sentence)
