# SPDX-License-Identifier: Apache-2.0
r"""The importance of parameters: how much of what the model believes to vary is due to each.

It is the total Sobol index: of the variance of f over the space, the part that remains if every
parameter but this one is fixed,

.. math:: T_i = \frac{E[(f(x) - f(x^{(i)}))^2]}{2\,\mathrm{Var} f(x)}

where x is drawn evenly from the space (on the scale of each parameter, so over orders of magnitude
where it is logarithmic) and :math:`x^{(i)}` is x with parameter i drawn anew. Effects that
parameters have only together count for each of them, so the indices may add up to more than 1.

It is computed for sample paths of the posterior, drawn from each of its readings by weight: their
median is shown, and the middle 90 % of them say how sure the model is. Values are on the model's
own scale, in which very bad ones may be compressed. A parameter with a condition is judged where
it exists, by the variance there; pairs that a constraint forbids are left out, and x is a row of
the table where there is one.

References:
    Jansen (1999), Analysis of variance designs for model output.
    Saltelli et al. (2010), Variance based sensitivity analysis of model output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from stopwise.core.beliefs.ensemble import Ensemble
from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.paths import sample_paths
from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Finite, Mixed, Real
from stopwise.core.space.finite import codec_of

_PAIRS = 1024  # of x and x with one parameter drawn anew
_MOST = 2**13  # among which those that constraints allow are sought
_PATHS = 48
_LOW, _HIGH = 0.05, 0.95


@dataclass(frozen=True, slots=True)
class Importance:
    """How much one parameter matters, as a share of the variance of the objective.

    Of a parameter with a condition it is a share of the variance where the parameter exists.

    Args:
        name: Of the parameter.
        share: The median of the posterior's paths, between 0 and 1.
        low: Below it are 5 % of the paths.
        high: Above it are 5 % of the paths.
        exists: The share of the space in which the parameter exists; 1 without a condition.
    """

    name: str
    share: float
    low: float
    high: float
    exists: float = 1.0


def importances(snapshot: Snapshot) -> tuple[Importance, ...]:
    """The importance of each parameter, the largest first; none if the model draws no paths."""
    if not isinstance(snapshot.belief.objective, Posterior | Ensemble):
        return ()
    codec = codec_of(snapshot.domain)
    rng = snapshot.rng("importance")
    here, anew = _pairs(snapshot.domain, rng)
    points, allowed = [codec.snap(here)], []
    for index in range(codec.d):
        moved = here.copy()
        moved[:, codec.columns[index]] = anew[:, codec.columns[index]]
        moved = codec.snap(moved)
        points.append(moved)
        allowed.append(codec.allowed(moved))
    exists = codec.active(points[0])
    shares = _shares(_path_values(snapshot, np.vstack(points), rng), exists.T, allowed)
    shares = np.minimum(shares, 1.0)  # an estimate may be more
    middle, low, high = np.quantile(shares, (0.5, _LOW, _HIGH), axis=1).tolist()
    found = [
        Importance(name, middle[i], low[i], high[i], float(exists[:, i].mean()))
        for i, name in enumerate(codec.names)
    ]
    return tuple(sorted(found, key=lambda each: -each.share))


def _pairs(domain: Mixed | Finite, rng: np.random.Generator) -> tuple[Array, Array]:
    """Pairs of points, evenly drawn and independent: the product of the space with itself.

    Parameters that do not exist have values all the same: one that begins to exist when another is
    drawn anew needs a value then.
    """
    if isinstance(domain, Finite) and domain.rows is not None:
        square = Mixed(("x", "other x"), (Real(0.0, 1.0), Real(0.0, 1.0)))
        rows = np.floor(square.sobol(_PAIRS, rng) * len(domain)).astype(int)
        return domain.points[rows[:, 0]], domain.points[rows[:, 1]]
    codec = codec_of(domain)
    always = tuple(replace(parameter, when=None) for parameter in codec.parameters)
    names = (*codec.names, *(f"other {name}" for name in codec.names))
    size = _MOST if codec.constraints else _PAIRS
    drawn = Mixed(names, always * 2).sobol(size, rng)
    here, anew = drawn[:, : codec.width], drawn[:, codec.width :]
    kept = np.flatnonzero(codec.allowed(codec.snap(here)))[:_PAIRS]
    return here[kept], anew[kept]


def _path_values(snapshot: Snapshot, X: Array, rng: np.random.Generator) -> Array:
    """Values of posterior paths at the rows of X, (paths, 1 + d, pairs)."""
    parts = [(w, belief.posterior) for w, belief in snapshot.belief.components]
    counts = np.diff(np.round(np.cumsum([0.0, *(w for w, _ in parts)]) * _PATHS).astype(int))
    values = [
        sample_paths(posterior, rng, int(count)).warped(X)
        for count, (_, posterior) in zip(counts, parts, strict=True)
        if count
    ]
    stacked = np.vstack(values)
    return stacked.reshape(len(stacked), snapshot.domain.d + 1, -1)


def _shares(values: Array, exists: Mask, allowed: Sequence[Mask]) -> Array:
    """Total indices of each parameter on each path, (d, paths); 0 where nothing varies.

    Args:
        values: Of the paths at x and at x with each parameter drawn anew, (paths, 1 + d, pairs).
        exists: At which x each parameter exists, (d, pairs).
        allowed: Which pairs of each parameter are allowed.
    """
    before = values[:, 0]
    shares = np.zeros((len(allowed), len(values)))
    for i, (where, pairs) in enumerate(zip(exists, allowed, strict=True)):
        if (where & pairs).any():
            half = 0.5 * np.square(before - values[:, i + 1])[:, where & pairs].mean(axis=1)
            variance = before[:, where].var(axis=1)
            np.divide(half, variance, out=shares[i], where=variance > 0.0)
    return shares
