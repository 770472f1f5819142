# SPDX-License-Identifier: Apache-2.0
"""The supremum: where a score is largest over a domain, and how sure the search is of it.

A stopping rule that underestimates its supremum stops too early, so the search is thorough:

- a domain that can be enumerated: every point, exactly;
- a box: Sobol points and the neighbourhoods of good observations are screened (``screen.py``),
  then the best of them that are far from each other climb together (``batched_bfgs.py``). Many
  begin and few go to the end: the danger is a hill on which no search began, and a few steps tell
  the height of a hill better than a screen does. Searches also begin close to the best
  observations; in one and two dimensions, beside and between all of them (``narrow_hills.py``);
  in more, if the score says that it is late in a run, between neighbours (``late_hills.py``);
- a mixed domain: the same in its continuous columns, then in turn with moves of one discrete
  parameter (``discrete_moves.py``). Where constraints make walls, random steps follow
  (``walls.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from stopwise.core.numerics.arrays import Array
from stopwise.core.search.batched_bfgs import SAME_HILL, batched_bfgs
from stopwise.core.search.discrete_moves import improve_all, improve_best
from stopwise.core.search.late_hills import late_starts
from stopwise.core.search.narrow_hills import FEW, narrow_starts
from stopwise.core.search.restriction import restricted_score
from stopwise.core.search.score import NormalisedScore, Score, highest, nan_excluded
from stopwise.core.search.screen import close_starts, screen
from stopwise.core.search.walls import along_walls
from stopwise.core.space import Domain, Finite, Mixed
from stopwise.core.space.finite import grid, is_small

# Searches that begin, for each that may go to the end:
_ENTRANTS = 8  # from the screen,
_ENTRANTS_IN_FEW = 4  # in few dimensions,
_CLOSE = 4  # close to the best observations,
_NARROW = 2  # on narrow hills.
_SAME = 0.02  # searches that begin this close to each other, in length scales, are one
_HIGHER = 5e-7  # a narrow hill must be higher by more than this to be the answer
_STEPS = 25  # of a search on a narrow hill


@dataclass(frozen=True, slots=True)
class Search:
    """How hard to look on domains that cannot be enumerated.

    Args:
        raw: Points of the Sobol screen.
        restarts: How many of them may climb to the end; several times as many begin.
        narrow: Whether searches in one and two dimensions also begin beside and between
            observations: for scores whose hills are as narrow as the gaps between these.
    """

    raw: int = 512
    restarts: int = 10
    narrow: bool = True


@dataclass(frozen=True, slots=True)
class Supremum:
    """The largest value that was found, where, and the evidence.

    Args:
        x: Encoded point, or None if every point is excluded.
        value: Its score; ``-inf`` if every point is excluded.
        spread: Best minus median of the final values of the ``restarts`` highest searches: 0 if
            half of them agree, and where the answer is exact.
        restarts: How many searches that is over; 0 where the answer is exact.
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
    observed: Array | None = None,
    starts: Array | None = None,
    search: Search | None = None,
) -> Supremum:
    """Maximise a score over a domain.

    Args:
        score: What to maximise.
        domain: Where.
        rng: Source of the Sobol scrambling and the neighbourhoods.
        near: Encoded points whose neighbourhoods are screened too: the best observations.
        observed: All observations, the best first; in one and two dimensions searches also begin
            beside and between them, in more if the score says that it is late.
        starts: Encoded points that climb in any case; the answer is never worse than these.
        search: How hard to look; ignored where the domain can be enumerated.
    """
    if isinstance(domain, Finite):
        return _enumerated(score, domain)
    if is_small(domain):
        return _enumerated(score, grid(domain))
    return multistart(
        score, domain, rng, near=near, observed=observed, starts=starts, search=search
    )


def _enumerated(score: Score, domain: Finite) -> Supremum:
    # A score may know of points that cannot be the highest without computing their values.
    at_contenders = getattr(score, "at_contenders", score)
    values = nan_excluded(at_contenders(domain.points))
    best = int(np.argmax(values))
    if values[best] == -np.inf:
        return Supremum(None, -np.inf)
    return Supremum(domain.points[best], float(values[best]))


