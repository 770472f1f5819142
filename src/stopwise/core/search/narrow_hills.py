# SPDX-License-Identifier: Apache-2.0
"""Narrow hills: starts beside and between observations, in one and two dimensions.

Late in a run the hills of a score are as narrow as the gaps between observations, and a sample of
the whole box misses them. In one dimension they lie in the intervals between neighbours, in two on
the triangles that observations make (Delaunay) and along the walls; some are highest as close to
an observation as may be. In few dimensions these places are few enough to look at all of them.
"""

from __future__ import annotations

import itertools

import numpy as np

from stopwise.core.numerics.arrays import Array, Indices
from stopwise.core.numerics.rows import unique_rows
from stopwise.core.search.score import Score, highest, nan_excluded
from stopwise.core.space.domain import SAME

FEW = 2  # dimensions
_MOST = 100  # observations that are looked at, the best first
_FRACTIONS = {  # of the way from an observation to its neighbour, from either end
    1: (0.5, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001),
    2: (0.5, 0.2, 0.05, 0.01),
}
_CLOSEST = 10  # observations that are looked at from close by
# Distances from them; several just beyond SAME, because there a score may be rounding.
_BESIDE = SAME * np.array([1 + 1e-7, 1 + 1e-5, 1 + 1e-3, 1.01, 1.1, 1.5, 4.0, 16.0, 64.0])


def narrow_starts(score: Score, observed: Array, count: int) -> Array:
    """Starting points for local searches: of each place its best point, the highest of them.

    Args:
        score: The score.
        observed: Observations, the best first, (n, 1) or (n, 2); there must be one.
        count: Number of starts.
    """
    observed = observed[:_MOST]
    groups = [_beside(observed[:_CLOSEST]), *_between(observed)]
    X = np.vstack([group.reshape(-1, observed.shape[1]) for group in groups])
    sizes = np.concatenate([np.full(len(group), group.shape[1]) for group in groups])
    values = nan_excluded(score(X))
    best = _best_of_each(values, sizes)
    return highest(X[best], values[best], count)[0]


def _best_of_each(values: Array, sizes: Indices) -> Indices:
    """Where the highest value of each place is; places follow each other."""
    places = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((-values, places))
    begins = np.cumsum(sizes) - sizes
    return np.asarray(order[begins])


def _beside(observed: Array) -> Array:
    """Points next to each observation, (n, points, d)."""
    d = observed.shape[1]
    signs = np.array([s for s in itertools.product((-1.0, 0.0, 1.0), repeat=d) if any(s)])
    moves = (_BESIDE[:, None, None] * signs).reshape(-1, d)
    return np.asarray(np.clip(observed[:, None, :] + moves, 0.0, 1.0))


def _between(observed: Array) -> list[Array]:
    """Points between neighbours, and between observations and walls: (places, points, d) each."""
    halves = np.array(_FRACTIONS[observed.shape[1]])
    fractions = np.unique(np.append(halves, 1.0 - halves))[:, None]
    if observed.shape[1] == 1:
        ends = np.unique(np.append(observed, [0.0, 1.0]))[:, None, None]
        return [ends[:-1] + fractions * (ends[1:] - ends[:-1])]
    from scipy.spatial import Delaunay  # which takes long to import

    corners = np.array(list(itertools.product((0.0, 1.0), repeat=2)))
    points = np.vstack([observed, corners])
    triangles = Delaunay(points).simplices
    sides = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    begin, end = points[unique_rows(sides)[0].T]
    edges = begin[:, None, :] + fractions * (end - begin)[:, None, :]
    return [edges, points[triangles].mean(axis=1)[:, None, :], _at_walls(observed)]


def _at_walls(observed: Array) -> Array:
    """Between each observation and its four walls: half way, and on the wall."""
    walls = np.tile(observed[:, None, :], (1, 4, 1))
    walls[:, [0, 1], 0] = walls[:, [2, 3], 1] = (0.0, 1.0)
    halfway = 0.5 * (observed[:, None, :] + walls)
    return np.concatenate([walls, halfway], axis=1)
