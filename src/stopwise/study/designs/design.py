# SPDX-License-Identifier: Apache-2.0
"""The protocol of an initial design, and what a design may read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from stopwise.core.beliefs.prices import CostModel
from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.numerics.seeds import stream
from stopwise.core.space import Domain, Finite
from stopwise.core.space.points import row_bytes


@dataclass(frozen=True, slots=True, eq=False)
class DesignSoFar:
    """The points of a design until now, and the costs that were paid.

    Args:
        domain: The encoded space.
        cost: The model of costs.
        seed: The study's seed.
        taken: Encoded points that are evaluated, pending or planned.
        paid_at: Encoded points at which a cost was paid.
        paid: Those costs.
        among: Of a finite domain, the candidates that may be chosen; all if left out.
        max_trials: The most evaluations that there may be; any number if left out.
        free: Which columns are not held at values of the user's; all if left out.
    """

    domain: Domain
    cost: CostModel
    seed: int
    taken: Array
    paid_at: Array
    paid: Array
    among: Mask | None = None
    max_trials: int | None = None
    free: Mask | None = None

    def fresh(self, count: int) -> Array:
        """Up to ``count`` spread-out points that are not taken, each once.

        They are the beginning of one sequence, which depends only on the seed: a scrambled Sobol
        sequence, or the rows of a table in random order. Where parameters are held, points whose
        other parameters were tried already, beside other values of those, come last: else each
        ask would begin the sequence anew.
        """
        if count <= 0:
            return np.empty((0, self.domain.width))
        seen = set(self.domain.key(self.taken)) if len(self.taken) else set()
        rng = stream(self.seed, "design")
        if isinstance(self.domain, Finite):
            pool = self.domain.design(len(self.domain), rng)
            if self.among is not None:
                pool = pool[self.among[self.domain.index_of(pool)]]
            pool = self.least_tried_first(pool)[: count + len(seen)]
        else:  # rounding may make points equal: draw a generous block, and keep its order
            pool = self.domain.sobol(max(4 * (count + len(seen)), 64), rng)
            pool = self.least_tried_first(pool)
        kept: list[int] = []
        for i, key in enumerate(self.domain.key(self._as_told(pool))):
            if key not in seen and len(kept) < count:
                seen.add(key)
                kept.append(i)
        return pool[kept]

    def least_tried_first(self, pool: Array) -> Array:
        """By how often the free parameters of a point were tried; equals stay in their order."""
        if self.free is None or not self.free.any():
            return pool
        tried = Counter(row_bytes(self.taken[:, self.free]))
        times = [tried[key] for key in row_bytes(self._as_told(pool)[:, self.free])]
        return pool[np.argsort(times, kind="stable")]

    def _as_told(self, pool: Array) -> Array:
        """Points as they are once their params were told: a logarithm may change the last bit."""
        if isinstance(self.domain, Finite):
            return pool
        return self.domain.encode(self.domain.decode(pool))


class Design(Protocol):
    """An initial design: how many points it has, and which come next."""

    def size(self, beginning: DesignSoFar) -> int:
        """Number of observations that it is to have, from what is known before the first."""
        ...

    def plans_ahead(self, cost: CostModel) -> bool:
        """Whether all points are fixed at the first ask; if not, each is when it is asked for."""
        ...

    def points(self, count: int, so_far: DesignSoFar) -> list[dict[str, Any]]:
        """The next ``count`` configurations; fewer if the domain has no more."""
        ...
