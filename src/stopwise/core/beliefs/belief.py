# SPDX-License-Identifier: Apache-2.0
"""The belief: a model of the objective and the price of evaluating it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Unpack

import numpy as np

from stopwise.core.beliefs.ensemble import Ensemble
from stopwise.core.beliefs.extending import extended
from stopwise.core.beliefs.foresight import Seen
from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.hyperparameters import Hyperparameters, ObjectiveFit
from stopwise.core.beliefs.models import Data, DataOptions, PlainModel, SurrogateModel
from stopwise.core.beliefs.prices import CostModel, LearnedCost, LearnedPrice, Price
from stopwise.core.beliefs.success import Success
from stopwise.core.beliefs.surrogate import Marginals, Surrogate, Updatable
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.lognormal import log_harmonic_mean, log_mean, within_range
from stopwise.core.space import Domain
from stopwise.core.space.finite import codec_of
from stopwise.errors import InputTypeError

Pricing = Literal["exp", "inv"]

_PLAIN = PlainModel()


@dataclass(frozen=True, slots=True)
class Fitted:
    """The hyper-parameters of a belief; the next fits begin from them."""

    objective: ObjectiveFit
    price: Hyperparameters | None = None


@dataclass(frozen=True, slots=True)
class Belief:
    """A model of the objective and the price of evaluating it.

    Args:
        objective: A ``Posterior``, an ``Ensemble``, or another library's model that offers laws.
        price: How ln c is distributed.
        success: The chance that an evaluation succeeds; None where nothing speaks against it.
    """

    objective: Surrogate
    price: Price
    success: Success | None = None

    @property
    def own(self) -> Updatable:
        """The model, for what laws at points cannot tell: paths, covariances, prefixes.

        Raises:
            InputTypeError: The model is another library's.
        """
        if isinstance(self.objective, Posterior | Ensemble):
            return self.objective
        message = (
            f"the objective's model is a {type(self.objective).__name__}, which gives the law of f"
            " at points alone; sample paths, covariances and the belief before an observation need"
            " stopwise's own Posterior (sw.beliefs.fit_posterior)."
        )
        raise InputTypeError(message)

    @property
    def trust(self) -> float:
        """The probability that improvements that the model promises are real."""
        return self.own.trust if isinstance(self.objective, Posterior | Ensemble) else 1.0

    @property
    def components(self) -> tuple[tuple[float, Belief], ...]:
        """A belief for each posterior of the model, with its weight; the rest is shared."""
        parts = self.own.weighted
        return tuple((w, replace(self, objective=posterior)) for w, posterior in parts)

    @property
    def posterior(self) -> Posterior:
        """The posterior of a belief that has only one.

        Raises:
            InputTypeError: The model has several, or is another library's.
        """
        if len(self.own.weighted) == 1:
            return self.own.weighted[0][1]
        message = "this belief has several posteriors: take Belief.components, one after another."
        raise InputTypeError(message)

    @property
    def fitted(self) -> Fitted:
        """The hyper-parameters; those of a price only if it was learned."""
        learned = self.price if isinstance(self.price, LearnedPrice) else None
        return Fitted(self.own.fit, learned.posterior.hyper if learned else None)

    def prefix(self, k: int) -> Belief:
        """The belief in the objective after its first k observations; prices stay.

        It knows nothing of failures, which have no place among the observations.
        """
        return replace(self, objective=self.own.prefix(k), success=None)

    def with_chance(self, model: Marginals) -> Marginals:
        """A model of f whose values come with the chance to succeed."""
        return model if self.success is None else self.success.of(model)

    def log_chance(self, X: Array) -> Array:
        """Log of the chance to succeed at the rows of X."""
        return np.zeros(len(X)) if self.success is None else self.success.log_chance(X)

    def log_chance_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """The same with its gradient in x."""
        if self.success is None:
            return np.zeros(len(X)), np.zeros(X.shape)
        return self.success.log_chance_with_gradient(X)

    def with_failures(self, X: Array, least: float) -> Belief:
        """The belief that evaluations at the rows of X failed.

        Each is taken for a value, ``least`` or what was expected there if that is worse. Choices
        and rules must believe the same: a rule that still hopes for a region in which evaluations
        fail does not stop.

        Args:
            X: Where they failed.
            least: The best value so far, where the chance to succeed is learned too: what failed
                has gained nothing. Else the median of the values. (The worst value, "floor
                padding", bends a smooth model so far that it is sure of what it does not know.)
        """
        objective = self.own
        for x in X:
            objective = objective.believing(x, least)
        return replace(self, objective=objective)

    def with_pending(self, X: Array) -> Belief:
        """The belief as if the rows of X had given their medians, each component its own.

        This is the kriging believer of Ginsbourger, Le Riche and Carraro (2010).
        """
        objective = self.own
        for x in X:
            objective = objective.believing(x)
        return replace(self, objective=objective)

    def log_price(self, X: Array, pricing: Pricing = "exp") -> Array:
        """Log of the price at the rows of X: log E[c], or log 1/E[1/c] for ``"inv"``."""
        mean, std = self.price.log_cost(X)
        formula = log_mean if pricing == "exp" else log_harmonic_mean
        return within_range(formula(mean, std))

    def log_price_with_gradient(self, X: Array, pricing: Pricing = "exp") -> tuple[Array, Array]:
        """Log price and its gradient in x."""
        (mean, std), d_mean, d_std = self.price.log_cost_with_gradient(X)
        if pricing == "exp":
            return within_range(log_mean(mean, std)), d_mean + std[:, None] * d_std
        return within_range(log_harmonic_mean(mean, std)), d_mean - std[:, None] * d_std


def data_of(domain: Domain, X: Array, y: Array, **about: Unpack[DataOptions]) -> Data:
    """Observations of a domain, as models of the objective take them.

    Args:
        domain: The encoded space.
        X: Evaluated points.
        y: Their values, to be minimised.
        **about: What the user said about the values; see ``Data``.
    """
    deciding = codec_of(domain).conditions.deciding
    return Data(X, y, domain.groups, deciding=deciding, **about)


def believe(
    domain: Domain,
    X: Array,
    y: Array,
    *,
    paid: tuple[Array, Array],
    cost: CostModel,
    model: SurrogateModel = _PLAIN,
    start: Fitted | None = None,
    seen: Sequence[Seen] = (),
    **about: Unpack[DataOptions],
) -> Belief:
    """Fit objective and price to what was observed.

    Args:
        domain: The encoded space.
        X: Evaluated points.
        y: Their values, to be minimised.
        paid: Points at which something was paid, and what.
        cost: Where costs come from.
        model: How the objective is modelled.
        start: The hyper-parameters of an earlier belief, from which the fits begin.
        seen: What earlier choices were expected to bring, and whether it came.
        **about: What the user said about the values; see ``Data``.
    """
    data = data_of(domain, X, y, **about)
    objective = model.fit(data, start.objective if start else None, seen)
    return Belief(objective, cost.price(domain, *paid, start.price if start else None))


def believe_as_fitted(
    domain: Domain,
    X: Array,
    y: Array,
    *,
    paid: tuple[Array, Array],
    cost: CostModel,
    fitted: Fitted,
    model: SurrogateModel = _PLAIN,
    first: Updatable | None = None,
    **about: Unpack[DataOptions],
) -> Belief:
    """The belief at hyper-parameters that were fitted to the same data before, or to the first.

    Args:
        domain: The encoded space.
        X: Evaluated points.
        y: Their values, to be minimised.
        paid: Points at which something was paid, and what.
        cost: Where costs come from.
        fitted: The hyper-parameters.
        model: How the objective is modelled.
        first: The surrogate of the first observations at these hyper-parameters, if there is one:
            it is extended, which is much quicker than to begin anew.
        **about: What the user said about the values; see ``Data``.
    """
    fit = fitted.objective
    if first is None:
        objective = model.as_fitted(data_of(domain, X, y, **about), fit)
    else:
        objective = extended(first, X, y, fit)
    if isinstance(cost, LearnedCost) and fitted.price is not None:
        return Belief(objective, cost.price_as_fitted(domain, *paid, fitted.price))
    return Belief(objective, cost.price(domain, *paid, fitted.price))
