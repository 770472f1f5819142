# SPDX-License-Identifier: Apache-2.0
"""Walls that constraints make: steps along them, which a gradient cannot take.

A search that comes to such a wall ends there, because every step uphill is excluded. From the best
point random steps are tried, longer after a gain and shorter otherwise; the best of those that are
allowed is taken if it gains. That is an evolution strategy.

References:
    Rechenberg (1973), Evolutionsstrategie: the length of steps by whether they succeed.
"""

from __future__ import annotations

import numpy as np

from stopwise.core.numerics.arrays import Array
from stopwise.core.search.score import Score, nan_excluded
from stopwise.core.space import Mixed

_LONGEST, _SHORTEST = 0.1, 1e-5  # deviations of a step, in the unit cube
_GROWTH, _SHRINKAGE = 1.5, 0.6  # of the length, after steps that gained and that did not
_STEPS = 32  # tried at once
_ROUNDS = 50  # at most


def along_walls(
    score: Score, domain: Mixed, rng: np.random.Generator, x: Array, value: float
) -> tuple[Array, float]:
    """A point that is at least as high, and its score.

    Args:
        score: The score; what is not allowed is excluded.
        domain: Where, with constraints.
        rng: Source of the steps.
        x: Where to begin.
        value: Its score.
    """
    length = _LONGEST
    for _ in range(_ROUNDS):
        if length < _SHORTEST:
            break
        steps = length * rng.standard_normal((_STEPS, domain.width))
        tried = domain.snap(x + steps * domain.moving(x[None, :]))
        scores = nan_excluded(score(tried))
        if scores.max() > value:
            x, value = tried[scores.argmax()], float(scores.max())
            length *= _GROWTH
        else:
            length *= _SHRINKAGE
    return x, value
