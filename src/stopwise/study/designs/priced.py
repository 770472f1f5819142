# SPDX-License-Identifier: Apache-2.0
"""The priced design: points spread over the cheap part of the space.

Costs of one space often differ by orders of magnitude, and most of what a blind design costs is
then paid for its few dearest points. This design takes the points of the same sequence and leaves
out those that are expected to be dear. Where costs are learned, the first two points are bought
near the centre of the space, where costs are rarely extreme; from then on a model of the costs
that were paid says what the others are expected to cost.

References:
    Lee, Perrone, Archambeau and Seeger (2020), Cost-aware Bayesian Optimization: they begin with a
    cost-effective design, too. The measurements behind this one are in docs/adr.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stopwise.core.beliefs.distances import square_distances
from stopwise.core.beliefs.prices import CostModel, expected_cost, is_known
from stopwise.core.numerics.arrays import Array, Indices
from stopwise.core.numerics.rows import unique_rows
from stopwise.core.space import Domain
from stopwise.core.space.finite import codec_of
from stopwise.study.designs.design import DesignSoFar
from stopwise.study.designs.spread import cheap_first

_POOL = 512  # points of the sequence among which the cheap ones are sought
_COSTS = 2  # so many costs must have been paid before others are predicted from them


@dataclass(frozen=True, slots=True)
class PricedDesign:
    """The first points of the spread design's sequence that are expected to be cheap.

    Args:
        share: The share of the space that counts as cheap, and as near the centre.
        span: Of one parameter's range. In few dimensions more of the space counts as cheap: what
            spans so much of the range of every parameter.
        tolerance: Points that cost at most this many times the cheapest count as cheap, too. Where
            that is known of all points, it is the spread design.
        part: Of a number of evaluations that is known beforehand, one in so many is of the design.
    """

    share: float = 0.3
    span: float = 0.7
    tolerance: float = 1.5
    part: int = 3

    def size(self, beginning: DesignSoFar) -> int:
        """As many as the spread design has; half as many where costs are to be learned.

        Also fewer, down to half as many, where it would be more than its part of the evaluations.
        """
        least = beginning.domain.n_active + 1
        if not is_known(beginning.cost):
            return least
        most = beginning.max_trials
        return 2 * least if most is None else min(2 * least, max(most // self.part, least))

    def plans_ahead(self, cost: CostModel) -> bool:
        """Whether costs are known, so that no cost that is paid changes what comes next."""
        return is_known(cost)

    def points(self, count: int, so_far: DesignSoFar) -> list[dict[str, Any]]:
        """The next points, among those that are expected to be cheap."""
        if not count:
            return []
        pool = so_far.fresh(max(count, _POOL))
        preferred = so_far.least_tried_first(pool[self._preferred(pool, so_far)])
        return cheap_first(so_far.domain.decode(preferred[:count]), so_far)

    def _preferred(self, pool: Array, so_far: DesignSoFar) -> Indices:
        """The cheap points in the order of the sequence, then the others, cheapest first."""
        if not len(pool):
            return np.arange(0)
        if not is_known(so_far.cost) and len(so_far.paid) < _COSTS:
            return self._inner(pool, so_far)
        cost = _expected(pool, so_far)
        tolerated = self.tolerance * float(cost.min())
        if cost.max() <= tolerated:
            return np.arange(len(pool))
        share = self._share(so_far.domain)
        return _up_to(max(float(np.quantile(cost, share)), tolerated), cost)

    def _share(self, domain: Domain) -> float:
        return max(self.share, self.span**domain.d)

    def _inner(self, pool: Array, so_far: DesignSoFar) -> Indices:
        """The same with the distance from the centre in place of the cost; the centre first."""
        distance = _from_centre(so_far.domain, pool)
        order = _up_to(float(np.quantile(distance, self._share(so_far.domain))), distance)
        if len(so_far.taken):
            return order
        first = int(distance.argmin())
        return np.concatenate([[first], order[order != first]])


def _expected(X: Array, so_far: DesignSoFar) -> Array:
    """The expected costs of some points, from the costs that were paid if they are learned."""
    price = so_far.cost.price(so_far.domain, so_far.paid_at, so_far.paid)
    return expected_cost(price, X)


def _up_to(limit: float, measure: Array) -> Indices:
    """Indices of what is within a limit, in their order, then of the rest from low to high."""
    outside = np.flatnonzero(measure > limit)
    rest = outside[np.argsort(measure[outside], kind="stable")]
    return np.concatenate([np.flatnonzero(measure <= limit), rest])


def _from_centre(domain: Domain, X: Array) -> Array:
    """Squared distances from the centre of the unit cube; choices are all equally far from it.

    Where parameters are conditional it is the rank of this distance among the points with the same
    active parameters, so that no branch counts as nearer than another.
    """
    distances = square_distances(X, np.full((1, domain.width), 0.5))[:, 0]
    codec = codec_of(domain)
    if not codec.is_conditional:
        return distances
    branches = unique_rows(codec.active(X))[1]
    ranks = np.empty(len(X))
    for branch in range(branches.max() + 1):
        rows = np.flatnonzero(branches == branch)
        order = np.argsort(distances[rows], kind="stable")
        ranks[rows[order]] = (np.arange(len(rows)) + 0.5) / len(rows)
    return ranks
