# SPDX-License-Identifier: Apache-2.0
"""Late hills: starts for searches late in a run, on boxes of three and more parameters.

Late in a run what is left are small hills. Those that a search from the whole box misses lie

- between observations that are near each other in length scales, good ones mostly: points half way
  keep to the walls that the observations lie at, and are as close together as these are;
- beside the best observations, at the same walls;
- in other corners of the box than the highest hills that were found.
"""

from __future__ import annotations

import numpy as np

from stopwise.core.numerics.arrays import Array, Indices
from stopwise.core.numerics.rows import unique_rows
from stopwise.core.search.score import Score, nan_excluded
from stopwise.core.search.screen import spread_out

_MOST = 100  # observations that are looked at, the best first
_NEIGHBOURS = 8  # of each of them
_PAIRED = 20  # best observations that are all neighbours of each other
_CLOSEST = 10  # observations that are looked at from close by
_BESIDE = np.repeat([0.1, 0.03, 0.01], 4)  # deviations about these, in length scales
_PEAKS = 3  # hills from which other corners are looked for
_TINY, _APART = 1e-4, 0.02  # per column; starts within this radius count as one


def late_starts(
    score: Score, rng: np.random.Generator, *, peaks: Array, observed: Array, count: int
) -> Array:
    """Starting points for local searches; the highest hill that was found comes first.

    Args:
        score: The score.
        rng: Source of the points beside observations.
        peaks: The hills that were found, highest first; there must be one.
        observed: Observations, the best first; there must be two.
        count: Number of starts beside observations, as many as in other corners; twice as many
            begin between observations.
    """
    observed = observed[:_MOST]
    scales = np.ones(peaks.shape[1]) if score.scales is None else np.minimum(score.scales, 1.0)
    between = observed[_pairs(observed / scales)].mean(axis=0)
    starts = [
        peaks[:1],
        _chosen(score, between, (count, _TINY), (count, _APART)),
        _chosen(score, _beside(observed[:_CLOSEST], scales, rng), (count, _TINY)),
        _chosen(score, _other_corners(peaks[:_PEAKS]), (count, _TINY)),
    ]
    return np.vstack(starts)


def _chosen(score: Score, X: Array, *parts: tuple[int, float]) -> Array:
    """The highest points: so many of which none is within a radius of another, for each part."""
    values = nan_excluded(score(X))
    included = values > -np.inf
    X, values = X[included], values[included]
    chosen = [spread_out(X, values, count, radius) for count, radius in parts]
    return np.asarray(X[np.unique(np.concatenate(chosen))])


def _pairs(Z: Array) -> Indices:
    """Pairs of observations that are near each other, or among the best; (2, pairs)."""
    n, squares = len(Z), np.vecdot(Z, Z)
    distances = squares[:, None] + squares - 2.0 * (Z @ Z.T)
    np.fill_diagonal(distances, np.inf)
    k = min(_NEIGHBOURS, n - 1)
    nearest = np.argpartition(distances, k - 1, axis=1)[:, :k]
    near = np.stack([np.repeat(np.arange(n), k), nearest.ravel()])
    best = np.stack(np.triu_indices(min(_PAIRED, n), 1))
    return unique_rows(np.sort(np.hstack([near, best]), axis=0).T)[0].T


def _beside(observed: Array, scales: Array, rng: np.random.Generator) -> Array:
    """Points close to observations that leave no wall."""
    moves = rng.standard_normal((len(_BESIDE), *observed.shape)) * _BESIDE[:, None, None] * scales
    moves *= (observed > 0.0) & (observed < 1.0)
    return np.asarray(np.clip(observed + moves, 0.0, 1.0).reshape(-1, observed.shape[1]))


def _other_corners(peaks: Array) -> Array:
    """Each peak with one parameter at either of its walls."""
    d = peaks.shape[1]
    moved = np.tile(peaks[:, None, None, :], (1, 2, d, 1))
    columns = np.arange(d)
    moved[:, 0, columns, columns], moved[:, 1, columns, columns] = 0.0, 1.0
    return moved.reshape(-1, d)
