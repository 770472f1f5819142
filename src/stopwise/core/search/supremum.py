# SPDX-License-Identifier: Apache-2.0
"""Where a score is largest over a domain, and how sure we are of it.

A rule that takes its supremum poorly stops too early, so this is done with care:

- finite domain: every candidate, exactly;
- box: Sobol points and the neighbourhoods of good observations are screened, then the best of them
  that are far from each other climb together (``batched_bfgs.py``), one batched evaluation a step.
  Many begin and few go to the end: what is missed is a hill that nobody began on, and a few steps
  tell a hill better than a screen does;
- mixed: climbing in the continuous columns alternates with moves of one discrete parameter. Only
  attainable points (rounded, then encoded) are ever scored, never a relaxation.

A score leaves out what it does not want (evaluated points, say) by ``-inf``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from stopwise.core.numerics.arrays import Array, Indices
from stopwise.core.search.batched_bfgs import climb
from stopwise.core.space import Domain, Finite, Mixed

_NEIGHBOURHOODS = (0.2, 0.05, 0.01, 0.002)  # deviations about good points, in the unit cube
_PER_NEIGHBOURHOOD = 8
_ENTRANTS = 4  # searches that begin, for each that may go to the end
_EQUAL = 1e-13  # squared distance in the cube below which points are one
_GAIN = 1e-9  # a discrete move must gain more than this
_ROUNDS = 50  # of discrete moves; they end by themselves long before
_TRIED_DEEPLY = 50  # neighbours of the best point that climb before they are judged


class Score(Protocol):
    """A function of encoded points, to be maximised; higher is better, -inf leaves a point out."""

    @property
    def scales(self) -> Array | None:
        """Distance over which the score changes, per column, if it knows."""
        ...

    @property
    def unit(self) -> float:
        """What counts as a difference of 1: searches end at fractions of it."""
        ...

    def __call__(self, X: Array) -> Array:
        """Values at the rows of X."""
        ...

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Values and gradients at the rows of X."""
        ...


@dataclass(frozen=True, slots=True)
class Search:
    """How hard to look on domains that cannot be enumerated.

    Args:
        raw: Points of the Sobol screen.
        restarts: How many of them may climb to the end; several times as many begin.
    """

    raw: int = 512
    restarts: int = 10


@dataclass(frozen=True, slots=True)
class Supremum:
    """The largest value found, where, and the evidence.

    Args:
        x: Encoded point, or None if every point was left out.
        value: Its score; ``-inf`` if every point was left out.
        spread: Best minus median of the final values, over as many of the highest searches as
            there were to be restarts: 0 if half of them agree, and where the answer is exact.
        restarts: How many searches that is over.
        peaks: Where these searches ended, highest first; None where the answer is exact.
    """

    x: Array | None
    value: float
    spread: float = 0.0
    restarts: int = 0
    peaks: Array | None = field(default=None, compare=False, repr=False)


def supremum(
    score: Score,
    domain: Domain,
    rng: np.random.Generator,
    *,
    near: Array | None = None,
    starts: Array | None = None,
    search: Search | None = None,
) -> Supremum:
    """Maximise a score over a domain.

    Args:
        score: What to maximise.
        domain: Where.
        rng: Source of the Sobol scrambling and the neighbourhoods.
        near: Encoded points whose neighbourhoods are screened too: the best observations.
        starts: Encoded points that climb in any case; the answer is never worse than these.
        search: How hard to look; ignored on finite domains.
    """
    if isinstance(domain, Finite):
        return _best_candidate(score, domain)
    width = domain.width
    near = np.empty((0, width)) if near is None else near
    starts = np.empty((0, width)) if starts is None else starts
    search = search or Search()
    unitless = score if score.unit == 1.0 else _Unitless(score)
    chosen = np.vstack([domain.snap(starts), _screen(unitless, domain, rng, near, search)])
    X, values = _ascend(unitless, domain, chosen, search.restarts)
    if not len(X):
        return Supremum(None, -np.inf)
    spread = float(values[0] - np.median(values)) * score.unit
    return Supremum(X[0], float(values[0]) * score.unit, spread, len(X), X)


@dataclass(frozen=True, slots=True)
class _Unitless:
    """A score in its own unit, so that tolerances mean the same for every score."""

    score: Score
    unit: float = 1.0

    @property
    def scales(self) -> Array | None:
        return self.score.scales

    def __call__(self, X: Array) -> Array:
        return self.score(X) / self.score.unit

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        values, gradients = self.score.with_gradient(X)
        return values / self.score.unit, gradients / self.score.unit


