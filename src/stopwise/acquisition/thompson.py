# SPDX-License-Identifier: Apache-2.0
"""Thompson sampling: the minimum of one posterior path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from stopwise.core.beliefs.drawn_success import JointSuccess, SuccessPaths
from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.paths import Paths, exact_values, sample_paths
from stopwise.core.numerics.arrays import Array, Indices
from stopwise.core.numerics.seeds import stream
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Finite

_EXACT = 300  # candidates up to which values are drawn jointly; features are faster beyond
_CERTAIN = 6.0  # a draw is outside Phi(-6) to Phi(6) with probability 2e-9
_WORSE = 10.0  # deviations above the worst value, where a path counts that does not succeed


@dataclass(frozen=True, slots=True)
class ThompsonSampling:
    r"""A fresh draw :math:`f \sim p(f \mid D)` at every step; its minimiser is next.

    Assumes that the model is right: a point is chosen as often as it is believed to be the best.
    Blind to costs. Where evaluations may fail or break a limit, it is drawn too where they
    succeed, and the lowest value there is next; if there is none, the point that misses success by
    least. The path is addressed by the number of the trial, so it is another at every step (the
    published LCBench runs drew the same one again), and the same after a resume.

    References:
        Thompson (1933); Wilson et al. (2020) for the paths; Eriksson and Poloczek (2021) for
        draws of success.
    """

    name: ClassVar[str] = "ts"

    def bind(self, snapshot: Snapshot) -> TableScore | PathScore:
        """The score on a snapshot."""
        parts = snapshot.components
        if parts[0][1] is not snapshot:  # a component, then a path of it
            rng = stream(snapshot.seed, "thompson component", snapshot.trial)
            chosen = rng.choice(len(parts), p=[weight for weight, _ in parts])
            return self.bind(parts[int(chosen)][1])
        rng = stream(snapshot.seed, "thompson", snapshot.trial)
        posterior = snapshot.belief.posterior
        success, ceiling = snapshot.belief.success, _ceiling(snapshot, posterior)
        if not isinstance(snapshot.domain, Finite):
            path = sample_paths(posterior, rng, 1)
            drawn = None if success is None else SuccessPaths.of(success, rng, 1)
            return PathScore(snapshot, path, drawn, ceiling)
        rows = _that_can_win(snapshot)
        points = snapshot.domain.points[rows]
        if len(rows) <= _EXACT:
            drawn_values = exact_values(posterior, points, rng, 1)[0]
        else:
            drawn_values = sample_paths(posterior, rng, 1, single=True)(points)[0]
        if success is not None:
            if len(rows) <= _EXACT:
                excess = JointSuccess.at(success, points).excess(rng, 1)[0]
            else:
                excess = SuccessPaths.of(success, rng, 1).excess(points)[0]
            worse = ceiling + posterior.unit * excess
            drawn_values = np.where(excess > 0.0, worse, drawn_values)
        values = np.full(len(snapshot.domain), -np.inf)
        values[rows] = -drawn_values
        return TableScore(snapshot, values)


def _ceiling(snapshot: Snapshot, posterior: Posterior) -> float:
    """A value that is worse than all that are of interest."""
    return float(np.max(snapshot.y)) + _WORSE * posterior.unit


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
    """Minus a sample path; evaluated and pending points are left out.

    Attributes:
        snapshot: The moment.
        path: The path.
        success: The draw of where evaluations succeed; None where they are certain to.
        ceiling: What a point counts as that just fails to succeed.
        starts: Points from which searches begin.
    """

    snapshot: Snapshot
    path: Paths
    success: SuccessPaths | None = None
    ceiling: float = np.inf
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
        value = self.path(X)[0]
        if self.success is not None:
            excess = self.success.excess(X)[0]
            value = np.where(excess > 0.0, self.ceiling + self.unit * excess, value)
        return np.where(self.snapshot.barred(X), -np.inf, -value)

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Scores and gradients."""
        which = np.zeros(len(X), dtype=np.intp)
        value, gradient = self.path.with_gradient(X, which)
        if self.success is not None:
            excess, slope = self.success.excess_with_gradient(X, which)
            fails = excess > 0.0
            value = np.where(fails, self.ceiling + self.unit * excess, value)
            gradient = np.where(fails[:, None], self.unit * slope, gradient)
        return np.where(self.snapshot.barred(X), -np.inf, -value), -gradient
