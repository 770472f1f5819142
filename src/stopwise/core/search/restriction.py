# SPDX-License-Identifier: Apache-2.0
"""The restriction of a search to what a domain allows.

Points that violate a constraint are excluded, and never shown to the objective. Parameters that
are inactive have no slope, so that searches leave them where they are. On a domain without
conditions and constraints nothing changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stopwise.core.numerics.arrays import Array
from stopwise.core.search.batched_bfgs import Objective
from stopwise.core.search.score import Score
from stopwise.core.space import Mixed


def restricted(objective: Objective, domain: Mixed) -> Objective:
    """An objective that excludes what the domain does not allow."""
    if not domain.is_conditional and not domain.constraints:
        return objective

    def evaluate(X: Array) -> tuple[Array, Array]:
        allowed = domain.allowed(X)
        values, gradients = np.full(len(X), -np.inf), np.zeros(X.shape)
        if allowed.any():
            values[allowed], gradients[allowed] = objective(X[allowed])
        return values, np.where(domain.moving(X), gradients, 0.0)

    return evaluate


def excluded(domain: Mixed, X: Array, values: Array, gradients: Array) -> tuple[Array, Array]:
    """Values and gradients at X without those that the domain does not allow."""
    if not domain.is_conditional and not domain.constraints:
        return values, gradients
    values = np.where(domain.allowed(X), values, -np.inf)
    return values, np.where(domain.moving(X), gradients, 0.0)


def restricted_score(score: Score, domain: Mixed) -> Score:
    """A score that excludes what the domain does not allow."""
    if not domain.is_conditional and not domain.constraints:
        return score
    return _RestrictedScore(score, domain)


@dataclass(frozen=True, slots=True)
class _RestrictedScore:
    score: Score
    domain: Mixed

    @property
    def scales(self) -> Array | None:
        return self.score.scales

    @property
    def unit(self) -> float:
        return self.score.unit

    def __call__(self, X: Array) -> Array:
        allowed = self.domain.allowed(X)
        values = np.full(len(X), -np.inf)
        if allowed.any():
            values[allowed] = self.score(X[allowed])
        return values

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        return restricted(self.score.with_gradient, self.domain)(X)