def multistart(
    score: Score,
    domain: Mixed,
    rng: np.random.Generator,
    *,
    near: Array | None = None,
    observed: Array | None = None,
    starts: Array | None = None,
    search: Search | None = None,
) -> Supremum:
    """The supremum by local searches from many starts; see ``supremum`` for the arguments."""
    search = search or Search()
    few = domain.is_box and domain.d <= FEW
    none = np.empty((0, domain.width))
    near = none if near is None else near
    normalised = score if score.unit == 1.0 else NormalisedScore(score)
    normalised = restricted_score(normalised, domain)
    entrants = (_ENTRANTS_IN_FEW if few else _ENTRANTS) * search.restarts
    screened = screen(normalised, domain, rng, near=near, samples=search.raw, count=entrants)
    begin = np.vstack([domain.snap(none if starts is None else starts), screened])
    close = none
    if not few:
        count = _CLOSE * search.restarts
        close = close_starts(normalised, domain, rng, best=near, count=count)
    X, values = _peaks(normalised, domain, begin, close, search.restarts)
    between = search.narrow if few else domain.is_box
    if between and observed is not None and len(observed):
        count = search.restarts
        if few:
            narrow = narrow_starts(normalised, observed, _NARROW * count)
            X, values = _with_narrow_hill(normalised, X, values, narrow, count)
        elif len(observed) > 1 and len(X) and _is_late(score, X[0], values[0]):
            late = late_starts(normalised, rng, peaks=X, observed=observed, count=count)
            X, values = _with_narrow_hill(normalised, X, values, late, count)
    if not len(X):
        return Supremum(None, -np.inf)
    if domain.constraints:
        X[0], values[0] = along_walls(normalised, domain, rng, X[0], float(values[0]))
    best, median = float(values[0]), float(np.median(values))
    spread = 0.0 if best == median else best - median  # both may be infinite
    return Supremum(X[0], best * score.unit, spread * score.unit, len(X), X)


def _peaks(
    score: Score, domain: Mixed, begin: Array, close: Array, count: int
) -> tuple[Array, Array]:
    """Where the searches from all starts end: the ``count`` highest, best first.

    Of those that began close to the best observations only the highest counts: they are many on
    one hill, and do not tell whether others agree.
    """
    X, values = batched_bfgs(
        score.with_gradient,
        np.vstack([begin, close]),
        domain.real,
        scales=score.scales,
        finalists=count,
        first_same=_SAME if len(close) else SAME_HILL,
    )
    if len(close):
        best = len(begin) + int(np.argmax(values[len(begin) :]))
        kept = np.append(np.arange(len(begin)), best)
        X, values = X[kept], values[kept]
    X, values = highest(X, values, count)
    if domain.n_discrete > 1 and len(X):
        X, values = highest(*improve_all(score, domain, X, values), count)
        X[0], values[0] = improve_best(score, domain, X[0], float(values[0]))
    return X, values


def _is_late(score: Score, x: Array, value: float) -> bool:
    """Whether a score says that its supremum is that of a late moment; most do not say."""
    is_late = getattr(score, "is_late", None)
    return is_late is not None and bool(is_late(x, value))


def _with_narrow_hill(
    score: Score, X: Array, values: Array, begin: Array, count: int
) -> tuple[Array, Array]:
    """The peaks, after the highest hill beside or between observations if that is higher."""
    free = np.ones(begin.shape[1], dtype=bool)
    # All go on: hills much closer to each other than a length scale are different ones here.
    found = batched_bfgs(score.with_gradient, begin, free, scales=score.scales, max_steps=_STEPS)
    x, value = highest(*found, 1)
    if value.max(initial=-np.inf) <= values.max(initial=-np.inf) + _HIGHER:
        return X, values
    return np.vstack([x, X])[:count], np.append(value, values)[:count]
