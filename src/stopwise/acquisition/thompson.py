# SPDX-License-Identifier: Apache-2.0
"""Thompson sampling: the minimum of one posterior path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from stopwise.core.beliefs.paths import Paths, exact_values, sample_paths
from stopwise.core.numerics.arrays import Array, Indices
from stopwise.core.numerics.seeds import stream
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Finite

_EXACT = 300  # candidates up to which values are drawn jointly; features are faster beyond
_CERTAIN = 6.0  # a draw is outside Phi(-6) to Phi(6) with probability 2e-9


@dataclass(frozen=True, slots=True)
class ThompsonSampling:
    r"""A fresh draw :math:`f \sim p(f \mid D)` at every step; its minimiser is next.

    Assumes that the model is right: a point is chosen as often as it is believed to be the best.
    Blind to costs, and to the chance to succeed: in a path, a failure or a broken limit is an
    ordinary value. The path is addressed by the number of the trial, so it is another at every
    step (the published LCBench runs drew the same one again), and the same after a resume.

    References:
        Thompson (1933); Wilson et al. (2020) for the paths.
    """

    name: ClassVar[str] = "ts"
    draws_paths: ClassVar[bool] = True

    def bind(self, snapshot: Snapshot) -> TableScore | PathScore:
        """The score on a snapshot."""
        parts = snapshot.components
        if parts[0][1] is not snapshot:  # a component, then a path of it
            rng = stream(snapshot.seed, "thompson component", snapshot.trial)
            chosen = rng.choice(len(parts), p=[weight for weight, _ in parts])
            return self.bind(parts[int(chosen)][1])
        rng = stream(snapshot.seed, "thompson", snapshot.trial)
        posterior = snapshot.belief.posterior
        if not isinstance(snapshot.domain, Finite):
            return PathScore(snapshot, sample_paths(posterior, rng, 1))
        rows = _that_can_win(snapshot)
        points = snapshot.domain.points[rows]
        values = np.full(len(snapshot.domain), -np.inf)
        if len(rows) <= _EXACT:
            values[rows] = -exact_values(posterior, points, rng, 1)[0]
        else:
            values[rows] = -sample_paths(posterior, rng, 1, single=True)(points)[0]
        return TableScore(snapshot, values)


def _that_can_win(snapshot: Snapshot) -> Indices:
    """The candidates that may have the lowest value of a draw: most of a table cannot.

    The candidate with the lowest upper bound is below that bound, so none wins whose lower bound
    is above it.
    """
    points = cast("Finite", snapshot.domain).points
    law = snapshot.law(points)
    level = np.min(np.where(snapshot.barred(points), np.inf, law.quantile(_CERTAIN).value))
    return np.flatnonzero(law.quantile(-_CERTAIN).value <= level)


@dataclass(frozen=True, eq=False, slots=True)
class TableScore:
    """Scores of all candidates of a finite domain, from a table."""

    snapshot: Snapshot
    values: Array
    starts: Array | None = None
    scales: Array | None = None
    unit: float = 1.0

    def __call__(self, X: Array) -> Array:
        """Scores of candidates; -inf where one is evaluated or pending."""
        domain = cast("Finite", self.snapshot.domain)
        values = self.values if X is domain.points else self.values[domain.index_of(X)]
        return np.where(self.snapshot.barred(X), -np.inf, values)

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Between candidates there is nothing, so nothing changes."""
        return self(X), np.zeros_like(X)


@dataclass(frozen=True, eq=False, slots=True)
class PathScore:
    """Minus a sample path; evaluated and pending points are left out."""

    snapshot: Snapshot
    path: Paths
    starts: Array | None = None

    @property
    def scales(self) -> Array:
        """Length scales of the objective, per column."""
        return self.path.posterior.column_lengthscales

    @property
    def unit(self) -> float:
        """The objective's deviation."""
        return self.path.posterior.unit

    def __call__(self, X: Array) -> Array:
        """Scores at the rows of X."""
        return np.where(self.snapshot.barred(X), -np.inf, -self.path(X)[0])

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Scores and gradients."""
        value, gradient = self.path.with_gradient(X, np.zeros(len(X), dtype=np.intp))
        return np.where(self.snapshot.barred(X), -np.inf, -value), -gradient
