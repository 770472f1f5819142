# SPDX-License-Identifier: Apache-2.0
"""The signals that rules read: what kind of number each is, and those that several rules share.

A ``Signal`` is one recorded number; a ``SignalKind`` says what such numbers mean, what computing
one takes, and under which key they are recorded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from stopwise.acquisition import LogEIPC
from stopwise.acquisition.one_observation import best_observation, values_one_observation
from stopwise.acquisition.pbgi_d import WORTH
from stopwise.core.quantity import percent, quantity
from stopwise.core.snapshot import Bindable, Snapshot
from stopwise.core.traces import Scale, Signal

Reads = Literal["values", "judged values", "model", "model and price"]
Unit = tuple[int, int]  # powers of the objective's unit and of the cost's

SAMPLE_PATHS = "sample paths"  # what a rule may need of a model

PURE_NUMBER: Unit = (0, 0)
OBJECTIVE: Unit = (1, 0)
OBJECTIVE_PER_COST: Unit = (1, -1)  # the unit of lam

# The facts about the best remaining candidate where there is none.
NOTHING_REMAINS = MappingProxyType(
    {"gain": 0.0, "cost": math.nan, "cost_spread": 0.0, "spread": 0.0}
)
_WORTH = "worth in "  # the fact that a gain is by a utility, followed by the name of its currency


@dataclass(frozen=True, slots=True)
class SignalKind:
    """A kind of signal.

    Args:
        key: The name under which it is recorded. It names all that the number depends on, and
            leaves out what only moves a rule's threshold, so that rules can share a record.
        scale: ``"log"`` if the number is a logarithm.
        label: The quantity in words, as beside an axis.
        reads: What it is computed from, each including those before it. ``"values"``: the values
            as observed, and how many there are. ``"judged values"``: those by which observations
            are compared, posterior medians where observations are noisy. ``"model"``: the
            posterior of the objective. ``"model and price"``: prices too. (Where a budget bars
            points that are too dear, a supremum depends on prices in any case.)
        unit: Powers of the objective's unit and of the cost's in the number (or, on a log scale,
            in the number whose logarithm it is); None if nobody says.
        costly: Whether one number takes of the order of a second.
        beyond_marginals: What it needs of a model besides means and deviations, in words.
    """

    key: str
    scale: Scale
    label: str
    reads: Reads = "model and price"
    unit: Unit | None = None
    costly: bool = False
    beyond_marginals: str = ""

    @property
    def reads_price(self) -> bool:
        """Whether it changes with prices."""
        return self.reads == "model and price"

    def reads_model(self, *, exact: bool) -> bool:
        """Whether it changes with the model of the objective.

        Args:
            exact: Whether observations are exact, so that they are judged by their values.
        """
        return self.reads in ("model", "model and price") or (
            self.reads == "judged values" and not exact
        )


GAIN_PER_COST = SignalKind(WORTH, "log", "expected gain per unit of cost", unit=OBJECTIVE_PER_COST)
EVALUATIONS = SignalKind(
    "evaluations", "linear", "trials after the initial design", "values", PURE_NUMBER
)

BEGUN = "begun"  # a fact of evaluations in stages: those that were begun are counted


def gain_per_cost(snapshot: Snapshot, acquisition: Bindable | None = None) -> Signal:
    """The best remaining candidate's log gain per cost, with its gain, cost and certainty.

    Where gains that the model promises are not believed in full, the trust in them is a fact too.
    It does not depend on lambda: one record serves every lambda, and LogEIPC-med. Where evaluated
    points may be repeated it is the worth of one noisy observation, of a repeat or of a new point.

    Args:
        snapshot: The moment.
        acquisition: The log gain per cost to maximise, if not ``LogEIPC``.
    """
    if acquisition is None and values_one_observation(snapshot):
        return _worth_of_one_observation(snapshot)
    best = snapshot.sup(LogEIPC() if acquisition is None else acquisition)
    trust = snapshot.belief.trust
    doubt = {} if trust == 1.0 else {"trust": trust}
    if snapshot.loss is not None:
        doubt[f"{_WORTH}{snapshot.currency}"] = 1.0
    if best.x is None:  # nothing remains
        return snapshot.signal(-math.inf, **NOTHING_REMAINS, **doubt)
    x = best.x[None, :]
    log_cost = float(snapshot.belief.log_price(x)[0])
    return snapshot.signal(
        best.value,
        gain=math.exp(best.value + log_cost),
        cost=math.exp(log_cost),
        cost_spread=snapshot.belief.price.log_cost(x).std[0],
        spread=best.spread,
        **doubt,
    )


def _worth_of_one_observation(snapshot: Snapshot) -> Signal:
    """The log worth per cost of the best action: a repeat, or a new point."""
    best, trust = best_observation(snapshot), snapshot.belief.trust
    doubt = {} if trust == 1.0 else {"trust": trust}
    if best is None or best.gain <= 0.0:
        return snapshot.signal(-math.inf, **NOTHING_REMAINS, **doubt)
    return snapshot.signal(
        best.log_gain_per_cost,
        gain=best.gain,
        cost=best.price,
        cost_spread=snapshot.belief.price.log_cost(best.x[None, :]).std[0],
        spread=snapshot.sup(LogEIPC()).spread,
        **doubt,
    )


def currency(now: Signal) -> str | None:
    """The name of the currency of a gain, which may be empty; None where there is no utility."""
    names = (fact.removeprefix(_WORTH) for fact in now.facts if fact.startswith(_WORTH))
    return next(names, None)


def in_currency(amount: float, unit: str | None, *beside: float) -> str:
    """An amount with the name of its currency, if it has one."""
    text = quantity(amount, *beside)
    return f"{text} {unit}" if unit else text


def gained(now: Signal, *beside: float) -> str:
    """A clause about the gain: "gain 0.1", or "be worth 12 dollars more" with a utility."""
    unit, gain = currency(now), now.facts["gain"]
    if unit is None:
        return now.units.gain(gain, *beside)
    return f"be worth {in_currency(gain, unit, *beside)} more"


def discount(now: Signal) -> str:
    """A clause about the trust in foreseen gains, for sentences; empty where it is full."""
    believed = percent(now.facts.get("trust", 1.0))
    return "" if believed == percent(1.0) else f" (foreseen gains are believed at {believed})"


def evaluations(snapshot: Snapshot) -> Signal:
    """Evaluations after the initial design."""
    return snapshot.signal(snapshot.t)
