# SPDX-License-Identifier: Apache-2.0
"""The ensemble: several posteriors of one objective, each with a weight.

One set of hyper-parameters and one warp are one guess of how the objective behaves. An ensemble
keeps several guesses and weighs them; what it says of f at a point is a mixture of what they say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stopwise.core.beliefs.difference_posterior import difference_posterior
from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.hyperparameters import ObjectiveFit
from stopwise.core.beliefs.laws import Doubted, Law, Mixture
from stopwise.core.beliefs.laws.mixture import checked_weights
from stopwise.core.beliefs.surrogate import Marginals
from stopwise.core.numerics.arrays import Array

_NEGLIGIBLE = 1e-6  # weight below which a component is not asked


@dataclass(frozen=True, eq=False)  # no slots: what derives from the fields is cached
class Ensemble:
    """A weighted mixture of posteriors given the same observations. Immutable.

    Args:
        components: The posteriors; the first reads values as they are.
        weights: One each, with a sum of 1.
        names: One each, for whoever explains them.
        trust: The probability that improvements that they promise are real.
    """

    components: tuple[Posterior, ...]
    weights: Array
    names: tuple[str, ...]
    trust: float = 1.0

    def __len__(self) -> int:
        """Number of observations."""
        return len(self.components[0])

    @property
    def fit(self) -> ObjectiveFit:
        """The hyper-parameters of the components, their weights and the trust."""
        hypers = tuple(component.hyper for component in self.components)
        return ObjectiveFit(hypers, tuple(self.weights.tolist()), self.trust)

    @property
    def exact(self) -> bool:
        """Whether observations are exact."""
        return self.components[0].exact

    @property
    def unit(self) -> float:
        """A typical difference of two values of f, by the first component."""
        return self.components[0].unit

    @property
    def resolution(self) -> float:
        """The coarsest resolution of a component."""
        return max(component.resolution for component in self._heard)

    @cached_property
    def column_lengthscales(self) -> Array:
        """Of each column, the geometric mean over components, by their weights."""
        logs = np.log([component.column_lengthscales for component in self._heard])
        return np.asarray(np.exp(self._heard_weights @ logs))

    def law(self, X: Array) -> Law:
        """The mixture of the components' laws."""
        return self._mixture.law(X)

    def law_with_gradient(self, X: Array) -> tuple[Law, tuple[Array, ...]]:
        """The mixture, and the gradients of the parameters of its components."""
        return self._mixture.law_with_gradient(X)

    def relative_to(self, x: Array, value: float) -> Marginals:
        """Every component's value + f - f(x), jointly with its own f(x)."""
        return self._mixed(tuple(difference_posterior(c, x, value) for c in self._heard))

    def each_relative_to(self, x: Array, value: float) -> list[Marginals]:
        """Every component alone, those without a weight too: as it is, or as seen from x."""
        if self.exact:
            return list(self.components)
        return [difference_posterior(component, x, value) for component in self.components]

    def append(self, x: Array, y: float) -> Ensemble:
        """The ensemble with one more observation, at unchanged hyper-parameters and weights."""
        return self._each(lambda component: component.append(x, y))

    def believing(self, x: Array, least: float = -np.inf) -> Ensemble:
        """Each component as if x had given its own median; see ``Posterior.believing``."""
        return self._each(lambda component: component.believing(x, least))

    def prefix(self, k: int) -> Ensemble:
        """The ensemble given the first k observations only, at the same weights."""
        return self._each(lambda component: component.prefix(k))

    @cached_property
    def weighted(self) -> tuple[tuple[float, Posterior], ...]:
        """The components that matter, with their weights."""
        return tuple(zip(self._heard_weights.tolist(), self._heard, strict=True))

    def _each(self, change: Callable[[Posterior], Posterior]) -> Ensemble:
        return replace(self, components=tuple(map(change, self.components)))

    def _mixed(self, models: tuple[Marginals, ...]) -> Marginals:
        return models[0] if len(models) == 1 else MixedMarginals(models, self._heard_weights)

    @cached_property
    def _mixture(self) -> Marginals:
        return self._mixed(self._heard)

    @cached_property
    def _heard(self) -> tuple[Posterior, ...]:
        return tuple(
            c for w, c in zip(self.weights, self.components, strict=True) if w > _NEGLIGIBLE
        )

    @cached_property
    def _heard_weights(self) -> Array:
        weights = self.weights[self.weights > _NEGLIGIBLE]
        return np.asarray(weights / weights.sum())


@dataclass(frozen=True, eq=False, slots=True)
class MixedMarginals:
    """The mixture of several models of f at points."""

    components: tuple[Marginals, ...]
    weights: Array

    def __post_init__(self) -> None:
        weights = checked_weights(self.weights, len(self.components))
        object.__setattr__(self, "weights", weights)

    def law(self, X: Array) -> Law:
        """The mixture of the laws."""
        return self._mixed([component.law(X) for component in self.components])

    def law_with_gradient(self, X: Array) -> tuple[Law, tuple[Array, ...]]:
        """The mixture, and the gradients of all parameters."""
        parts = [component.law_with_gradient(X) for component in self.components]
        gradients = tuple(gradient for _, gradients in parts for gradient in gradients)
        return self._mixed([law for law, _ in parts]), gradients

    def _mixed(self, laws: list[Law]) -> Mixture:
        """One mixture, also of components that are mixtures: it is asked as a whole."""
        if any(isinstance(law, Mixture) for law in laws):
            return Mixture(self.weights, laws)
        return Mixture.of_checked(self.weights, laws)


@dataclass(frozen=True, eq=False, slots=True)
class DoubtedMarginals:
    """A model whose improvements below a level are believed with a probability only."""

    model: Marginals
    level: float
    trust: float

    def law(self, X: Array) -> Law:
        """The doubted law."""
        return Doubted(self.model.law(X), self.level, self.trust)

    def law_with_gradient(self, X: Array) -> tuple[Law, tuple[Array, ...]]:
        """The doubted law; its parameters are those of the law."""
        law, gradients = self.model.law_with_gradient(X)
        return Doubted(law, self.level, self.trust), gradients
