# SPDX-License-Identifier: Apache-2.0
"""Prices of evaluations: all alike, or known in advance, or learned from those paid.

A cost model is a value (``UnitCost``, ``KnownCost``, ``LearnedCost``); its ``price`` over a domain
says how ln c is distributed at encoded points. Decisions are priced by E[c]; see
``stopwise.core.numerics.lognormal``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.beliefs.fit import fit_posterior
from stopwise.core.beliefs.gp import Posterior, condition
from stopwise.core.beliefs.hyperparameters import Hyperparameters
from stopwise.core.beliefs.laws import Normal
from stopwise.core.checks import as_number
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.limits import LARGEST_AMOUNT, LEAST_AMOUNT
from stopwise.core.numerics.lognormal import log_mean, within_range
from stopwise.core.space import Candidates, Domain, Finite, Mixed
from stopwise.core.space.user_functions import called
from stopwise.errors import InputError, InputTypeError

Source = Callable[[Mapping[str, Any]], float]
COST_WORDS = ("seconds", "reported")  # for costs that are learned
_STEP = 1e-6  # of the unit cube, for central differences of a known cost


class Price(Protocol):
    """The distribution of ln c over encoded points."""

    def log_cost(self, X: Array) -> Normal:
        """Mean and deviation of ln c at the rows of X."""
        ...

    def log_cost_with_gradient(self, X: Array) -> tuple[Normal, Array, Array]:
        """The same with the gradients of mean and deviation in x."""
        ...


class CostModel(Protocol):
    """Where costs come from."""

    def price(
        self, domain: Domain, X: Array, costs: Array, start: Hyperparameters | None = None
    ) -> Price:
        """The price over a domain, given costs paid at the rows of X."""
        ...


@dataclass(frozen=True, slots=True)
class UnitCost:
    """Every evaluation costs the same; ``each`` is what one costs."""

    each: float = 1.0

    def price(self, *_: object, **__: object) -> Price:  # whatever has been paid
        """The same everywhere."""
        return _UnitPrice(self.each)


@dataclass(frozen=True, slots=True)
class Priced:
    """A price that was computed before and does not change."""

    known: Price

    def price(self, *_: object, **__: object) -> Price:  # whatever has been paid
        """The price."""
        return self.known


@dataclass(frozen=True, slots=True)
class KnownCost:
    """A cost that is known before it is paid.

    Args:
        source: A callable of the params, or an array with one cost per candidate of a finite
            domain.

    Example:
        >>> KnownCost(lambda params: 0.1 * params["layers"])  # doctest: +ELLIPSIS
        KnownCost(source=<function <lambda> at ...>)
    """

    source: Source | ArrayLike

    @classmethod
    def of_rows(cls, costs: ArrayLike, candidates: Candidates) -> KnownCost:
        """One cost per row of a table, in its order; of equal rows the first counts."""
        by_row = _as_costs(costs)
        if by_row.shape != candidates.index.shape:
            raise InputError(
                f"the costs have shape {by_row.shape}, the table has {candidates.index.size} rows:"
                " give one cost per row, in the same order."
            )
        _reject_unpayable(by_row, lambda i: f"row {i}")
        _, first = np.unique(candidates.index, return_index=True)
        return cls(by_row[first])

    def price(
        self,
        domain: Domain,
        X: Array,  # noqa: ARG002  costs that were paid change no known one
        costs: Array,  # noqa: ARG002
        start: Hyperparameters | None = None,  # noqa: ARG002
    ) -> Price:
        """The known cost as a price over the domain."""
        if isinstance(domain, Finite):
            return _TablePrice(domain, self._table(domain))
        if not callable(self.source):
            raise _not_a_table("a table of costs was given")
        return _CallablePrice(domain, self.source)

    def at(self, domain: Domain, params: Mapping[str, Any]) -> float:
        """The cost of one configuration, to the last bit as it was given."""
        if callable(self.source):
            return float(_evaluate(self.source, [dict(params)], domain.names)[0])
        if not isinstance(domain, Finite):
            raise _not_a_table("a table of costs was given")
        [at] = domain.index_of(domain.encode(params)).tolist()
        if at < 0:
            raise InputError(f"{dict(params)} is in no row, so its cost is not known: tell it.")
        return float(self._table(domain)[at])

    def _table(self, domain: Finite) -> Array:
        """One cost per candidate."""
        if callable(self.source):
            return _evaluate(self.source, domain.decode(domain.points), domain.names)
        costs = _as_costs(self.source)
        if costs.shape != (len(domain),):
            message = (
                f"the costs have shape {costs.shape}, the space has {len(domain)} candidates: give"
                " one cost per candidate, in their order (KnownCost.of_rows takes a table's rows)."
            )
            raise InputError(message)
        _reject_unpayable(costs, lambda i: f"candidate {i}")
        return costs


@dataclass(frozen=True, slots=True)
class LearnedCost:
    """A GP on ln c that learns its noise, because runtimes vary.

    The deviation it reports is the predictive one, noise included: that is what is paid.
    """

    prior: str | None = "lognormal"

    def price(
        self, domain: Domain, X: Array, costs: Array, start: Hyperparameters | None = None
    ) -> Price:
        """Fit ln c to what was paid."""
        costs = np.asarray(costs, dtype=np.float64)
        if not costs.size:
            message = "a learned cost needs at least one cost that was paid: tell one first."
            raise InputError(message)
        _reject_unpayable(costs, lambda i: f"observation {i}")
        return LearnedPrice(
            fit_posterior(
                X, np.log(costs), groups=domain.groups, noise=None, prior=self.prior, start=start
            )
        )

    def price_as_fitted(
        self, domain: Domain, X: Array, costs: Array, hyper: Hyperparameters
    ) -> Price:
        """The price at hyper-parameters that were fitted to the same costs before."""
        return LearnedPrice(condition(X, np.log(costs), hyper, groups=domain.groups))


@dataclass(frozen=True, slots=True)
class LearnedPrice:
    """The predictive distribution of ln c: a posterior and its noise."""

    posterior: Posterior

    def log_cost(self, X: Array) -> Normal:
        """Mean and predictive deviation of ln c."""
        mean, std = self.posterior(X)
        return Normal(mean, np.hypot(std, self._noise()))

    def log_cost_with_gradient(self, X: Array) -> tuple[Normal, Array, Array]:
        """The same with gradients in x."""
        (mean, std), d_mean, d_std = self.posterior.with_gradient(X)
        predictive = np.hypot(std, self._noise())
        return Normal(mean, predictive), d_mean, d_std * (std / predictive)[:, None]

    def _noise(self) -> float:
        return float(np.sqrt(self.posterior.hyper.noise)) * self.posterior.standardiser.scale


@dataclass(frozen=True, slots=True)
class _UnitPrice:
    each: float

    def cost(self, X: Array) -> Array:
        return np.full(len(X), self.each)

    def log_cost(self, X: Array) -> Normal:
        return Normal(np.full(len(X), math.log(self.each)), np.zeros(len(X)))

    def log_cost_with_gradient(self, X: Array) -> tuple[Normal, Array, Array]:
        return self.log_cost(X), np.zeros(X.shape), np.zeros(X.shape)


@dataclass(frozen=True, slots=True, eq=False)
class _TablePrice:
    """Costs of the candidates of a finite domain."""

    domain: Finite
    costs: Array

    def cost(self, X: Array) -> Array:
        if X is self.domain.points:  # the whole table, the common question, needs no look-up
            return self.costs
        return self.costs[self.domain.index_of(self.domain.snap(X))]

    def log_cost(self, X: Array) -> Normal:
        return Normal(np.log(self.cost(X)), np.zeros(len(X)))

    def log_cost_with_gradient(self, X: Array) -> tuple[Normal, Array, Array]:
        # Between the rows of a table there is nothing to be had, so nothing changes.
        return self.log_cost(X), np.zeros(X.shape), np.zeros(X.shape)


@dataclass(frozen=True, slots=True)
class _CallablePrice:
    """ln of a known cost; its gradient by central differences along the continuous columns."""

    domain: Mixed
    source: Source

    def cost(self, X: Array) -> Array:
        return _evaluate(self.source, self.domain.decode(X), self.domain.names)

    def log_cost(self, X: Array) -> Normal:
        return Normal(np.log(self.cost(X)), np.zeros(len(X)))

    def log_cost_with_gradient(self, X: Array) -> tuple[Normal, Array, Array]:
        columns = np.flatnonzero(self.domain.real)
        steps = np.zeros((columns.size, X.shape[1]))
        steps[np.arange(columns.size), columns] = _STEP
        above = np.clip(X[:, None, :] + steps, 0.0, 1.0)
        below = np.clip(X[:, None, :] - steps, 0.0, 1.0)
        stacked = np.concatenate([X[:, None, :], above, below], axis=1)
        logs = self.log_cost(stacked.reshape(-1, X.shape[1])).mean.reshape(len(X), -1)
        runs = (above - below)[:, np.arange(columns.size), columns]  # one-sided at the walls
        gradient = np.zeros(X.shape)
        split = 1 + columns.size
        gradient[:, columns] = (logs[:, 1:split] - logs[:, split:]) / runs
        return Normal(logs[:, 0], np.zeros(len(X))), gradient, np.zeros(X.shape)


def expected_cost(price: Price, X: Array) -> Array:
    """E[c] at the rows of X; a cost that is known comes back to the last bit."""
    if isinstance(price, _UnitPrice | _TablePrice | _CallablePrice):
        return price.cost(X)
    return np.exp(within_range(log_mean(*price.log_cost(X))))


def _evaluate(source: Source, params: list[dict[str, Any]], names: Collection[str]) -> Array:
    advice = "A cost callable takes the params, one dict, and returns what they cost."
    of = {"what": "cost function", "returns": "what they cost"}
    given = [called(source, p, names, **of) for p in params]
    costs = np.array([as_number("a cost", cost, advice) for cost in given])
    _reject_unpayable(costs, lambda i: f"params {params[i]}")
    return costs


def _as_costs(given: ArrayLike) -> Array:
    """Costs as an array."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        message = f"costs that are not an array of floats ({error}): give one number per row."
        raise InputTypeError(message) from None


