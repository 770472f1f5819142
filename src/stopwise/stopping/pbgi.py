# SPDX-License-Identifier: Apache-2.0
"""The PBGI/LogEIPC rule: stop when no candidate is worth its price."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from stopwise.acquisition._pointwise import PointwiseScore
from stopwise.acquisition.logeipc import LogEIPC
from stopwise.acquisition.pbgi_d import WORTH
from stopwise.core.exchange_rate import check_lam
from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Bindable, Snapshot
from stopwise.core.traces import Scale, Signal, Trace
from stopwise.errors import InputError
from stopwise.stopping.verdict import Verdict

Update = Literal["after", "before"]


def worth_signal(snapshot: Snapshot, acquisition: Bindable | None = None) -> Signal:
    """The best remaining candidate's log gain per cost, with its gain, cost and certainty.

    It does not depend on lambda: one record serves every lambda, and LogEIPC-med.
    """
    found = snapshot.sup(LogEIPC() if acquisition is None else acquisition)
    if found.x is None:  # nothing remains
        return snapshot.signal(-math.inf, gain=0.0, cost=math.nan, cost_spread=0.0, spread=0.0)
    x = found.x[None, :]
    log_cost = float(snapshot.belief.log_price(x)[0])
    return snapshot.signal(
        found.value,
        gain=math.exp(found.value + log_cost),
        cost=math.exp(log_cost),
        cost_spread=snapshot.belief.price.log_cost(x).std[0],
        spread=found.spread,
    )


@dataclass(frozen=True, slots=True)
class _BeforeUpdate:
    """LogEIPC under the posterior before the last observation, over the best value after it."""

    def bind(self, snapshot: Snapshot) -> PointwiseScore:
        before = snapshot.belief.prefix(snapshot.n - 1)
        return PointwiseScore(LogEIPC(), snapshot, from_incumbent=True, belief=before)


@dataclass(frozen=True, slots=True)
class PBGI:
    r"""Stop when :math:`\sup_{x \notin D_t} \log \mathrm{EI}_t(x; y^*_t)/c(x) \le \log\lambda`.

    Equivalently, when the lowest fair value is that of an evaluated point, or when no candidate's
    expected improvement exceeds lambda times its cost (Eqs. 6, 8 and 9 of Xie et al. 2026). Paired
    with PBGI, LogEIPC or EIC, the expected cost-adjusted regret is no worse than stopping at once.

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
    signal_scale: ClassVar[Scale] = "log"

    def __post_init__(self) -> None:
        check_lam(self.lam)
        if self.update not in ("after", "before"):
            message = f"PBGI(update={self.update!r}): give 'after' (the paper's) or 'before'."
            raise InputError(message)

    @property
    def key(self) -> str:
        """Free of lambda."""
        return WORTH if self.update == "after" else f"{WORTH}_before_update"

    def signal(self, snapshot: Snapshot) -> Signal:
        """The supremum of log EI per cost."""
        if self.update == "after":
            return worth_signal(snapshot)
        if snapshot.t <= 0:  # the last observation belongs to the initial design
            return snapshot.signal(math.nan)
        return worth_signal(snapshot, _BeforeUpdate())

    def verdict(self, trace: Trace) -> Verdict:
        """Compare with log lambda."""
        now = trace.current
        if math.isnan(now.value):
            return Verdict.not_yet(self.name, "no evaluation after the initial design yet: go on")
        sentence = worth_sentence(now, self.lam)
        return Verdict.at_most(self.name, now.value, math.log(self.lam), sentence)


def worth_sentence(now: Signal, lam: float) -> str:
    """What the best remaining candidate gains and costs, in both units."""
    cost = now.facts.get("cost", math.nan)
    if math.isnan(cost):
        sentence, own = "no remaining candidate can gain anything", -math.inf
    else:
        gain = now.facts["gain"]
        sentence = (
            f"the best remaining candidate is expected to gain {quantity(gain)} and costs"
            f" {quantity(cost)}, worth {quantity(lam * cost)} at lam = {quantity(lam)}"
        )
        own = math.log(gain) - math.log(cost) if gain > 0 else now.value
    if not math.isclose(now.value, own, rel_tol=0.0, abs_tol=1e-6):
        # A smoothed number decides, not this candidate alone.
        rate = math.exp(now.value)
        side = "at most" if now.value <= math.log(lam) else "above"
        sentence += (
            f"; averaged over recent steps the gain per cost is {quantity(rate)}, {side}"
            f" lam = {quantity(lam)}"
        )
    if now.facts.get("cost_spread", 0.0) > 1.0:
        factor = quantity(math.exp(now.facts["cost_spread"]))
        sentence += f" (the cost is uncertain by a factor of {factor})"
    return sentence
