# SPDX-License-Identifier: Apache-2.0
"""Cheapness: minus the log price, to find the cheapest point that is not taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from stopwise.core.beliefs.belief import Belief
from stopwise.core.numerics.arrays import Array, Mask


class PricedMoment(Protocol):
    """The parts of a snapshot that are read here."""

    @property
    def belief(self) -> Belief:
        """The belief, of which the price matters."""
        ...

    def taken(self, X: Array) -> Mask:
        """Which rows are taken."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class Cheapness:
    """Minus the log price, over points that are not taken."""

    snapshot: PricedMoment
    scales: None = None
    unit: float = 1.0

    def __call__(self, X: Array) -> Array:
        """Scores at the rows of X."""
        price = self.snapshot.belief.log_price(X)
        return np.where(self.snapshot.taken(X), -np.inf, -price)

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Scores and gradients."""
        price, gradient = self.snapshot.belief.log_price_with_gradient(X)
        return np.where(self.snapshot.taken(X), -np.inf, -price), -gradient
