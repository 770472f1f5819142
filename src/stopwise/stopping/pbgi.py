# SPDX-License-Identifier: Apache-2.0
"""The PBGI/LogEIPC rule: stop when no candidate is worth its price."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from stopwise.acquisition import LogEIPC, PointwiseScore
from stopwise.core.exchange_rate import check_lam
from stopwise.core.numerics.limits import exp_or_inf
from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Signal
from stopwise.errors import InputError, shown
from stopwise.stopping.signals import (
    GAIN_PER_COST,
    OBJECTIVE_PER_COST,
    currency,
    discount,
    gain_per_cost,
    gained,
    in_currency,
)
from stopwise.stopping.threshold_rule import Boundary, SignalRecord, ThresholdRule
from stopwise.stopping.traits import RuleParameter, RuleTraits

Update = Literal["after", "before"]

GAIN_PER_COST_BEFORE_UPDATE = replace(
    GAIN_PER_COST,
    key=f"{GAIN_PER_COST.key}_before_update",
    beyond_marginals="the posterior before the last observation",
)


@dataclass(frozen=True, slots=True)
class _BeforeUpdate:
    """LogEIPC under the posterior before the last observation, over the best value after it."""

    def bind(self, snapshot: Snapshot) -> PointwiseScore:
        before = snapshot.belief.prefix(snapshot.n - 1)
        before = replace(before, success=snapshot.belief.success)
        return PointwiseScore(LogEIPC(), snapshot, from_incumbent=True, valued=True, belief=before)


@dataclass(frozen=True, slots=True)
class PBGI(ThresholdRule):
    r"""Stop when :math:`\sup_{x \notin D_t} \log \mathrm{EI}_t(x; y^*_t)/c(x) \le \log\lambda`.

    Equivalently, when the lowest fair value is that of an evaluated point, or when no candidate's
    expected improvement exceeds lambda times its cost (Eqs. 6, 8 and 9 of Xie et al. 2026). Paired
    with PBGI, LogEIPC or EIC, the expected cost-adjusted regret is no worse than stopping at once.
    Assumes that f is drawn from the model's prior, with costs known or independent of f.

    Args:
        lam: Objective units per unit of cost.
        update: ``"after"`` uses the posterior that knows the last observation, as the paper does;
            ``"before"`` the one without it (Gergatsouli and Tzamos 2023), for comparison.

    References:
        Weitzman (1979); Xie et al. (2026).
    """

    lam: float
    update: Update = "after"
    name: ClassVar[str] = "pbgi"

    def __post_init__(self) -> None:
        object.__setattr__(self, "lam", check_lam(self.lam))
        if self.update not in ("after", "before"):
            message = f"PBGI(update={shown(self.update)}): give 'after' (the paper's) or 'before'."
            raise InputError(message)

    @property
    def traits(self) -> RuleTraits:
        """Its record serves every lambda; the paper's theorem is about the update "after"."""
        after = self.update == "after"
        return RuleTraits(
            GAIN_PER_COST if after else GAIN_PER_COST_BEFORE_UPDATE,
            memory=1,
            parameters=(RuleParameter("lam", self.lam, OBJECTIVE_PER_COST),),
            in_theorem=True,
            breaks=() if after else ("the rule uses the posterior before the last observation",),
        )

    def signal(self, snapshot: Snapshot) -> Signal:
        """The supremum of log EI per cost."""
        if self.update == "after":
            return gain_per_cost(snapshot)
        if snapshot.t <= 0:  # the last observation belongs to the initial design
            return snapshot.signal(math.nan)
        return gain_per_cost(snapshot, _BeforeUpdate())

    def boundary(self, record: SignalRecord) -> Boundary:  # noqa: ARG002  it is the same always
        """Log lambda."""
        return Boundary(math.log(self.lam))

    def sentence(self, now: Signal, level: float) -> str:
        """What the best remaining candidate gains and costs, in both units."""
        cost = now.facts.get("cost", math.nan)
        if math.isnan(cost):
            sentence, of_candidate = "no remaining candidate can gain anything", -math.inf
        else:
            gain, price = now.facts["gain"], self.lam * cost
            sentence = (
                f"the best remaining candidate is expected to {gained(now, price)} and costs"
                f" {now.units.cost(cost)}"
            )
            if self.lam != 1.0 or currency(now) is None:
                worth = in_currency(price, currency(now), gain)
                sentence += f", worth {worth} at lam = {quantity(self.lam)}"
            of_candidate = math.log(gain) - math.log(cost) if gain > 0 else now.value
        if not math.isclose(now.value, of_candidate, rel_tol=0.0, abs_tol=1e-6):
            # A smoothed number decides, not this candidate alone.
            side = "at most" if now.value <= level else "above"
            rate = exp_or_inf(now.value)
            sentence += (
                f"; averaged over recent steps the gain per cost is"
                f" {quantity(rate, self.lam)}, {side} lam = {quantity(self.lam, rate)}"
            )
        if now.facts.get("cost_spread", 0.0) > 1.0:
            factor = quantity(exp_or_inf(now.facts["cost_spread"]))
            sentence += f" (the cost is uncertain by a factor of {factor})"
        return sentence + discount(now)

    def waiting(self, now: Signal) -> str:  # noqa: ARG002
        """Only the posterior "before" has no answer at first."""
        return "no evaluation after the initial design yet"
