# SPDX-License-Identifier: Apache-2.0
"""The audit of a record without parameters: values and costs in order, and nothing to model.

Only rules that read values can judge it. The others, which ask what an evaluation that was not
made would bring, are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stopwise.core.beliefs.belief import Belief
from stopwise.core.beliefs.no_model import NoModel
from stopwise.core.beliefs.prices import UnitCost
from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Real, as_domain
from stopwise.core.traces import Signal, Trace
from stopwise.core.units import AnswerUnits
from stopwise.errors import InputError
from stopwise.record.history import History
from stopwise.stopping import StoppingRule, make_rule, traits_of

_NOWHERE = as_domain({"nothing": Real(0, 1)})


def rules_of_values(
    rules: Sequence[str | StoppingRule],
    lam: float | None,
    lacking: Sequence[str],
    *,
    are_given: bool,
    notes: list[str],
) -> list[StoppingRule]:
    """The rules that read values alone; others are left out with a note, or refused if given.

    Args:
        rules: Rules, or their names.
        lam: What a unit of cost is worth, if anybody has said.
        lacking: The constraints for want of which others cannot be asked; empty where it is for
            want of parameters.
        are_given: Whether the user named the rules.
        notes: Remarks, to which one is added.
    """
    made = [make_rule(rule, lam) for rule in rules]
    modelling = [r.name for r in made if traits_of(r).signal.reads_model(exact=True)]
    if modelling and are_given:
        need = "parameters: name their columns in params=[...]"
        if lacking:
            need = f"the constraints {', '.join(lacking)}: give them, constraints=[...]"
        message = (
            f"{', '.join(modelling)} asks what could still be gained, and for this there must be"
            f" {need}, or leave rules= out."
        )
        raise InputError(message)
    left_out = f": {', '.join(modelling)}" if modelling else ""
    because = "no column is a parameter, so nothing is known of what was not tried"
    if lacking:
        because = f"what may be tried is not known without {', '.join(lacking)}"
    notes.append(
        f"{because}; rules that ask what could still be gained there are left out{left_out}"
    )
    return [rule for rule in made if rule.name not in modelling]


def traces_of_values(
    y: Sequence[float], rules: Sequence[StoppingRule], initial: int, units: AnswerUnits
) -> dict[str, Trace]:
    """The signals of rules after each evaluation, from the end of the initial design on."""
    values = np.array(y, dtype=np.float64)
    recorded: dict[str, list[Signal]] = {rule.key: [] for rule in rules}
    by_key = {rule.key: rule for rule in rules}
    for n in range(initial, len(values) + 1):
        X, pending = np.zeros((n, 1)), np.empty((0, 1))
        belief = Belief(NoModel(n), UnitCost().price(_NOWHERE, X, np.ones(n)))
        snapshot = Snapshot(_NOWHERE, X, values[:n], belief, pending, initial=initial)
        for key, rule in by_key.items():
            recorded[key].append(rule.signal(snapshot))
    return {key: Trace.of(tuple(signals)).in_units(units) for key, signals in recorded.items()}


def since_the_best(
    history: History, y: Sequence[float], lam: float | None, units: AnswerUnits
) -> str:
    """What was spent since the best value was found, for no gain; and its worth at lam."""
    best = history.succeeded[int(np.argmin(y))]
    at = next(i for i, told in enumerate(history) if told is best)
    after = history.observations[at + 1 :]
    if not after:
        return "the last evaluation is the best one"
    spent = float(sum(o.cost for o in after))
    worth = "" if lam is None else f", worth {quantity(lam * spent)} at lam = {quantity(lam)}"
    return (
        f"the best value came with evaluation {at + 1} of {len(history)}; since then"
        f" {units.cost(spent)} was spent{worth}, and nothing was gained"
    )
