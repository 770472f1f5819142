# SPDX-License-Identifier: Apache-2.0
"""The regret of stopping now, f(x*) - min f: samples of it, and the chance that it is large.

The minimum is over what succeeds: where evaluations may fail or break a limit, a draw says of
every point whether it does, and nothing is gained at one that does not.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from stopwise.acquisition.improvement import ImprovementBy
from stopwise.core.beliefs.drawn_success import JointSuccess, SuccessPaths
from stopwise.core.beliefs.laws import Loss
from stopwise.core.beliefs.paths import JointDraws, Paths, sample_paths
from stopwise.core.numerics import scipy_parts
from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Finite
from stopwise.stopping._crossing import Crossings
from stopwise.stopping._path_minima import descend, success_paths

_NEGLIGIBLE = 1e-5  # chance, in all, of the candidates that are not sampled
_EXACT = 2500  # candidates up to which values are drawn jointly
_SCREEN = 256  # points of a box, spread evenly and likely ones each, that screen a path
_POOL = 4096  # points of which the likely ones are the best
_CLOUD = 64  # points about each good observation, at each of these deviations
_DEVIATIONS = (0.1, 0.02)
_DESCENTS = 3  # of a path, from its lowest points of the screen


def largest_chance(snapshot: Snapshot, margin: float) -> float:
    """The largest chance of any one point to be better by the margin: a lower bound."""
    return float(scipy_parts.special.ndtr(snapshot.sup(ImprovementBy(margin)).value))


def union_bound(snapshot: Snapshot, margin: float) -> float:
    """The sum of all candidates' chances: an upper bound; infinite on a space that is no table."""
    if not isinstance(snapshot.domain, Finite):
        return math.inf
    return float(_chances(snapshot, snapshot.domain, margin).sum())


def exceedances(snapshot: Snapshot, margin: float, batches: Iterable[int]) -> Iterator[Mask]:
    """For each batch size, which of so many fresh paths have a regret above the margin."""
    rng = snapshot.rng("regret")
    if _is_single(snapshot):
        yield from _exceedances_of_one(snapshot, margin, rng, batches)
        return
    queues: list[deque[int]] = [deque() for _ in snapshot.components]
    streams = [  # of each posterior, with as many paths at a time as its queue says
        _exceedances_of_one(part, margin, rng, iter(queue.popleft, None))
        for queue, (_, part) in zip(queues, snapshot.components, strict=True)
    ]
    for batch in batches:
        *counts, doubted = _split(snapshot, rng, batch)
        masks = [np.zeros(doubted, dtype=bool)]
        for queue, stream, count in zip(queues, streams, counts, strict=True):
            if count:
                queue.append(count)
                masks.append(next(stream))
        yield rng.permutation(np.concatenate(masks))


def _exceedances_of_one(
    snapshot: Snapshot, margin: float, rng: np.random.Generator, batches: Iterable[int]
) -> Iterator[Mask]:
    """The same where the belief has one posterior."""
    domain = snapshot.domain
    if isinstance(domain, Finite):
        key = ("regrets", margin)
        draw = snapshot.once(key, lambda: _finite_exceedances(snapshot, domain, margin))
        yield from (draw(rng, batch) for batch in batches)
        return
    box = snapshot.once(("crossings", margin), lambda: Crossings.over(snapshot, margin))
    if box is None:  # where no point has a chance to gain the margin, no path gains it
        yield from (np.zeros(batch, dtype=bool) for batch in batches)
    else:
        yield from box(rng, batches)


def _is_single(snapshot: Snapshot) -> bool:
    """Whether the belief is one posterior, whose promises are trusted."""
    return snapshot.components[0][1] is snapshot and snapshot.belief.trust == 1.0


def _split(snapshot: Snapshot, rng: np.random.Generator, n: int) -> list[int]:
    """How many of n paths each posterior is to draw; the last count is of paths without gain.

    A path that is doubted is no better than the incumbent anywhere.
    """
    trust = snapshot.belief.trust
    chances = [trust * weight for weight, _ in snapshot.components]
    counts: list[int] = rng.multinomial(n, [*chances, max(1.0 - sum(chances), 0.0)]).tolist()
    return counts


def _finite_exceedances(
    snapshot: Snapshot, domain: Finite, margin: float
) -> Callable[[np.random.Generator, int], Mask]:
    """Draws over a finite domain: exactly where few candidates matter, else by sample paths."""
    points = _likely_candidates(snapshot, domain, margin)
    if len(points) <= _EXACT:
        exact = _joint_regrets(snapshot, points)
        return lambda rng, n: exact(rng, n) > margin

    def by_paths(rng: np.random.Generator, n: int) -> Mask:
        paths = sample_paths(snapshot.belief.posterior, rng, n)
        lowest = _lowest(paths, points, success_paths(snapshot, rng, n))
        return lowest < _path_best(snapshot, paths) - margin

    return by_paths


def regrets(snapshot: Snapshot, rng: np.random.Generator, n: int) -> Array:
    """Draws of the regret f(x*) - min f: what could still be gained in all, by its worth."""
    if not _is_single(snapshot):
        *counts, doubted = _split(snapshot, rng, n)
        drawn = [
            _regrets_of_one(part, rng, count)
            for count, (_, part) in zip(counts, snapshot.components, strict=True)
            if count
        ]
        return rng.permutation(np.concatenate([*drawn, np.zeros(doubted)]))
    return _regrets_of_one(snapshot, rng, n)


