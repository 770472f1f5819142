# SPDX-License-Identifier: Apache-2.0
"""The chance to succeed per unit of cost: what is looked for while nothing keeps the limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.core.numerics.arrays import Array
from stopwise.core.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class ChancePerCost:
    r"""Score :math:`\log p(x) - \log c(x)`, with the chance p that an evaluation succeeds.

    Before there is a feasible value nothing can be improved, so values do not enter.
    """

    name: ClassVar[str] = "chance"

    def bind(self, snapshot: Snapshot) -> ChanceScore:
        """The score on a snapshot."""
        return ChanceScore(snapshot)


@dataclass(frozen=True, eq=False, slots=True)
class ChanceScore:
    """The score bound to a snapshot; points that are not to be had are left out."""

    snapshot: Snapshot
    starts: None = None
    unit: float = 1.0

    @property
    def scales(self) -> Array:
        """Length scales of the objective, per column."""
        return self.snapshot.belief.objective.column_lengthscales

    def __call__(self, X: Array) -> Array:
        """Scores at the rows of X."""
        belief = self.snapshot.belief
        score = belief.log_chance(X) - belief.log_price(X)
        return np.where(self.snapshot.barred(X), -np.inf, score)

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Scores and gradients."""
        belief = self.snapshot.belief
        log_price, d_log_price = belief.log_price_with_gradient(X)
        log_chance, d_log_chance = belief.log_chance_with_gradient(X)
        score = np.where(self.snapshot.barred(X), -np.inf, log_chance - log_price)
        return score, d_log_chance - d_log_price
