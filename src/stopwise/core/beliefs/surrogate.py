# SPDX-License-Identifier: Apache-2.0
"""The protocol of surrogates: what acquisitions and rules ask of a model of the objective.

``Posterior`` and ``Ensemble`` offer it, and so can a model of another library. What needs more
(sample paths, covariances, the belief before the last observation) needs one of stopwise's own;
see ``Belief.own``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol, Self

from stopwise.core.beliefs.hyperparameters import ObjectiveFit
from stopwise.core.beliefs.laws import Law
from stopwise.core.numerics.arrays import Array

if TYPE_CHECKING:
    from stopwise.core.beliefs.gp import Posterior


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

    def relative_to(self, x: Array, value: float) -> Marginals:
        """The model of value + f - f(x), jointly: what f would be if f(x) were the value."""
        ...


class Updatable(Surrogate, Protocol):
    """A surrogate of stopwise's own: what a study goes on with after each observation."""

    @property
    def fit(self) -> ObjectiveFit:
        """What was fitted; the next fit starts from it."""
        ...

    @property
    def trust(self) -> float:
        """The probability that improvements that the model promises are real."""
        ...

    @property
    def weighted(self) -> tuple[tuple[float, Posterior], ...]:
        """The posteriors that it is made of, with their weights."""
        ...

    def append(self, x: Array, y: float) -> Self:
        """With one more observation, at unchanged hyper-parameters."""
        ...

    def believing(self, x: Array, least: float = -math.inf) -> Self:
        """As if x had given the median that is expected there, or ``least`` if that is more."""
        ...

    def prefix(self, k: int) -> Self:
        """Given only the first k observations, at the same hyper-parameters."""
        ...
