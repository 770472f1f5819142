# SPDX-License-Identifier: Apache-2.0
"""The initial design: what the user wants tried first, then points spread over the space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stopwise.core.beliefs.prices import CostModel, KnownCost
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.seeds import stream
from stopwise.core.space import Domain, Finite


def initial_design(
    domain: Domain,
    size: int,
    *,
    start_from: Sequence[Mapping[str, Any]],
    known: Array,
    cost: CostModel,
    seed: int,
) -> list[dict[str, Any]]:
    """Configurations for the initial design, none twice and none that is known already.

    Args:
        domain: The space.
        size: How many, ``start_from`` included; fewer if the domain has no more.
        start_from: Tried first, whatever ``size`` is.
        known: Encoded points that were told before.
        cost: Where it is known in advance, the cheap points of the design come first.
        seed: The study's seed.
    """
    seen = set(domain.key(known)) if len(known) else set()
    chosen: list[dict[str, Any]] = []
    for params in start_from:
        key = domain.key(domain.encode(params))[0]
        if key not in seen:
            seen.add(key)
            chosen.append(dict(params))
    fresh = domain.decode(_fresh_points(domain, max(size - len(chosen), 0), seen, seed))
    if isinstance(cost, KnownCost):
        fresh.sort(key=lambda params: cost.at(domain, params))
    return chosen + fresh


def _fresh_points(domain: Domain, count: int, seen: set[bytes], seed: int) -> Array:
    """Up to ``count`` spread-out points whose keys are not in ``seen``."""
    if not count:
        return np.empty((0, domain.width))
    rng = stream(seed, "design")
    if isinstance(domain, Finite):
        pool = domain.design(len(domain), rng)
    else:  # rounding may make points equal: draw a generous block, and keep its order
        pool = domain.sobol(max(4 * (count + len(seen)), 64), rng)
    kept: list[int] = []
    for i, key in enumerate(domain.key(pool)):
        if key not in seen and len(kept) < count:
            seen.add(key)
            kept.append(i)
    return pool[kept]
