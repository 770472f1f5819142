# SPDX-License-Identifier: Apache-2.0
"""The belief: a model of the objective and the price of evaluating it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from stopwise.core.beliefs.fit import NUGGET, fit_posterior
from stopwise.core.beliefs.gp import Posterior, condition
from stopwise.core.beliefs.hyperparameters import Hyperparameters
from stopwise.core.beliefs.prices import CostModel, LearnedCost, LearnedPrice, Price
from stopwise.core.beliefs.standardiser import Standardiser
from stopwise.core.beliefs.surrogate import Surrogate
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.lognormal import log_harmonic_mean, log_mean
from stopwise.core.space import Domain
from stopwise.errors import InputTypeError

Pricing = Literal["exp", "inv"]

_UNBOUNDED = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class Fitted:
    """The hyper-parameters of a belief; the next fits begin from them."""

    objective: Hyperparameters
    price: Hyperparameters | None = None


@dataclass(frozen=True, slots=True)
class Belief:
    """A model of the objective and the price of evaluating it.

    Args:
        objective: A ``Posterior``, or another library's model that offers the same laws.
        price: How ln c is distributed.
        bounds: The lowest and the highest value that f can have, to be minimised.
    """

    objective: Surrogate
    price: Price
    bounds: tuple[float, float] = _UNBOUNDED

    @property
    def posterior(self) -> Posterior:
        """The Gaussian process, for what laws at points cannot tell: paths, covariances, prefixes.

        Raises:
            InputTypeError: The model is another library's.
        """
        if isinstance(self.objective, Posterior):
            return self.objective
        message = (
            f"the objective's model is a {type(self.objective).__name__}, which gives the law of f"
            " at points alone; sample paths, covariances and the belief before an observation need"
            " stopwise's own Posterior (sw.beliefs.fit_posterior)."
        )
        raise InputTypeError(message)

    @property
    def fitted(self) -> Fitted:
        """The hyper-parameters; those of a price only if it was learned."""
        learned = self.price if isinstance(self.price, LearnedPrice) else None
        return Fitted(self.posterior.hyper, learned.posterior.hyper if learned else None)

    def prefix(self, k: int) -> Belief:
        """The belief in the objective after its first k observations; prices stay."""
        return replace(self, objective=self.posterior.prefix(k))

    def with_failures(self, X: Array, y: Array) -> Belief:
        """The belief that evaluations at the rows of X failed, where others gave y.

        Each is taken for an ordinary value, the median of y, or for what was expected there if
        that is worse. Choices and rules must believe the same: a rule that still hopes for a
        region in which evaluations fail does not stop. (The worst value instead, "floor padding",
        bends a smooth model so far that it is sure of what it does not know, and stops early.)
        """
        objective, ordinary = self.posterior, float(np.median(y))
        for x in X:
            expected = float(objective.law(x[None, :]).mean[0])
            objective = objective.append(x, max(ordinary, expected))
        return replace(self, objective=objective)

    def log_price(self, X: Array, pricing: Pricing = "exp") -> Array:
        """Log of the price at the rows of X: log E[c], or log 1/E[1/c] for ``"inv"``."""
        mean, std = self.price.log_cost(X)
        return log_mean(mean, std) if pricing == "exp" else log_harmonic_mean(mean, std)

    def log_price_with_gradient(self, X: Array, pricing: Pricing = "exp") -> tuple[Array, Array]:
        """Log price and its gradient in x."""
        (mean, std), d_mean, d_std = self.price.log_cost_with_gradient(X)
        if pricing == "exp":
            return log_mean(mean, std), d_mean + std[:, None] * d_std
        return log_harmonic_mean(mean, std), d_mean - std[:, None] * d_std


def believe(
    domain: Domain,
    X: Array,
    y: Array,
    *,
    paid: tuple[Array, Array],
    cost: CostModel,
    noise: float | Literal["learn"] | None = None,
    prior: str | None = "lognormal",
    start: Fitted | None = None,
    bounds: tuple[float, float] = _UNBOUNDED,
) -> Belief:
    """Fit objective and price to what was observed.

    Args:
        domain: The encoded space.
        X: Evaluated points.
        y: Their values, to be minimised.
        paid: Points at which something was paid, and what.
        cost: Where costs come from.
        noise: None for exact observations, a variance in squared units of y, or ``"learn"``.
        prior: Of the hyper-parameters.
        start: The hyper-parameters of an earlier belief, from which the fits begin.
        bounds: The lowest and the highest value that y can have.
    """
    if noise is None:
        variance: float | None = NUGGET
    elif noise == "learn":
        variance = None
    else:
        variance = float(noise) / Standardiser.of(y).scale ** 2
    objective = fit_posterior(
        X,
        y,
        groups=domain.groups,
        noise=variance,
        prior=prior,
        start=start.objective if start else None,
        interpolate=noise is None,
    )
    return Belief(objective, cost.price(domain, *paid, start.price if start else None), bounds)


def believe_as_fitted(
    domain: Domain,
    X: Array,
    y: Array,
    *,
    paid: tuple[Array, Array],
    cost: CostModel,
    fitted: Fitted,
    exact: bool,
    bounds: tuple[float, float] = _UNBOUNDED,
) -> Belief:
    """The belief at hyper-parameters that were fitted to the same data before.

    Args:
        domain: The encoded space.
        X: Evaluated points.
        y: Their values, to be minimised.
        paid: Points at which something was paid, and what.
        cost: Where costs come from.
        fitted: The hyper-parameters.
        exact: Whether observations are exact.
        bounds: The lowest and the highest value that y can have.
    """
    objective = condition(X, y, fitted.objective, groups=domain.groups, interpolate=exact)
    if isinstance(cost, LearnedCost) and fitted.price is not None:
        return Belief(objective, cost.price_as_fitted(domain, *paid, fitted.price), bounds)
    return Belief(objective, cost.price(domain, *paid, fitted.price), bounds)
