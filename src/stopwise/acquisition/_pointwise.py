# SPDX-License-Identifier: Apache-2.0
"""Scores that depend on a point only through its mean, deviation and price.

An acquisition states its formula and three partial derivatives; the chain rule through the
Gaussian processes is written here, once. Evaluated and pending points are left out here too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from stopwise.core.beliefs.belief import Belief, Pricing
from stopwise.core.numerics.arrays import Array
from stopwise.core.snapshot import Snapshot


class Partials(NamedTuple):
    """A score and its derivatives in mean, deviation and log price."""

    value: Array
    d_mean: Array
    d_std: Array
    d_log_price: Array


class Formula(Protocol):
    """A score as a function of a normal marginal, its price and the best value."""

    def __call__(self, mean: Array, std: Array, log_price: Array, best: float) -> Partials:
        """Elementwise score, higher is better, with its partial derivatives."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class PointwiseScore:
    """A formula bound to a snapshot.

    Args:
        formula: The score of one point.
        snapshot: Where it is asked.
        pricing: How an uncertain price enters.
        starts: Points from which a search must start.
        exclude: Whether points that are not to be had are left out: evaluated, pending, too dear.
        from_incumbent: Whether the score is about f(x) - f(x*), as an improvement is.
        in_objective_units: Whether the score has the objective's unit (a logarithm has none).
        belief: What to believe instead of the snapshot's belief.
    """

    formula: Formula
    snapshot: Snapshot
    pricing: Pricing = "exp"
    starts: Array | None = None
    exclude: bool = True
    from_incumbent: bool = False
    in_objective_units: bool = False
    belief: Belief | None = None

    @property
    def scales(self) -> Array:
        """Length scales of the objective, per column."""
        posterior = self._belief.objective
        return posterior.hyper.lengthscales[posterior.groups]

    @property
    def unit(self) -> float:
        """What counts as a difference of 1 in the score."""
        return self._belief.objective.standardiser.scale if self.in_objective_units else 1.0

    def __call__(self, X: Array) -> Array:
        """Scores at the rows of X; -inf where a point is left out."""
        mean, std = self.snapshot.normal(X, self._belief, from_incumbent=self.from_incumbent)
        log_price = self._belief.log_price(X, self.pricing)
        return self._without_barred(X, self._formula(mean, std, log_price).value)

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Scores and their gradients in x."""
        seen = self.snapshot.seen(self._belief, from_incumbent=self.from_incumbent)
        (mean, std), d_mean, d_std = seen.with_gradient(X)
        log_price, d_price = self._belief.log_price_with_gradient(X, self.pricing)
        value, by_mean, by_std, by_price = self._formula(mean, std, log_price)
        gradient = (
            by_mean[:, None] * d_mean + by_std[:, None] * d_std + by_price[:, None] * d_price
        )
        return self._without_barred(X, value), gradient

    @property
    def _belief(self) -> Belief:
        return self.snapshot.belief if self.belief is None else self.belief

    def _formula(self, mean: Array, std: Array, log_price: Array) -> Partials:
        return self.formula(mean, std, log_price, self.snapshot.best)

    def _without_barred(self, X: Array, value: Array) -> Array:
        return np.where(self.snapshot.barred(X), -np.inf, value) if self.exclude else value
