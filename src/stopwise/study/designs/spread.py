# SPDX-License-Identifier: Apache-2.0
"""The spread design: 2(d + 1) points spread over the space, whatever they cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stopwise.core.beliefs.prices import CostModel, KnownCost
from stopwise.study.designs.design import DesignSoFar


@dataclass(frozen=True, slots=True)
class SpreadDesign:
    """The first points of a Sobol sequence, or random rows of a table: the design of 0.1.

    Costs that are known change the order only: cheap points come first.
    """

    def size(self, beginning: DesignSoFar) -> int:
        """Two for each parameter that configurations have on average, and two more."""
        return 2 * (beginning.domain.n_active + 1)

    def plans_ahead(self, cost: CostModel) -> bool:  # noqa: ARG002  one interface for all
        """Always: costs do not change which points there are."""
        return True

    def points(self, count: int, so_far: DesignSoFar) -> list[dict[str, Any]]:
        """The next points of the sequence."""
        chosen = so_far.domain.decode(so_far.fresh(count))
        return cheap_first(chosen, so_far)


def cheap_first(points: list[dict[str, Any]], so_far: DesignSoFar) -> list[dict[str, Any]]:
    """The points in the order of their costs if these are known; otherwise as they are."""
    cost, domain = so_far.cost, so_far.domain
    if not isinstance(cost, KnownCost):
        return points
    return sorted(points, key=lambda params: cost.at(domain, params))
