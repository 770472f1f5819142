# SPDX-License-Identifier: Apache-2.0
"""How likely it is that more than a margin can still be gained: bounds and samples for PRB."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from stopwise._climb import climb
from stopwise.acquisition.improvement import ImprovementBy
from stopwise.models.paths import JointDraws, Paths, sample_paths
from stopwise.snapshot import Snapshot
from stopwise.space import Finite

Array = NDArray[np.float64]

_NEGLIGIBLE = 1e-5  # chance, in all, of the candidates that are not sampled
_EXACT = 2500  # candidates up to which values are drawn jointly
_SCREEN = 256  # points of a box, even and likely ones each, where paths are looked at first
_POOL = 4096  # points that the likely ones are the best of
_CLOUD = 64  # points about each good place, at each of these deviations
_DEVIATIONS = (0.1, 0.02)
_DESCENTS = 3  # of a path, from its lowest screened points


def largest_chance(snapshot: Snapshot, margin: float) -> float:
    """The largest z over all points, Phi(z) being the chance to be better by the margin."""
    return snapshot.sup(ImprovementBy(margin)).value


def total_chance(snapshot: Snapshot, margin: float) -> float:
    """An upper bound by the sum over candidates; infinite on a domain that is not finite."""
    if not isinstance(snapshot.domain, Finite):
        return math.inf
    return float(_chances(snapshot, snapshot.domain, margin).sum())


def exceedances(snapshot: Snapshot, margin: float, batches: Sequence[int]) -> Iterator[int]:
    """For each batch size, how many fresh paths have a regret above the margin."""
    rng = snapshot.rng("regret")
    domain = snapshot.domain
    points = _that_matter(snapshot, domain, margin) if isinstance(domain, Finite) else None
    if points is not None and len(points) <= _EXACT:
        draws = _joint_regrets(snapshot, points)
        yield from (int(np.count_nonzero(draws(rng, batch) > margin)) for batch in batches)
        return
    for batch in batches:
        paths = sample_paths(snapshot.belief.objective, rng, batch)
        best = _path_best(snapshot, paths)
        lowest = _path_minima(snapshot, paths, points, enough=best - margin)
        yield int(np.count_nonzero(lowest < best - margin))


def regrets(snapshot: Snapshot, rng: np.random.Generator, n: int) -> Array:
    """Draws of f(x*) - min f, what could still be gained in all."""
    domain = snapshot.domain
    if isinstance(domain, Finite) and len(domain) <= _EXACT:
        return _joint_regrets(snapshot, domain.points)(rng, n)
    paths = sample_paths(snapshot.belief.objective, rng, n)
    points = domain.points if isinstance(domain, Finite) else None
    lowest = _path_minima(snapshot, paths, points)
    return np.maximum(_path_best(snapshot, paths) - lowest, 0.0)


def _chances(snapshot: Snapshot, domain: Finite, margin: float) -> Array:
    """Of each candidate, to be better than the incumbent by the margin."""
    return np.asarray(ndtr(ImprovementBy(margin).bind(snapshot)(domain.points)))


def _that_matter(snapshot: Snapshot, domain: Finite, margin: float) -> Array:
    """The candidates that have a chance worth counting to beat the incumbent by the margin."""
    chances = _chances(snapshot, domain, margin)
    order = np.argsort(chances)
    left_out = np.cumsum(chances[order]) <= _NEGLIGIBLE
    points: Array = domain.points[order[~left_out]]
    return points


def _joint_regrets(
    snapshot: Snapshot, points: Array
) -> Callable[[np.random.Generator, int], Array]:
    """Regrets over some candidates, from their exact joint distribution."""
    exact = snapshot.belief.objective.interpolate
    rows = np.vstack([points, snapshot.X[snapshot.incumbent]])
    draws = JointDraws.at(snapshot.belief.objective, rows)

    def draw(rng: np.random.Generator, n: int) -> Array:
        values = draws(rng, n)
        best = snapshot.best if exact else values[:, -1]
        return np.asarray(np.maximum(best - values.min(axis=1), 0.0))

    return draw


def _path_best(snapshot: Snapshot, paths: Paths) -> Array:
    """The incumbent's value on each path; the observed one where that is exact."""
    if snapshot.belief.objective.interpolate:
        return np.full(len(paths), snapshot.best)
    return paths(snapshot.X[snapshot.incumbent][None, :])[:, 0]


def _path_minima(
    snapshot: Snapshot, paths: Paths, points: Array | None, enough: Array | None = None
) -> Array:
    """The lowest value of each path: over points if given, else by screening and descending.

    A path that is below ``enough`` need not descend any further.
    """
    if points is not None:
        return _lowest(paths, points)
    X = _screened(snapshot)
    values = paths(X)
    lowest: Array = values.min(axis=1)
    for starts in np.argsort(values, axis=1)[:, :_DESCENTS].T:
        which = np.flatnonzero(lowest >= (-np.inf if enough is None else enough))
        found = _descend(snapshot, paths, which, X[starts[which]], enough)
        lowest[which] = np.minimum(lowest[which], found)
    return lowest


def _lowest(paths: Paths, X: Array) -> Array:
    """The lowest value of each path over many points, without holding all values at once."""
    blocks = (paths(X[start : start + _POOL]) for start in range(0, len(X), _POOL))
    return np.asarray(np.min([block.min(axis=1) for block in blocks], axis=0))


def _descend(
    snapshot: Snapshot,
    paths: Paths,
    which: NDArray[np.intp],
    starts: Array,
    enough: Array | None,
) -> Array:
    """Values of paths near their local minima, from a start each, all at once.

    With ``enough`` a descent ends below it, and early where it stays far above it.
    """
    posterior = snapshot.belief.objective
    unit = posterior.standardiser.scale
    # A column that does not move carries which path a row descends.
    tags = (which / len(paths))[:, None]

    def objective(rows: Array) -> tuple[Array, Array]:
        own = np.rint(rows[:, -1] * len(paths)).astype(np.intp)
        value, gradient = paths.with_gradient(rows[:, :-1], own)
        uphill = np.hstack([-gradient / unit, np.zeros((len(rows), 1))])
        if enough is None:
            return -value / unit, uphill
        short = (enough[own] - value) / unit
        return np.minimum(short, 0.0), np.where(short[:, None] < 0.0, uphill, 0.0)

    free = np.append(snapshot.domain.real, False)  # type: ignore[union-attr]
    scales = np.append(posterior.hyper.lengthscales[posterior.groups], 1.0)
    rivals = enough is not None  # what has reached its level leads
    X, _ = climb(objective, np.hstack([starts, tags]), free, scales=scales, rivals=rivals)
    return paths.with_gradient(X[:, :-1], which)[0]


def _screened(snapshot: Snapshot) -> Array:
    """Points at which paths are looked at first: spread evenly, likely ones, about the best."""

    def build() -> Array:
        domain = snapshot.domain
        rng = snapshot.rng("screen")
        pool = domain.sobol(_POOL, rng)  # type: ignore[union-attr]
        chances = ImprovementBy(0.0).bind(snapshot)(pool)
        likely = pool[np.argsort(-chances, kind="stable")[:_SCREEN]]
        good = snapshot.X[np.argsort(snapshot.y, kind="stable")[:3]]
        clouds = [pool[:_SCREEN], likely, good]
        for deviation in _DEVIATIONS:
            centres = np.repeat(good, _CLOUD, axis=0)
            noise = deviation * rng.standard_normal(centres.shape)
            clouds.append(domain.snap(centres + noise))
        return np.vstack(clouds)

    return snapshot.once("screen", build)
