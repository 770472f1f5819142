# SPDX-License-Identifier: Apache-2.0
"""The screen: a sample of the domain, of which high points far from each other are chosen.

As in multistart with clustering, a sampled point is worth a local search only if no better start
is near it. The radius that counts as near begins large and shrinks until there are enough starts,
so that different basins come before different points of one basin.

References:
    Rinnooy Kan & Timmer (1987), Stochastic Global Optimization Methods, parts I and II.
"""

from __future__ import annotations

import numpy as np

from stopwise.core.numerics.arrays import Array, Indices
from stopwise.core.search.score import Score, nan_excluded
from stopwise.core.space import Mixed

_NEIGHBOURHOODS = (0.2, 0.05, 0.01, 0.002)  # deviations about good points, in the unit cube
_PER_NEIGHBOURHOOD = 8
_LARGEST_RADIUS = 0.25  # per column, as a root mean square
_BEST = 3  # observations that are looked at closely
_CLOSE = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # deviations about these, in length scales
_PER_CLOSE = 32
_CLOSE_RADIUS = 0.005
_SHRINKING = 0.25  # of the squared radius
_EQUAL = 1e-13  # squared distance in the cube below which points are equal


def screen(
    score: Score,
    domain: Mixed,
    rng: np.random.Generator,
    *,
    near: Array,
    samples: int,
    count: int,
) -> Array:
    """Starting points for local searches: high in score, and far from each other.

    Args:
        score: The score.
        domain: Where.
        rng: Source of the Sobol scrambling and of the neighbourhoods.
        near: Encoded points whose neighbourhoods are sampled too.
        samples: Number of Sobol points.
        count: Number of starts; fewer are returned if fewer points differ.
    """
    clouds = [domain.sobol(samples, rng)]
    if len(near):
        centres = np.repeat(near, _PER_NEIGHBOURHOOD, axis=0)
        moves = rng.standard_normal((len(_NEIGHBOURHOODS), *centres.shape))
        moves *= np.array(_NEIGHBOURHOODS)[:, None, None]
        clouds.append(domain.snap((centres + moves).reshape(-1, domain.width)))
    X = np.vstack(clouds)
    values = nan_excluded(score(X))
    included = values > -np.inf
    X, values = X[included], values[included]
    return X[spread_out(X, values, count)]


def close_starts(
    score: Score, domain: Mixed, rng: np.random.Generator, *, best: Array, count: int
) -> Array:
    """Starting points close to the best observations, at all distances within a length scale.

    Late in a run the highest hills are often small ones beside the best observations, several of
    them within a hundredth of a length scale. A sample of the whole domain misses them, and would
    count them as one.

    Args:
        score: The score.
        domain: Where.
        rng: Source of the sample.
        best: Encoded observations, the best first.
        count: Number of starts.
    """
    if not len(best):
        return np.empty((0, domain.width))
    centres = np.repeat(best[:_BEST], _PER_CLOSE, axis=0)
    moves = rng.standard_normal((len(_CLOSE), *centres.shape))
    moves *= np.array(_CLOSE)[:, None, None]
    if score.scales is not None:
        moves *= np.minimum(score.scales, 1.0)
    X = domain.snap((centres + moves).reshape(-1, domain.width))
    values = nan_excluded(score(X))
    included = values > -np.inf
    X, values = X[included], values[included]
    return X[spread_out(X, values, count, _CLOSE_RADIUS)]


def spread_out(
    X: Array, values: Array, count: int, largest_radius: float = _LARGEST_RADIUS
) -> Indices:
    """Indices of high values, each the best of the points that are not near a chosen one.

    Equal points are chosen once.
    """
    order = np.argsort(-values, kind="stable")
    X = X[order]
    squares, ones = np.vecdot(X, X)[:, None], np.ones((len(X), 1))
    # One product of a row of each gives a squared distance: |x|^2 + |x'|^2 - 2 x x'.
    there, here = np.hstack([-2.0 * X, squares, ones]), np.hstack([X, ones, squares])
    nearest = np.full(len(X), np.inf)  # squared distance to the nearest chosen point
    radius = largest_radius**2 * X.shape[1]
    chosen: list[int] = []
    # Each pass chooses a point or shrinks the radius, so this ends.
    while len(chosen) < min(count, len(X)) and radius > _EQUAL:
        i = int((nearest > radius).argmax())
        if nearest[i] > radius:
            chosen.append(i)
            np.minimum(nearest, there.dot(here[i]), out=nearest)
        else:
            radius *= _SHRINKING
    return np.asarray(order[chosen], dtype=np.intp)
