# SPDX-License-Identifier: Apache-2.0
"""The model along one parameter at a time, through the best configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.numerics.rows import unique_rows
from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import (
    Categorical,
    Finite,
    Integer,
    Mixed,
    Ordinal,
    Parameter,
    Real,
)
from stopwise.core.space.finite import codec_of
from stopwise.core.units import settings
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
        remarks: Sentences about what is not in the curve.
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
    remarks: tuple[str, ...] = ()


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
        listed = unique_rows(rows[:, columns])[0]  # the values of the table
        U = listed[thinned(len(listed), _FINE)]
    X = np.repeat(here, len(U), axis=0)
    X[:, columns] = U
    if codec.is_conditional:  # others may come into being on the way, or cease to be
        X = codec.snap(X)
    at_best = int(np.abs(U - here[0, columns]).max(axis=1).argmin())
    kept = _reached(parameter, codec.allowed(X), at_best)
    cut, U, X = not kept.all(), U[kept], X[kept]
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
        int(kept[:at_best].sum()),
        facts.sign * float(objective.law(here).median[0]),
        [s.trial.params[name] for s in facts.steps if name in s.trial.params],
        (min(observed), max(observed)),
        (*_remarks(codec, here, X, cut=cut), *_of_limits(facts, snapshot, here, X, at[1])),
    )


def _reached(parameter: Parameter, allowed: Mask, best_at: int) -> Mask:
    """Which places are drawn: allowed choices; of a range the part around the best one."""
    if isinstance(parameter, Categorical | Ordinal):
        reached = allowed.copy()
    else:
        gaps = np.cumsum(~allowed)  # it grows at each place that constraints exclude
        reached = allowed & (gaps == gaps[best_at])
    reached[best_at] = True  # evaluated, and it may be between two places of a table
    return reached


def _remarks(codec: Mixed, here: Array, X: Array, *, cut: bool) -> Iterator[str]:
    """What a place along the slice is, beyond the parameter's value."""
    if cut:
        yield "What is left out violates the constraints, the other parameters being as they are."
    if codec.is_conditional:
        [best], rows = codec.decode(here), codec.decode(X)
        assumed = {name: row[name] for row in rows for name in row if name not in best}
        if assumed:
            yield f"Where the best one has no such parameter, {settings(assumed)} is assumed."


def _of_limits(
    facts: Facts, snapshot: Snapshot, here: Array, X: Array, median: Array
) -> Iterator[str]:
    """How likely limits are kept at the best configuration, and where the curve is best."""
    if facts.study.options.limits is None or snapshot.belief.success is None:
        return
    peak = X[[int(np.argmin(facts.sign * median))]]
    at_best, at_peak = np.exp(snapshot.belief.log_chance(np.vstack([here, peak]))).tolist()
    yield (
        "Limits are not in the curve: where it is best a trial would succeed and keep them with"
        f" probability {quantity(at_peak)}, at the best configuration {quantity(at_best)}."
    )


def _places(parameter: Parameter, here: Array) -> Array:
    """Encoded places along a parameter, attainable ones, in order."""
    if isinstance(parameter, Real):
        # The best itself belongs to the places: exact observations leave no doubt there.
        grid = np.union1d(np.linspace(0.0, 1.0, _FINE), here)
        return grid[:, None]
    if isinstance(parameter, Integer):
        return unique_rows(parameter.snap(np.linspace(0.0, 1.0, _FINE)[:, None]))[0]
    return parameter.attainable()[_choices(parameter, here)]


def _choices(parameter: Categorical | Ordinal, here: Array) -> Sequence[int]:
    """Which choices are drawn: all, or of many the first ones and the best."""
    if parameter.n_values <= _MOST_CHOICES:
        return range(parameter.n_values)
    return sorted({*range(_MOST_CHOICES - 1), int(parameter.numbers(here[None, :])[0])})
