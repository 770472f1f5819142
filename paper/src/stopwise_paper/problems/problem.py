# SPDX-License-Identifier: Apache-2.0
"""What a problem is: where to look, what comes back, what it costs, what it is judged by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from stopwise.core.beliefs.prices import CostModel, KnownCost, LearnedCost
from stopwise.core.numerics.seeds import stream
from stopwise.core.space import Domain, Finite
from stopwise.errors import InputError
from stopwise_paper.arrays import Array

LEARNED = "learned"  # the price that is not known: decisions learn it from what was paid


class Outcome(NamedTuple):
    """What came back from one evaluation; costs by price."""

    where: Any
    value: float
    judged: float
    costs: Mapping[str, float]
    judged_costs: Mapping[str, float]


class Problem(Protocol):
    """A problem of the paper.

    ``kernel`` is ``"known"`` where objectives are drawn from the model, at this length scale, and
    ``"fitted"`` where hyper-parameters are.
    """

    @property
    def domain(self) -> Domain:
        """Where to look."""
        ...

    @property
    def optimum(self) -> float:
        """The best judged value that can be had."""
        ...

    @property
    def epsilon(self) -> float:
        """Of the probabilistic regret bound."""
        ...

    @property
    def kernel(self) -> Literal["known", "fitted"]:
        """See above."""
        ...

    @property
    def lengthscale(self) -> float:
        """Of a known kernel."""
        ...

    @property
    def facts(self) -> Mapping[str, str | float]:
        """What to remember beside a trajectory."""
        ...

    def initial(self, seed: int, n: int | None = None) -> Array:
        """The initial design, encoded: n points, or 2(d + 1)."""
        ...

    def evaluate(self, x: Array) -> Outcome:
        """What comes back at an encoded point."""
        ...

    def cost_model(self, cost: str) -> CostModel:
        """How decisions are priced."""
        ...


@dataclass(frozen=True, eq=False)
class Table:
    """A problem that is a table: one row per candidate, everything looked up.

    Args:
        domain: The candidates.
        y: What is optimised, minimised, one per candidate.
        judged: What it is scored by; the test error, say.
        costs: What decisions may be priced by, by name; the price ``learned`` is what is paid and
            must be learned.
        judged_costs: What is really paid, by the same names.
        epsilon: Of the probabilistic regret bound.
        kernel: See ``Problem``.
        lengthscale: See ``Problem``.
        facts: What to remember beside a trajectory.
    """

    domain: Finite
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
        return float(self.judged.min())

    def initial(self, seed: int, n: int | None = None) -> Array:
        """Distinct candidates at random; a smaller design is the beginning of the usual one."""
        rng = stream(seed, "experiment design")
        usual = 2 * (self.domain.d + 1)
        n = n or usual
        rows = rng.choice(len(self.domain), max(n, usual), replace=False)[:n]
        return np.asarray(self.domain.points[rows])

    def evaluate(self, x: Array) -> Outcome:
        """Look a candidate up."""
        row = int(self.domain.index_of(x[None, :])[0])
        return Outcome(
            row,
            float(self.y[row]),
            float(self.judged[row]),
            {k: float(v[row]) for k, v in self.costs.items()},
            {k: float(v[row]) for k, v in self.judged_costs.items()},
        )

    def cost_model(self, cost: str) -> CostModel:
        """A known column, or one that is learned."""
        if cost not in self.costs:
            message = f"this problem has the prices {', '.join(self.costs)}, not {cost!r}."
            raise InputError(message)
        return LearnedCost("gamma") if cost == LEARNED else KnownCost(self.costs[cost])
