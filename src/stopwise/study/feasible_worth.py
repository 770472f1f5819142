# SPDX-License-Identifier: Apache-2.0
"""What a value that keeps the limits could be worth at most, while none has kept them.

Nobody has said what it is worth to have any such value, so there is no gain to weigh. But where
the worth of values is bounded, no value is worth more than the best one is worth over nothing at
all, which is worth 0, or as little as the worst value if that is less. That many units of worth
times the chance to keep the limits is at least every gain: where even that is below the price, a
rule about prices can stop, and never does while something could be worth its price.

A model of few outcomes can be sure that none is within the limits, and wrong. So no chance below
1/(2(n + 1)) counts, the mean of a share of which nothing is known but n trials in vain (by
Jeffreys' prior). At one price, what is spent in vain is then at least half of what a value can be
worth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from stopwise.acquisition.chance_per_cost import ChancePerCost
from stopwise.core.numerics.limits import LARGEST_AMOUNT
from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Scale, Signal, Trace
from stopwise.stopping import StoppingRule, Verdict, traits_of
from stopwise.stopping.signals import GAIN_PER_COST, NOTHING_REMAINS, in_currency
from stopwise.study.options import StudyOptions


@dataclass(frozen=True, slots=True)
class MostWorth:
    r"""The log of :math:`p\,w/c` where p/c is largest, with p no less than 1/(2(n + 1)).

    It is recorded, under a key of its own, and the study's own rule reads it as it reads a gain
    per cost.

    Args:
        most: What a value that keeps the limits is worth at most, w, in units of the utility.
    """

    most: float
    name: ClassVar[str] = "most-worth"
    key: ClassVar[str] = "most_worth_per_cost"
    signal_scale: ClassVar[Scale] = "log"

    def signal(self, snapshot: Snapshot) -> Signal:
        """The bound of the candidate that is likeliest for its price, with its chance and cost."""
        best = snapshot.sup(ChancePerCost())
        if best.x is None:
            return snapshot.signal(-math.inf, **NOTHING_REMAINS)
        x = best.x[None, :]
        log_cost = float(snapshot.belief.log_price(x)[0])
        chance = math.exp(float(snapshot.belief.log_chance(x)[0]))
        counted = max(chance, 0.5 / (snapshot.n + 1))
        return snapshot.signal(
            math.log(self.most) + math.log(counted) - log_cost,
            gain=self.most * counted,
            chance=chance,
            counted=counted,
            cost=math.exp(log_cost),
            cost_spread=snapshot.belief.price.log_cost(x).std[0],
            spread=best.spread,
        )

    def verdict(self, trace: Trace) -> Verdict:
        """None of its own: it is recorded for other rules."""
        return Verdict.not_yet(self.name, "recorded only: go on", trace.current.value)

    def reason(self, rule: StoppingRule, trace: Trace, currency: str) -> str:
        """What a rule has compared, in words."""
        now, lam = trace.current, traits_of(rule).lam or 1.0
        if "chance" not in now.facts:
            return "no remaining candidate can keep them"
        chance, counted, cost = (now.facts[of] for of in ("chance", "counted", "cost"))
        beside = "" if counted == chance else f" ({quantity(counted)} is counted at least)"
        sentence = (
            f"the likeliest candidate for its price does with probability {quantity(chance)}"
            f"{beside}, so that it is worth {in_currency(now.facts['gain'], currency, cost)} at"
            f" most (no value is worth more than {in_currency(self.most, currency)}), and costs"
            f" {now.units.cost(cost)}"
        )
        if lam == 1.0:
            return sentence
        return f"{sentence}, worth {in_currency(lam * cost, currency)} at lam = {quantity(lam)}"


def most_worth(options: StudyOptions) -> MostWorth | None:
    """What any value that keeps the limits is worth at most; None if nobody has bounded it."""
    loss = options.loss
    if loss is None:
        return None
    best, worst = loss.low, loss.high
    low, high = options.minimised_bounds
    if math.isfinite(low):
        best = float(loss(np.array([low]))[0])
    if math.isfinite(high):
        worst = float(loss(np.array([high]))[0])
    most = max(worst, 0.0) - best
    return MostWorth(most) if 0.0 < most <= LARGEST_AMOUNT else None


def weighs_price(rule: StoppingRule) -> bool:
    """Whether a rule compares a gain per cost with a lam, so that a bound of it is an answer."""
    return rule.key == GAIN_PER_COST.key and traits_of(rule).lam is not None


def verdict_by_most(rule: StoppingRule, trace: Trace, why: str) -> Verdict:
    """The verdict of a rule that reads the bound for the gain per cost, with its reason."""
    verdict = rule.verdict(trace)
    return replace(verdict, reason=f"{why}: {'stop' if verdict.stop else 'go on'}")