def _best_candidate(score: Score, domain: Finite) -> Supremum:
    values = _known(score(domain.points))
    best = int(np.argmax(values))
    if values[best] == -np.inf:
        return Supremum(None, -np.inf)
    return Supremum(domain.points[best], float(values[best]))


def _screen(
    score: Score, domain: Mixed, rng: np.random.Generator, near: Array, search: Search
) -> Array:
    """Starting points: high in score and far from each other."""
    clouds = [domain.sobol(search.raw, rng)]
    if len(near):
        centres = np.repeat(near, _PER_NEIGHBOURHOOD, axis=0)
        moves = rng.standard_normal((len(_NEIGHBOURHOODS), *centres.shape))
        moves *= np.array(_NEIGHBOURHOODS)[:, None, None]
        clouds.append(domain.snap((centres + moves).reshape(-1, domain.width)))
    X = np.vstack(clouds)
    values = _known(score(X))
    wanted = values > -np.inf
    X, values = X[wanted], values[wanted]
    return X[_spread_out(X, values, _ENTRANTS * search.restarts)]


def _spread_out(X: Array, values: Array, count: int) -> Indices:
    """Indices of high values, each the best of what is not yet near a chosen one.

    The radius shrinks until enough are found, so that basins come before neighbours. Equal points
    are chosen once.
    """
    order = np.argsort(-values, kind="stable")
    X = X[order]
    squares, ones = np.vecdot(X, X)[:, None], np.ones((len(X), 1))
    # So that one product of the two has the squared distances: |x|^2 + |x'|^2 - 2 x x'.
    there, here = np.hstack([-2.0 * X, squares, ones]), np.hstack([X, ones, squares])
    nearest = np.full(len(X), np.inf)  # squared distance to what is chosen
    radius = 0.25**2 * X.shape[1]
    chosen: list[int] = []
    while len(chosen) < min(count, len(X)) and radius > _EQUAL:
        i = int((nearest > radius).argmax())
        if nearest[i] > radius:
            chosen.append(i)
            np.minimum(nearest, there @ here[i], out=nearest)
        else:
            radius *= 0.25
    return np.asarray(order[chosen], dtype=np.intp)


def _ascend(score: Score, domain: Mixed, X: Array, restarts: int) -> tuple[Array, Array]:
    """Climb from all starts; the highest searches, in order, with their discrete moves made."""
    X, values = climb(score.with_gradient, X, domain.real, scales=score.scales, finalists=restarts)
    X, values = _highest(X, values, restarts)
    if domain.n_discrete == 1 or not len(X):
        return X, values
    X, values = _highest(*_alternate(score, domain, X, values), restarts)
    while True:
        x, value = _look_deeper(score, domain, X[0])
        if value <= values[0] + _GAIN:
            return X, values
        X[0], values[0] = x, value


def _highest(X: Array, values: Array, count: int) -> tuple[Array, Array]:
    """The highest of what is not left out, in order."""
    order = np.argsort(-values, kind="stable")[:count]
    order = order[values[order] > -np.inf]
    return X[order], values[order]


def _alternate(score: Score, domain: Mixed, X: Array, values: Array) -> tuple[Array, Array]:
    """Move to the best neighbour in one discrete parameter, climb again, until nothing gains."""
    moving = np.arange(len(X))
    for _ in range(_ROUNDS):
        neighbours = [domain.neighbours(x) for x in X[moving]]
        scores = _known(score(np.vstack(neighbours)))
        parts = np.split(scores, np.cumsum([len(part) for part in neighbours])[:-1])
        moved = []
        for i, tried, found in zip(moving, neighbours, parts, strict=True):
            if found.max(initial=-np.inf) > values[i] + _GAIN:
                X[i], values[i] = tried[np.argmax(found)], found.max()
                moved.append(i)
        if not moved:
            break
        moving = np.array(moved)
        X[moving], values[moving] = climb(
            score.with_gradient, X[moving], domain.real, scales=score.scales
        )
    return X, values


def _look_deeper(score: Score, domain: Mixed, x: Array) -> tuple[Array, float]:
    """The best that the neighbours of a point lead to, when they may climb before they are judged.

    A discrete move often pays only after the continuous parameters have followed it.
    """
    tried = domain.neighbours(x)
    tried, _ = _highest(tried, _known(score(tried)), _TRIED_DEEPLY)
    if not len(tried):
        return x, -np.inf
    X, values = climb(score.with_gradient, tried, domain.real, scales=score.scales)
    X, values = _highest(*_alternate(score, domain, *_highest(X, values, 1)), 1)
    return X[0], float(values[0])


def _known(values: Array) -> Array:
    """Values with -inf for nan: what cannot be judged is left out."""
    return np.where(np.isnan(values), -np.inf, values)
