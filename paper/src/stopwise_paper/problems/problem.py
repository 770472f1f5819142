# SPDX-License-Identifier: Apache-2.0
"""The problem: a domain, an objective with its costs, and the value that regret is judged by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

import stopwise as sw
from stopwise.errors import InputError
from stopwise_paper.arrays import Array
from stopwise_paper.seeds import stream

LEARNED = "learned"  # the price that is unknown: decisions learn it from what was paid


class PaidValue(NamedTuple):
    """One evaluation of an objective.

    Args:
        x: Row number of a table, or the point itself.
        value: The objective, which is minimised.
        judged: The value that regret counts, the test error, say.
        costs: The cost that decisions see, by price.
        judged_costs: The cost that is really paid, by price.
    """

    x: Any
    value: float
    judged: float
    costs: Mapping[str, float]
    judged_costs: Mapping[str, float]


class Problem(Protocol):
    """A problem of the paper."""

    @property
    def domain(self) -> sw.space.Domain:
        """The encoded space."""
        ...

    @property
    def optimum(self) -> float:
        """The best judged value of any point."""
        ...

    @property
    def epsilon(self) -> float:
        """Epsilon of the probabilistic regret bound."""
        ...

    @property
    def kernel(self) -> Literal["known", "fitted"]:
        """``"known"`` where objectives are drawn from the model's kernel, else ``"fitted"``."""
        ...

    @property
    def lengthscale(self) -> float:
        """Length scale of a known kernel; nan where it is fitted."""
        ...

    @property
    def facts(self) -> Mapping[str, str | float]:
        """What is recorded beside a trajectory: the source of runtimes, say."""
        ...

    def initial(self, seed: int, n: int | None = None) -> Array:
        """The initial design, encoded: n points, or 2(d + 1)."""
        ...

    def evaluate(self, x: Array) -> PaidValue:
        """Evaluate the objective at an encoded point."""
        ...

    def cost_model(self, cost: str) -> sw.beliefs.CostModel:
        """The cost model by which decisions are priced."""
        ...


@dataclass(frozen=True, eq=False)
class Table:
    """A problem that is a table: one row per candidate, everything looked up.

    Args:
        domain: The candidates.
        y: The objective, minimised, one value per candidate; nan where an evaluation fails.
        judged: The value that regret counts, one per candidate: the test error, say.
        costs: Columns of costs by which decisions may be priced, by name; the price ``learned``
            must be learned from what is paid.
        judged_costs: Columns of what is really paid, by the same names.
        epsilon: See ``Problem``.
        kernel: See ``Problem``.
        lengthscale: See ``Problem``.
        facts: See ``Problem``.
    """

    domain: sw.space.Finite
    y: Array
    judged: Array
    costs: Mapping[str, Array]
    judged_costs: Mapping[str, Array]
    epsilon: float
    kernel: Literal["known", "fitted"] = "fitted"
    lengthscale: float = np.nan
    facts: Mapping[str, str | float] = field(default_factory=dict)

    @property
    def optimum(self) -> float:
        """The best judged value of any candidate."""
        return float(np.nanmin(self.judged))

    def initial(self, seed: int, n: int | None = None) -> Array:
        """Distinct candidates at random; a smaller design is the beginning of the usual one."""
        rng = stream(seed, "experiment design")
        usual = 2 * (self.domain.d + 1)
        n = n or usual
        rows = rng.choice(len(self.domain), max(n, usual), replace=False)[:n]
        return np.asarray(self.domain.points[rows])

    def evaluate(self, x: Array) -> PaidValue:
        """Look up a candidate."""
        row = int(self.domain.index_of(x[None, :])[0])
        return PaidValue(
            row,
            float(self.y[row]),
            float(self.judged[row]),
            {k: float(v[row]) for k, v in self.costs.items()},
            {k: float(v[row]) for k, v in self.judged_costs.items()},
        )

    def cost_model(self, cost: str) -> sw.beliefs.CostModel:
        """A known column, or one that is learned."""
        if cost not in self.costs:
            message = f"this problem has the prices {', '.join(self.costs)}, not {cost!r}."
            raise InputError(message)
        if cost == LEARNED:
            return sw.beliefs.LearnedCost("gamma")
        return sw.beliefs.KnownCost(self.costs[cost])
