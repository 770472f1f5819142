# SPDX-License-Identifier: Apache-2.0
"""What acquisitions and stopping rules ask of a model of the objective.

``Posterior`` offers it, and so can a model of another library. What needs more (sample paths,
covariances, the belief before the last observation) needs a ``Posterior``; see
``Belief.posterior``.
"""

from __future__ import annotations

from typing import Protocol

from stopwise.core.beliefs.laws import Law
from stopwise.core.numerics.arrays import Array


class Marginals(Protocol):
    """The law of f at each of some points."""

    def law(self, X: Array) -> Law:
        """The law of f at the rows of X, in the user's units."""
        ...

    def law_with_gradient(self, X: Array) -> tuple[Law, tuple[Array, ...]]:
        """The law and, for each of its parameters, the gradient in x, (rows, width)."""
        ...


class Surrogate(Marginals, Protocol):
    """A model of the objective after some observations. Immutable."""

    def __len__(self) -> int:
        """Number of observations."""
        ...

    @property
    def exact(self) -> bool:
        """Whether observations are exact, so that f is known where it was observed."""
        ...

    @property
    def unit(self) -> float:
        """A typical difference of two values of f, in the user's units."""
        ...

    @property
    def resolution(self) -> float:
        """A difference of f that the model cannot tell from zero for numerical reasons alone."""
        ...

    @property
    def column_lengthscales(self) -> Array:
        """The distance over which f changes, for each column of the encoded cube."""
        ...

    def relative_to(self, x: Array) -> Marginals:
        """The model as seen from x: means of f, deviations of f - f(x)."""
        ...
