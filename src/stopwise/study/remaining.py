# SPDX-License-Identifier: Apache-2.0
"""The best remaining action: the one that a verdict speaks about, with its gain and its price."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stopwise.acquisition.chance_per_cost import ChancePerCost
from stopwise.acquisition.logeipc import LogEIPC
from stopwise.acquisition.one_observation import best_observation, values_one_observation
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.limits import exp_or_inf
from stopwise.core.snapshot import Snapshot
from stopwise.study.budget_worth import beyond_budget
from stopwise.study.context import StudyContext


@dataclass(frozen=True, slots=True)
class Remaining:
    """What could be evaluated next.

    Args:
        params: The configuration.
        cost: What it is expected to cost.
        gain: What it is expected to gain, in objective units or in those of the utility; None
            while nothing keeps the limits, where a gain is measured from nothing.
        lam: The gain for its cost: one would go on for any lam below it. None as the gain.
        chance: The probability that it succeeds and keeps all limits.
        repeats: The number of the trial that it repeats; None where it is something new.
        affordable: Whether what is left of the budget pays for it.
    """

    params: Mapping[str, Any]
    cost: float
    gain: float | None
    lam: float | None
    chance: float
    repeats: int | None = None
    affordable: bool = True


def best_remaining(context: StudyContext, snapshot: Snapshot) -> Remaining | None:
    """The action with the largest gain for its price; None where nothing remains.

    None, too, where constraints are not at hand: it might be one that they forbid.

    While nothing keeps the limits, the one that is likeliest to do so for its price.
    """
    if context.lacking:
        return None
    if math.isinf(snapshot.best):
        best = snapshot.sup(ChancePerCost())
        return None if best.x is None else _at(context, snapshot, best.x, None)
    if values_one_observation(snapshot):
        return _best_observation(context, snapshot)
    with_money = beyond_budget(snapshot)
    best = with_money.sup(LogEIPC())
    if best.x is None:
        return None
    affordable = with_money is snapshot
    return _at(context, snapshot, best.x, best.value, affordable=affordable)


def _at(
    context: StudyContext,
    snapshot: Snapshot,
    x: Array,
    log_rate: float | None,
    *,
    affordable: bool = True,
) -> Remaining:
    """The evaluation of a new point, by the logarithm of its gain for its cost."""
    [params] = context.domain.decode(x[None, :])
    log_cost = float(snapshot.belief.log_price(x[None, :])[0])
    chance = math.exp(float(snapshot.belief.log_chance(x[None, :])[0]))
    gain, lam = None, None
    if log_rate is not None:
        gain, lam = math.exp(log_rate + log_cost), exp_or_inf(log_rate)
    return Remaining(params, math.exp(log_cost), gain, lam, chance, affordable=affordable)


def _best_observation(context: StudyContext, snapshot: Snapshot) -> Remaining | None:
    """Where repeats are allowed: the observation most worth its price."""
    best = best_observation(snapshot)
    if best is None or best.gain <= 0.0:
        return None
    [params] = context.domain.decode(best.x[None, :])
    chance = math.exp(float(snapshot.belief.log_chance(best.x[None, :])[0]))
    number = None if best.row is None else context.history.succeeded[best.row].number
    return Remaining(params, best.price, best.gain, best.gain / best.price, chance, number)
