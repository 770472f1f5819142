# SPDX-License-Identifier: Apache-2.0
"""The model along one parameter at a time, through the best configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stopwise.core.numerics.arrays import Array
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import (
    Categorical,
    Finite,
    Integer,
    Ordinal,
    Parameter,
    Real,
)
from stopwise.core.space.finite import codec_of
from stopwise.tools.report._axis import thinned
from stopwise.tools.report._facts import Facts

_FINE = 49  # places along a real parameter
_MOST_CHOICES = 12  # drawn of a categorical parameter
_DEVIATIONS = 1.96  # a normal distribution has 95 % within so many deviations


@dataclass(frozen=True, slots=True)
class Slice:
    """What is believed of the objective along one parameter, all others as in the best.

    Args:
        name: Of the parameter.
        parameter: The parameter.
        values: Where, in the user's units.
        median: What is expected there: as likely to be exceeded as not. (A mean says little where
            bad values are compressed: a small chance of a very bad one decides it.)
        low: The lower end of the 95 % interval.
        high: Its upper end.
        best: The parameter's value in the best configuration.
        best_at: Which of the values is nearest to it; of choices, which is it.
        best_median: What is expected there.
        tried: The parameter's values in all trials.
        observed: The lowest and the highest value that was observed.
    """

    name: str
    parameter: Parameter
    values: list[Any]
    median: Array
    low: Array
    high: Array
    best: Any
    best_at: int
    best_median: float
    tried: list[Any]
    observed: tuple[float, float]


def slices(facts: Facts) -> list[Slice]:
    """One slice for each active parameter of the best; none before anything is known."""
    snapshot, best = facts.snapshot, facts.result.best
    if snapshot is None or best is None:
        return []
    codec = codec_of(facts.study.domain)
    active = codec.active(codec.encode(best.params))[0]  # what is inactive has no slice
    return [_slice(facts, snapshot, best.params, i) for i in np.flatnonzero(active).tolist()]


def _slice(facts: Facts, snapshot: Snapshot, best: Mapping[str, Any], index: int) -> Slice:
    """The slice along one parameter through the best configuration."""
    domain = facts.study.domain
    codec = codec_of(domain)
    name, parameter, columns = codec.names[index], codec.parameters[index], codec.columns[index]
    here = codec.encode(best)
    U = _places(parameter, here[0, columns])
    if isinstance(domain, Finite) and isinstance(parameter, Real | Integer):
        rows = domain.points[codec.active(domain.points)[:, index]]
        listed = np.unique(rows[:, columns], axis=0)  # the values of the table
        U = listed[thinned(len(listed), _FINE)]
    X = np.repeat(here, len(U), axis=0)
    X[:, columns] = U
    if codec.is_conditional:  # others may come into being on the way, or cease to be
        X = codec.snap(X)
    objective = snapshot.belief.objective
    law = objective.law(X)
    at = [facts.sign * law.quantile(z).value for z in (-_DEVIATIONS, 0.0, _DEVIATIONS)]
    observed = [facts.sign * float(y) for y in (snapshot.y.min(), snapshot.y.max())]
    return Slice(
        name,
        parameter,
        list(parameter.decode(U)),
        at[1],
        np.min(at, axis=0),  # quantiles of a mixture are rounded where it is certain
        np.max(at, axis=0),
        best[name],
        int(np.abs(U - here[0, columns]).max(axis=1).argmin()),
        facts.sign * float(objective.law(here).median[0]),
        [s.trial.params[name] for s in facts.steps if name in s.trial.params],
        (min(observed), max(observed)),
    )


def _places(parameter: Parameter, here: Array) -> Array:
    """Encoded places along a parameter, attainable ones, in order."""
    if isinstance(parameter, Real):
        # The best itself belongs to the places: exact observations leave no doubt there.
        grid = np.union1d(np.linspace(0.0, 1.0, _FINE), here)
        return grid[:, None]
    if isinstance(parameter, Integer):
        return np.unique(parameter.snap(np.linspace(0.0, 1.0, _FINE)[:, None]), axis=0)
    return parameter.attainable()[_choices(parameter, here)]


def _choices(parameter: Categorical | Ordinal, here: Array) -> Sequence[int]:
    """Which choices are drawn: all, or of many the first ones and the best."""
    if parameter.n_values <= _MOST_CHOICES:
        return range(parameter.n_values)
    return sorted({*range(_MOST_CHOICES - 1), int(parameter.numbers(here[None, :])[0])})
