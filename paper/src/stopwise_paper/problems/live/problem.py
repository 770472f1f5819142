# SPDX-License-Identifier: Apache-2.0
"""The live problem: an objective that is trained, judged against its reference sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

import stopwise as sw
from stopwise.errors import InputError
from stopwise_paper.arrays import Array
from stopwise_paper.problems.live.objective import LiveObjective
from stopwise_paper.problems.live.reference import Reference
from stopwise_paper.problems.problem import LEARNED, PaidValue
from stopwise_paper.seeds import stream

_EPSILON = 0.005  # of the probabilistic regret bound, as a part of the gap


@dataclass(frozen=True, eq=False)
class LiveProblem:
    """An objective with its reference sample, which has what a table has of all its rows.

    Args:
        objective: What is trained.
        domain: The encoded space.
        reference: The sample that regret and prices are judged by.
        kernel: See ``Problem``.
        lengthscale: See ``Problem``.
        facts: See ``Problem``.
    """

    objective: LiveObjective
    domain: sw.space.Mixed
    reference: Reference
    kernel: Literal["known", "fitted"] = "fitted"
    lengthscale: float = np.nan
    facts: Mapping[str, str | float] = field(default_factory=dict)

    @property
    def judged(self) -> Array:
        """The values of the sample."""
        return self.reference.values

    @property
    def costs(self) -> Mapping[str, Array]:
        """The costs of the sample, by the price that this problem has."""
        return {self.objective.price: self.reference.costs}

    @property
    def optimum(self) -> float:
        """The best value of the sample; a contender may find a better one."""
        return float(np.nanmin(self.judged))

    @property
    def epsilon(self) -> float:
        """A part of the gap."""
        return _EPSILON * (float(np.nanmedian(self.judged)) - self.optimum)

    def initial(self, seed: int, n: int | None = None) -> Array:
        """The first n points of a scrambled Sobol sequence, or 2(d + 1)."""
        return self.domain.sobol(n or 2 * (self.domain.d + 1), stream(seed, "experiment design"))

    def evaluate(self, x: Array) -> PaidValue:
        """Train the configuration of a point."""
        [params] = self.domain.decode(x[None, :])
        value, cost = self.objective.train(params)
        paid = {self.objective.price: cost}
        return PaidValue(x, value, value, paid, paid)

    def cost_model(self, cost: str) -> sw.beliefs.CostModel:
        """Costs that are learned, or 1 for every evaluation."""
        if cost != self.objective.price:
            message = f"this problem has the price {self.objective.price!r}, not {cost!r}."
            raise InputError(message)
        return sw.beliefs.LearnedCost("gamma") if cost == LEARNED else sw.beliefs.UnitCost()
