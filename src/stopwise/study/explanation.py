# SPDX-License-Identifier: Apache-2.0
"""A study in words: what is left to be gained, what it costs, and what would change the answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from stopwise.acquisition.logeipc import LogEIPC
from stopwise.core.numerics.arrays import Array
from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.stopping import UCBLCB, ProbabilisticRegretBound, StoppingRule
from stopwise.stopping.pbgi import PBGI
from stopwise.stopping.verdict import Verdict

_OFF_SCALE = 100.0  # a threshold this many times the spread of the data is suspect


def explain(
    snapshot: Snapshot,
    rules: Iterable[StoppingRule],
    verdict: Verdict,
    decode: Callable[[Array], list[dict[str, Any]]],
) -> str:
    """The verdict, the best remaining candidate, and what is odd about the thresholds."""
    rules = list(rules)
    return "\n".join(
        [
            f"{verdict.rule}: {verdict.reason}.",
            _remaining(snapshot, rules, decode),
            *_warnings(snapshot, rules),
        ]
    )


def _remaining(
    snapshot: Snapshot,
    rules: list[StoppingRule],
    decode: Callable[[Array], list[dict[str, Any]]],
) -> str:
    """The best remaining candidate, what it gains and costs, and when one would go on."""
    found = snapshot.sup(LogEIPC())
    if found.x is None:
        return "Nothing remains to be evaluated."
    log_cost = float(snapshot.belief.log_price(found.x[None, :])[0])
    cost, gain = math.exp(log_cost), math.exp(found.value + log_cost)
    takes_lam = any(isinstance(_innermost(rule), PBGI) for rule in rules)
    who = "One" if takes_lam else "No rule here has a lam; the PBGI rule"
    return (
        f"The best remaining candidate is {decode(found.x[None, :])[0]}: it is expected to gain"
        f" {quantity(gain)} and costs {quantity(cost)}.\n{who} would go on for any lam below"
        f" {quantity(math.exp(found.value))} (objective units per unit of cost)."
    )


def _innermost(rule: StoppingRule) -> StoppingRule:
    """The rule inside all wrappers."""
    while hasattr(rule, "rule"):
        rule = rule.rule
    return rule


def _warnings(snapshot: Snapshot, rules: Iterable[StoppingRule]) -> list[str]:
    """Thresholds that the model cannot resolve, or that are far off the scale of the data."""
    if snapshot.n < 2:
        return []  # one value has no scale
    if np.ptp(snapshot.y) == 0:
        return [f"All {snapshot.n} values are equal, so nothing is expected to vary."]
    objective = snapshot.belief.objective
    spread = objective.unit
    # Noise is no limit of this kind: averaging resolves what lies below it.
    resolution = objective.resolution
    found = []
    for rule in rules:
        name, threshold = _threshold(rule, snapshot)
        if name is None:
            continue
        if threshold < resolution:
            found.append(
                f"Warning: {name} amounts to {quantity(threshold)}, below what the model resolves"
                f" ({quantity(resolution)}): the rule may not stop. All of these are in objective"
                " units; is it 100 times too small?"
            )
        elif threshold > _OFF_SCALE * spread or threshold < spread / _OFF_SCALE**3:
            found.append(
                f"Warning: {name} amounts to {quantity(threshold)} where observed values spread by"
                f" {quantity(spread)}. It is in objective units: accuracy in [0, 1] needs values"
                " 100 times smaller than accuracy in percent."
            )
    return list(dict.fromkeys(found))  # rules may share a threshold


def _threshold(rule: StoppingRule, snapshot: Snapshot) -> tuple[str | None, float]:
    """The number in objective units that a rule compares with, and its name."""
    inner = _innermost(rule)
    if isinstance(inner, PBGI):
        found = snapshot.sup(LogEIPC())
        if found.x is None:
            return None, math.nan
        cost = math.exp(float(snapshot.belief.log_price(found.x[None, :])[0]))
        return f"lam = {quantity(inner.lam)} times the cost of {quantity(cost)}", inner.lam * cost
    if isinstance(inner, UCBLCB):
        return "theta", inner.theta
    if isinstance(inner, ProbabilisticRegretBound):
        return "epsilon", inner.epsilon
    return None, math.nan
