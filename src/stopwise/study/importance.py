# SPDX-License-Identifier: Apache-2.0
r"""The importance of parameters: how much of what the model believes to vary is due to each.

It is the total Sobol index: of the variance of f over the space, the part that remains if every
parameter but this one is fixed,

.. math:: T_i = \frac{E[(f(x) - f(x^{(i)}))^2]}{2\,\mathrm{Var} f(x)}

where x is drawn evenly from the space (on the scale of each parameter, so over orders of magnitude
where it is logarithmic) and :math:`x^{(i)}` is x with parameter i drawn anew. Effects that
parameters have only together count for each of them, so the indices may add up to more than 1.

It is computed for sample paths of the posterior, drawn from each of its readings by weight: their
median is shown, and the middle 90 % of them say how sure the model is, with the error that comes
of finitely many pairs. Values are on the model's own scale, in which very bad ones may be
compressed. A parameter with a condition is judged where it exists, by the variance there; pairs
that a constraint forbids are left out, and x is a row of the table where there is one. Where
constraints leave hardly any pairs, as a + b == 1 does of a, nothing is said of the parameter.

References:
    Jansen (1999), Analysis of variance designs for model output.
    Saltelli et al. (2010), Variance based sensitivity analysis of model output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from stopwise.core.beliefs.ensemble import Ensemble
from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.paths import sample_paths
from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Finite, Mixed, Real
from stopwise.core.space.finite import codec_of

_PAIRS = 1024  # of x and x with one parameter drawn anew
_MOST = 2**13  # among which those that constraints allow, and where parameters exist, are sought
_PATHS = 48
_LOW, _HIGH = 0.05, 0.95
_WIDE = 1.645  # standard errors of a normal distribution from its median to these
_BLOCKS = 16  # of pairs: how far their means differ is the error of the estimate
_FEWEST = 16  # pairs that say something
_FREE = 0.15  # of the pairs that must be allowed: less, and a parameter hardly moves on its own
_TIED = "constraints tie it to others"
_RARE = "it exists in too few configurations"


@dataclass(frozen=True, slots=True)
class Importance:
    """How much one parameter matters, as a share of the variance of the objective.

    Of a parameter with a condition it is a share of the variance where the parameter exists.

    Args:
        name: Of the parameter.
        share: The median of the posterior's paths, between 0 and 1; nan where it is not to be
            judged.
        low: Below it are 5 % of the paths, and of the error of the estimate.
        high: Above it are 5 % of them.
        exists: The share of the space in which the parameter exists; 1 without a condition.
        not_judged: Why there is no share, in words; empty where there is one.
    """

    name: str
    share: float
    low: float
    high: float
    exists: float = 1.0
    not_judged: str = ""


@dataclass(frozen=True, slots=True)
class _Moves:
    """Pairs of one parameter.

    Args:
        rows: Of x, those where the parameter exists.
        pairs: Which of them are allowed with it drawn anew.
        moved: These, with it drawn anew.
        not_judged: Why they say nothing, in words.
    """

    rows: Indices
    pairs: Indices
    moved: Array
    not_judged: str


def importances(snapshot: Snapshot) -> tuple[Importance, ...]:
    """The importance of each parameter, the largest first; none if the model draws no paths."""
    if not isinstance(snapshot.belief.objective, Posterior | Ensemble):
        return ()
    codec = codec_of(snapshot.domain)
    rng = snapshot.rng("importance")
    here, anew = _pairs(snapshot.domain, rng)
    exists = codec.active(codec.snap(here))
    moves = [_moves(codec, i, exists[:, i], here, anew) for i in range(codec.d)]
    used = np.unique(np.concatenate([each.rows for each in moves]))
    places = np.cumsum([len(used), *(len(each.moved) for each in moves)])
    points = np.vstack([codec.snap(here[used]), *(each.moved for each in moves)])
    before, *after = np.split(_path_values(snapshot, points, rng), places[:-1], axis=1)
    found = [
        _importance(
            name,
            each,
            before[:, np.searchsorted(used, each.rows)],
            values,
            float(exists[:, i].mean()),
        )
        for i, (name, each, values) in enumerate(zip(codec.names, moves, after, strict=True))
    ]
    return tuple(sorted(found, key=lambda each: -each.share if not each.not_judged else 1.0))


def _moves(codec: Mixed, index: int, exists: Mask, here: Array, anew: Array) -> _Moves:
    """The pairs of one parameter, and whether they say something."""
    rows = np.flatnonzero(exists)[:_PAIRS]
    moved, columns = here[rows], codec.columns[index]
    moved[:, columns] = anew[rows][:, columns]
    moved = codec.snap(moved)
    pairs = np.flatnonzero(codec.allowed(moved))
    if not codec.constraints:
        return _Moves(rows, pairs, moved, _RARE if len(rows) < _FEWEST else "")
    moves = (moved != codec.snap(here[rows])).any(axis=1)
    n_moves, n_allowed = int(moves.sum()), int(moves[pairs].sum())
    tied = len(rows) < _FEWEST or (n_moves and n_allowed < max(_FEWEST, _FREE * n_moves))
    return _Moves(rows, pairs, moved[pairs], _TIED if tied else "")


def _importance(
    name: str, moves: _Moves, before: Array, after: Array, exists: float
) -> Importance:
    if moves.not_judged:
        return Importance(name, math.nan, math.nan, math.nan, exists, moves.not_judged)
    shares, errors = _shares(before, after, moves.pairs)
    middle, low, high = np.quantile(np.minimum(shares, 1.0), (0.5, _LOW, _HIGH))
    error = _WIDE * float(np.median(errors))
    return Importance(
        name,
        float(middle),
        max(0.0, float(middle) - math.hypot(middle - low, error)),
        min(1.0, float(middle) + math.hypot(high - middle, error)),
        exists,
    )


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
    size = _MOST if codec.constraints or codec.is_conditional else _PAIRS
    drawn = Mixed(names, always * 2).sobol(size, rng)
    here, anew = drawn[:, : codec.width], drawn[:, codec.width :]
    kept = np.flatnonzero(codec.allowed(codec.snap(here)))
    kept = kept if codec.is_conditional else kept[:_PAIRS]
    return here[kept], anew[kept]


def _path_values(snapshot: Snapshot, X: Array, rng: np.random.Generator) -> Array:
    """Values of posterior paths at the rows of X, (paths, m)."""
    parts = [(w, belief.posterior) for w, belief in snapshot.belief.components]
    counts = np.diff(np.round(np.cumsum([0.0, *(w for w, _ in parts)]) * _PATHS).astype(int))
    values = [
        sample_paths(posterior, rng, int(count)).warped(X)
        for count, (_, posterior) in zip(counts, parts, strict=True)
        if count
    ]
    return np.vstack(values)


def _shares(before: Array, after: Array, pairs: Indices) -> tuple[Array, Array]:
    """Total indices of a parameter on each path, and standard errors; 0 where nothing varies.

    Points that follow each other are spread evenly, so blocks of them differ less than points do,
    as the whole does.

    Args:
        before: Of the paths at x, where the parameter exists, (paths, n).
        after: At x with the parameter drawn anew, where that is allowed, (paths, pairs).
        pairs: At which x that is.
    """
    half = 0.5 * np.square(before[:, pairs] - after)
    squares = np.square(before - before.mean(axis=1, keepdims=True))
    variance = squares.mean(axis=1)
    shares, errors = np.zeros(len(before)), np.zeros(len(before))
    np.divide(half.mean(axis=1), variance, out=shares, where=variance > 0.0)
    halves, whole = _block_means(half), _block_means(squares)
    differ = (halves - shares[:, None] * whole).std(axis=1, ddof=1) / math.sqrt(_BLOCKS)
    np.divide(differ, variance, out=errors, where=variance > 0.0)
    return shares, errors


def _block_means(values: Array) -> Array:
    """Means of blocks of equal size, one after the other, (paths, blocks)."""
    edges = np.linspace(0, values.shape[1], _BLOCKS + 1).astype(int)
    sums = np.add.reduceat(values, edges[:-1], axis=1)
    return np.asarray(sums / np.diff(edges))