def _regrets_of_one(snapshot: Snapshot, rng: np.random.Generator, n: int) -> Array:
    """The same where the belief has one posterior."""
    domain = snapshot.domain
    if isinstance(domain, Finite) and len(domain) <= _EXACT:
        return _joint_regrets(snapshot, domain.points, snapshot.loss)(rng, n)
    paths = sample_paths(snapshot.belief.posterior, rng, n)
    success = success_paths(snapshot, rng, n)
    if isinstance(domain, Finite):
        lowest = _lowest(paths, domain.points, success)
    else:
        lowest = _path_minima(snapshot, paths, success)
    return _lost(_path_best(snapshot, paths), lowest, snapshot.loss)


def _lost(best: Array, lowest: Array, loss: Loss | None) -> Array:
    """How much worse the best values are than the lowest, or by how much less they are worth."""
    lowest = np.minimum(lowest, best)  # where nothing succeeds it is infinite
    if loss is None:
        return np.maximum(best - lowest, 0.0)
    return np.asarray(np.maximum(loss(best) - loss(lowest), 0.0))


def _chances(snapshot: Snapshot, domain: Finite, margin: float) -> Array:
    """The chance of each candidate to be better than the incumbent by the margin."""
    return np.asarray(
        scipy_parts.special.ndtr(ImprovementBy(margin).bind(snapshot)(domain.points))
    )


def _likely_candidates(snapshot: Snapshot, domain: Finite, margin: float) -> Array:
    """The candidates without those that are, even together, too unlikely to gain the margin."""
    chances = _chances(snapshot, domain, margin)
    order = np.argsort(chances)
    left_out = np.cumsum(chances[order]) <= _NEGLIGIBLE
    points: Array = domain.points[order[~left_out]]
    return points


def _joint_regrets(
    snapshot: Snapshot, points: Array, loss: Loss | None = None
) -> Callable[[np.random.Generator, int], Array]:
    """Regrets over some candidates, from their exact joint distribution."""
    rows = np.vstack([points, snapshot.X[snapshot.incumbent]])
    draws = JointDraws.at(snapshot.belief.posterior, rows)
    success = snapshot.belief.success
    succeeding = None if success is None else JointSuccess.at(success, points)

    def draw(rng: np.random.Generator, n: int) -> Array:
        values = draws(rng, n)
        best = np.asarray(snapshot.best) if _is_known(snapshot) else values[:, -1]
        if succeeding is not None:  # the incumbent has
            values[:, :-1][succeeding.excess(rng, n) > 0.0] = np.inf
        return _lost(best, values.min(axis=1), loss)

    return draw


def _path_best(snapshot: Snapshot, paths: Paths) -> Array:
    """The incumbent's value on each path; the observed one where that is exact."""
    if _is_known(snapshot):
        return np.full(len(paths), snapshot.best)
    return paths(snapshot.X[snapshot.incumbent][None, :])[:, 0]


def _is_known(snapshot: Snapshot) -> bool:
    """Whether the best value is the same on all paths: observed exactly, or the fallback."""
    return snapshot.belief.objective.exact or snapshot.rests_on_fallback


def _path_minima(snapshot: Snapshot, paths: Paths, success: SuccessPaths | None) -> Array:
    """The lowest value of each path over a box, by screening and descending."""
    X, which = _screen(snapshot), np.arange(len(paths))
    values = _succeeding(paths, X, success)
    lowest: Array = values.min(axis=1)
    for starts in np.argsort(values, axis=1)[:, :_DESCENTS].T:
        ends, minima = descend(snapshot, paths, which, X[starts])
        if success is not None:
            excess, _ = success.excess_with_gradient(ends, which)
            minima = np.where(excess > 0.0, np.inf, minima)
        lowest = np.minimum(lowest, minima)
    return lowest


def _succeeding(paths: Paths, X: Array, success: SuccessPaths | None) -> Array:
    """Values of paths at the rows of X; infinite where they do not succeed."""
    return paths(X) if success is None else np.where(success.excess(X) > 0.0, np.inf, paths(X))


def _lowest(paths: Paths, X: Array, success: SuccessPaths | None) -> Array:
    """The lowest value of each path over many points, without holding all values at once."""
    starts = range(0, len(X), _POOL)
    blocks = (_succeeding(paths, X[start : start + _POOL], success) for start in starts)
    return np.asarray(np.min([block.min(axis=1) for block in blocks], axis=0))


def _screen(snapshot: Snapshot) -> Array:
    """Points that screen paths: spread evenly, likely ones, and about the best observations."""

    def build() -> Array:
        domain = snapshot.domain
        rng = snapshot.rng("screen")
        pool = domain.sobol(_POOL, rng)  # type: ignore[union-attr]
        chances = ImprovementBy(0.0).bind(snapshot)(pool)
        likely = pool[np.argsort(-chances, kind="stable")[:_SCREEN]]
        good = snapshot.X[np.argsort(snapshot.attained, kind="stable")[:3]]
        clouds = [pool[:_SCREEN], likely, good]
        for deviation in _DEVIATIONS:
            centres = np.repeat(good, _CLOUD, axis=0)
            noise = deviation * rng.standard_normal(centres.shape)
            clouds.append(domain.snap(centres + noise))
        return domain.only_allowed(np.vstack(clouds))  # type: ignore[union-attr]

    return snapshot.once("screen", build)
