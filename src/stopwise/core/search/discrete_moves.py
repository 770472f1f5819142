# SPDX-License-Identifier: Apache-2.0
"""Discrete moves: local search over the integers and categories of a mixed domain.

From each point the best neighbour is taken, a point that differs in one discrete parameter
(best-improvement local search); the continuous parameters follow by ``batched_bfgs``, and so on in
turn until no move gains. For the best point the neighbours are then judged by where they lead,
because a discrete move often pays only after the continuous parameters have followed it.

Only attainable points are ever scored, never a relaxation of the discrete parameters.

References:
    Hoos & Stutzle (2004), Stochastic Local Search, chapter 2: iterative best improvement.
"""

from __future__ import annotations

import numpy as np

from stopwise.core.numerics.arrays import Array
from stopwise.core.search.batched_bfgs import batched_bfgs
from stopwise.core.search.score import Score, highest, nan_excluded
from stopwise.core.space import Mixed

_GAIN = 1e-9  # a move must gain more than this
_ROUNDS = 50  # of moves; as a rule a few are made
_FOLLOWED = 50  # neighbours of the best point that climb before they are judged


def improve_all(score: Score, domain: Mixed, X: Array, values: Array) -> tuple[Array, Array]:
    """Alternate discrete moves and continuous searches from every row until nothing gains.

    Args:
        score: The score, normalised.
        domain: Where.
        X: Points at which the continuous parameters have been searched; changed in place.
        values: Their scores; changed in place.
    """
    moving = np.arange(len(X))
    for _ in range(_ROUNDS):
        neighbours = domain.neighbours_of_each(X[moving])
        scores = nan_excluded(score(np.vstack(neighbours)))
        parts = np.split(scores, np.cumsum([len(part) for part in neighbours])[:-1])
        moved = []
        for i, tried, tried_scores in zip(moving, neighbours, parts, strict=True):
            if tried_scores.max(initial=-np.inf) > values[i] + _GAIN:
                X[i], values[i] = tried[np.argmax(tried_scores)], tried_scores.max()
                moved.append(i)
        if not moved:
            break
        moving = np.array(moved)
        X[moving], values[moving] = batched_bfgs(
            score.with_gradient, X[moving], domain.real, scales=score.scales
        )
    return X, values


def improve_best(score: Score, domain: Mixed, x: Array, value: float) -> tuple[Array, float]:
    """Move from one point to wherever its neighbours lead, as long as that gains."""
    for _ in range(_ROUNDS):
        there, there_value = _best_followed(score, domain, x)
        if there_value <= value + _GAIN:
            break
        x, value = there, there_value
    return x, value


def _best_followed(score: Score, domain: Mixed, x: Array) -> tuple[Array, float]:
    """The best point that the neighbours of a point lead to by searches of their own."""
    tried = domain.neighbours(x)
    tried, _ = highest(tried, nan_excluded(score(tried)), _FOLLOWED)
    if not len(tried):
        return x, -np.inf
    X, values = batched_bfgs(score.with_gradient, tried, domain.real, scales=score.scales)
    X, values = highest(*improve_all(score, domain, *highest(X, values, 1)), 1)
    return X[0], float(values[0])