def _reject_unpayable(costs: Array, name: Callable[[int], str]) -> None:
    """An error that names the first cost that is zero, negative, not finite or out of range."""
    bad = np.flatnonzero(~((costs >= LEAST_AMOUNT) & (costs <= LARGEST_AMOUNT)))
    if bad.size:
        first = int(bad[0])
        message = (
            f"a cost must be positive and finite: {name(first)} costs {float(costs[first])!r}"
            f" ({bad.size} of {costs.size} are not allowed). Give what is really paid; a free"
            " evaluation is worth making without asking. Costs may be from"
            f" {LEAST_AMOUNT:g} to {LARGEST_AMOUNT:g}, in any unit."
        )
        raise InputError(message)


def cost_model(given: object, space: object) -> CostModel:
    """What ``cost=`` means: None, a number, a callable, one cost per row, a word, or a model.

    Args:
        given: See ``Study``.
        space: The space as the user gave it; costs by row need ``Candidates``.
    """
    if given is None:
        return UnitCost()
    if isinstance(given, str):
        if given in COST_WORDS:
            return LearnedCost()
        message = (
            f"cost={given!r} is not known: give 'seconds' (measured), 'reported' (told), a number"
            " (each costs that), a callable of the params, one cost per row of sw.Candidates, or"
            " None (each costs 1)."
        )
        raise InputError(message)
    if isinstance(given, int | float | np.number) and not isinstance(given, bool):
        _reject_unpayable(np.array([float(given)]), lambda _: "each evaluation")
        return UnitCost(float(given))
    if hasattr(given, "price"):
        return cast("CostModel", given)
    if callable(given):
        return KnownCost(given)
    if isinstance(space, Candidates):
        return KnownCost.of_rows(cast("ArrayLike", given), space)
    raise _not_a_table(f"cost of type {type(given).__name__}")


def is_known(model: CostModel) -> bool:
    """Whether costs are known before they are paid."""
    return isinstance(model, UnitCost | KnownCost)


def known_cost(model: CostModel, domain: Domain, params: Mapping[str, Any]) -> float | None:
    """What an evaluation costs if that is known in advance; None where it must be told."""
    if isinstance(model, UnitCost):
        return model.each
    return model.at(domain, params) if isinstance(model, KnownCost) else None


def _not_a_table(what: str) -> InputTypeError:
    return InputTypeError(
        f"{what} for a space that is not a table: give a callable of the params, a number where"
        " every evaluation costs the same, or make the space sw.Candidates(rows)."
    )
