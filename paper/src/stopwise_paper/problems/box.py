# SPDX-License-Identifier: Apache-2.0
"""Problems on the unit cube: a Sobol design and the three synthetic costs, for all of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import cast

import numpy as np
from scipy.stats import qmc

import stopwise as sw
from stopwise_paper.arrays import Array
from stopwise_paper.problems.problem import PaidValue
from stopwise_paper.problems.synthetic_costs import KINDS, Kind, SyntheticCost
from stopwise_paper.seeds import stream


class OnBox(ABC):
    """A problem on the unit cube whose minimiser is known."""

    domain: sw.space.Domain
    minimiser: Array

    @abstractmethod
    def value(self, x: Array) -> float:
        """The objective at a point."""

    def initial(self, seed: int, n: int | None = None) -> Array:
        """The first n points of a Sobol sequence, or 2(d + 1)."""
        d = self.domain.d
        return sobol_points(d, n or 2 * (d + 1), seed)

    def evaluate(self, x: Array) -> PaidValue:
        """The value and all three costs at a point."""
        value = self.value(x)
        costs: dict[str, float] = {
            kind: float(self.cost_model(kind)(x[None, :])[0]) for kind in KINDS
        }
        return PaidValue(x, value, value, costs, costs)

    def cost_model(self, cost: str) -> SyntheticCost:
        """One of the three costs, as a price with gradients."""
        return SyntheticCost(cast("Kind", cost), self.minimiser)


def sobol_points(d: int, n: int, seed: int) -> Array:
    """The first n points of a scrambled Sobol sequence."""
    sequence = qmc.Sobol(d, rng=stream(seed, "experiment design"))
    return np.asarray(sequence.random_base2(math.ceil(math.log2(n)))[:n])
