# SPDX-License-Identifier: Apache-2.0
"""The score: a function of encoded points that a search maximises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from stopwise.core.numerics.arrays import Array

_FAR = 1e300  # sums and differences of two such numbers are floats too


class Score(Protocol):
    """A function of encoded points, to be maximised.

    A score excludes a point, such as one that was evaluated already, by the value ``-inf``. A
    value that is ``nan`` counts as ``-inf``.
    """

    @property
    def scales(self) -> Array | None:
        """The distance over which the score changes, per column; None if that is not known."""
        ...

    @property
    def unit(self) -> float:
        """The size of a difference that matters: searches end at small fractions of it."""
        ...

    def __call__(self, X: Array) -> Array:
        """Values at the rows of X."""
        ...

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Values and gradients at the rows of X."""
        ...


@dataclass(frozen=True, slots=True)
class NormalisedScore:
    """A score divided by its unit, so that one set of tolerances suits every score."""

    score: Score
    unit: float = 1.0

    @property
    def scales(self) -> Array | None:
        """Those of the score."""
        return self.score.scales

    def __call__(self, X: Array) -> Array:
        """Values in units of the score."""
        return self._in_units(self.score(X))

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Values and gradients in units of the score."""
        values, gradients = self.score.with_gradient(X)
        with np.errstate(over="ignore"):  # a search takes infinite slopes for none
            gradients = gradients / self.score.unit
        return self._in_units(values), gradients

    def _in_units(self, values: Array) -> Array:
        with np.errstate(over="ignore"):
            quotients = values / self.score.unit
        if np.isfinite(quotients).all():
            return quotients
        # What no float holds is far away, and not excluded.
        far = np.isinf(quotients) & np.isfinite(values)
        return np.where(far, np.copysign(_FAR, quotients), quotients)


def nan_excluded(values: Array) -> Array:
    """Values with ``-inf`` for ``nan``: a point without a value is excluded."""
    return np.where(np.isnan(values), -np.inf, values)


def highest(X: Array, values: Array, count: int) -> tuple[Array, Array]:
    """The ``count`` highest points that are not excluded, best first."""
    order = np.argsort(-values, kind="stable")[:count]
    order = order[values[order] > -np.inf]
    return X[order], values[order]


class BoundScore(Score, Protocol):
    """A score that may bring points from which its search must start."""

    @property
    def starts(self) -> Array | None:
        """Encoded points that the answer must not be worse than."""
        ...
