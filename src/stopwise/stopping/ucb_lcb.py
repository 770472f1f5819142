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
from stopwise.core.traces import Signal
from stopwise.stopping._checks import check_positive
from stopwise.stopping.signals import OBJECTIVE, SignalKind
from stopwise.stopping.threshold_rule import Boundary, SignalRecord, ThresholdRule
from stopwise.stopping.traits import RuleParameter, RuleTraits

CONFIDENCE_GAP = SignalKind(
    "ucb_lcb_gap", "linear", "gap between the bounds", reads="model", unit=OBJECTIVE
)


def confidence_gap(snapshot: Snapshot, beta: float) -> tuple[float, float, float]:
    r""":math:`\min_{x\in D}(\mu + \sqrt\beta\sigma) - \min_{x\in X}(\mu - \sqrt\beta\sigma)`.

    Returns:
        The gap, the upper bound among the evaluated, the lower bound anywhere.
    """
    objective = snapshot.belief.objective
    if objective.exact:  # exact observations: both bounds of the evaluated are their values
        upper = lower = snapshot.best
    else:
        law = objective.law(snapshot.X[np.isfinite(snapshot.judged)])
        upper = float(np.min(law.quantile(math.sqrt(beta)).value))
        lower = float(np.min(law.quantile(-math.sqrt(beta)).value))
    # The evaluated belong to X too; a numerical search may miss them.
    lower = min(lower, -snapshot.sup(LowerBound(beta, exclude=False)).value)
    return upper - lower, upper, lower


@dataclass(frozen=True, slots=True)
class UCBLCB(ThresholdRule):
    r"""Stop when :math:`\min_{x\in D}\mathrm{UCB} - \min_{x\in X}\mathrm{LCB} \le \theta`.

    Bounds are :math:`\mu \pm \sqrt{\beta_n}\,\sigma` with
    :math:`\beta_n = \tfrac25\log(d n^2\pi^2/(6\delta))`, delta = 0.1, n observations in all.
    Assumes that f lies within the bounds at all points, with probability 1 - delta.

    Args:
        theta: Tolerance, in objective units. (The paper's 0.01 is in percentage points: with
            accuracy in [0, 1] the same is 0.0001.)

    References:
        Makarova et al. (2022), Eq. 3 and Appendix A.
    """

    theta: float = 0.01
    name: ClassVar[str] = "ucb-lcb"

    def __post_init__(self) -> None:
        theta = check_positive("UCBLCB", "theta", self.theta)
        object.__setattr__(self, "theta", theta)

    @property
    def traits(self) -> RuleTraits:
        """Its record serves every theta."""
        theta = RuleParameter("theta", self.theta, OBJECTIVE)
        return RuleTraits(CONFIDENCE_GAP, memory=1, parameters=(theta,))

    def signal(self, snapshot: Snapshot) -> Signal:
        """The gap between the bounds."""
        gap, upper, lower = confidence_gap(
            snapshot, confidence_beta(snapshot.domain.d, snapshot.n)
        )
        return snapshot.signal(gap, upper=upper, lower=lower)

    def boundary(self, record: SignalRecord) -> Boundary:  # noqa: ARG002  it is the same always
        """The tolerance."""
        return Boundary(self.theta)

    def sentence(self, now: Signal, level: float) -> str:
        """What can be gained at most, and the tolerance."""
        return (
            f"the confidence bounds leave at most {quantity(now.value, level)} to be gained"
            f"{now.units.in_value}; the tolerance is {quantity(level, now.value)}"
        )
