# SPDX-License-Identifier: Apache-2.0
"""Scores that depend on a point only through the law of f there and its price.

An acquisition states its formula and its derivatives in the parameters of the law and the log
price; the chain rule to x is written here, once. Evaluated and pending points are left out here
too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from stopwise.core.beliefs.belief import Belief, Pricing
from stopwise.core.beliefs.laws import Law
from stopwise.core.beliefs.surrogate import Marginals
from stopwise.core.beliefs.utilities import worth_of_unit
from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.search.screened import screened
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Finite
from stopwise.errors import InputError

_MANY = 4096  # candidates from which on it is worth while to look for contenders
_SMALL = 0.01  # of the spread of the values: gains below this are late


class Partials(NamedTuple):
    """A score and its derivatives: in each parameter of the law, and in the log price."""

    value: Array
    d_law: tuple[Array, ...]
    d_log_price: Array


class Formula(Protocol):
    """A score as a function of a law, its log price and the best value."""

    def __call__(self, law: Law, log_price: Array, best: float) -> Partials:
        """Elementwise score, higher is better, with its partial derivatives."""
        ...


@dataclass(frozen=True, eq=False)  # no slots: what derives from the fields is cached
class PointwiseScore:
    """A formula bound to a snapshot.

    Args:
        formula: The score of one point.
        snapshot: Where it is asked.
        pricing: How an uncertain price enters.
        starts: Points from which a search must start.
        exclude: Whether points that are not to be had are left out: evaluated, pending, too dear.
        from_incumbent: Whether the score is about f(x) - f(x*), as an improvement is.
        in_objective_units: Whether the score has the objective's unit (a logarithm has none).
        valued: Whether the score is about what a gain is worth: with a utility, law and best value
            are then by their worth.
        belief: What to believe instead of the snapshot's belief.
        is_log_gain: Whether the score is a log gain per price, on which a stop may depend.
    """

    formula: Formula
    snapshot: Snapshot
    pricing: Pricing = "exp"
    starts: Array | None = None
    exclude: bool = True
    from_incumbent: bool = False
    in_objective_units: bool = False
    valued: bool = False
    belief: Belief | None = None
    is_log_gain: bool = False

    @property
    def scales(self) -> Array:
        """Length scales of the objective, per column."""
        return self._belief.objective.column_lengthscales

    @cached_property
    def unit(self) -> float:
        """What counts as a difference of 1 in the score."""
        return self._unit_of_values if self.in_objective_units else 1.0

    def is_late(self, x: Array, value: float) -> bool:
        """Whether this supremum, at x, is a gain so small that a study may be near its end."""
        if not self.is_log_gain:
            return False
        log_gain = value + float(self._belief.log_price(x[None, :], self.pricing)[0])
        return log_gain < math.log(_SMALL) + math.log(self._unit_of_values)

    @cached_property
    def _unit_of_values(self) -> float:
        unit, loss = self._belief.objective.unit, self.snapshot.loss
        if loss is None or not self.valued:
            return unit
        return worth_of_unit(loss, unit, self.snapshot.best, float(np.max(self.snapshot.y)))

    def __call__(self, X: Array) -> Array:
        """Scores at the rows of X; -inf where a point is left out."""
        return self._scored(*self._law_and_price_once(X), self._allowed(X))

    def at_contenders(self, X: Array) -> Array:
        """The same at the candidates of a table; -inf also where a start is higher for sure.

        It takes a formula that can tell this faster than it can score.
        """
        domain, may_exceed = self.snapshot.domain, getattr(self.formula, "may_exceed", None)
        if may_exceed is None or self.starts is None or not isinstance(domain, Finite):
            return self(X)
        law, log_price = self._law_and_price_once(X)
        begin, where = np.zeros(len(X), dtype=bool), self._allowed(X)
        begin[domain.index_of(self.starts)] = True
        if len(X) >= _MANY and where[begin].all():
            known = self.formula(law.at(begin), log_price[begin], self._best).value
            where[where] = may_exceed(law.at(where), log_price[where], float(known.max()))
            where |= begin
        return self._scored(law, log_price, where)

    def _scored(self, law: Law, log_price: Array, where: Mask) -> Array:
        """Scores at some of the points, and -inf at the others.

        Where observations are exact, f is certain at a point that is left out because it is
        evaluated; mixtures of such laws take long.
        """
        if where.all():
            return self.formula(law, log_price, self._best).value
        values = np.full(len(where), -np.inf)
        if where.any():
            values[where] = self.formula(law.at(where), log_price[where], self._best).value
        return values

    def _law_and_price_once(self, X: Array) -> tuple[Law, Array]:
        if self.belief is None:  # the snapshot's, of which others ask the same
            what = (self.from_incumbent, self.valued, self.pricing)
            return screened(self.snapshot, what, X, self._law_and_price)
        return self._law_and_price(X)

    def _law_and_price(self, X: Array) -> tuple[Law, Array]:
        law = self.snapshot.law(
            X, self._belief, from_incumbent=self.from_incumbent, valued=self.valued
        )
        return law, self._belief.log_price(X, self.pricing)

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Scores and their gradients in x."""
        law, gradients = self._seen.law_with_gradient(X)
        log_price, d_log_price = self._belief.log_price_with_gradient(X, self.pricing)
        partials = self.formula(law, log_price, self._best)
        _check_slopes(self.formula, partials, law, len(gradients))
        by = [*partials.d_law, partials.d_log_price]
        inner = [*gradients, d_log_price]
        # Where nothing is uncertain slopes may be infinite; a search takes what comes for none.
        with np.errstate(invalid="ignore", over="ignore"):
            gradient = by[0][:, None] * inner[0]
            for outer, along_x in zip(by[1:], inner[1:], strict=True):
                gradient += outer[:, None] * along_x
        return np.where(self._allowed(X), partials.value, -np.inf), gradient

    @cached_property
    def _best(self) -> float:
        return self.snapshot.level if self.valued else self.snapshot.best

    @cached_property
    def _belief(self) -> Belief:
        return self.snapshot.belief if self.belief is None else self.belief

    @cached_property
    def _seen(self) -> Marginals:
        return self.snapshot.seen(
            self._belief, from_incumbent=self.from_incumbent, valued=self.valued
        )

    def _allowed(self, X: Array) -> Mask:
        """Which rows are not left out."""
        return ~self.snapshot.barred(X) if self.exclude else np.ones(len(X), dtype=bool)


def _check_slopes(formula: Formula, partials: Partials, law: Law, parameters: int) -> None:
    """Refuse a formula that gives slopes for a law of another kind."""
    if len(partials.d_law) != parameters:
        message = (
            f"{formula!r} gives {len(partials.d_law)} slopes, but a {type(law).__name__} law has"
            f" {parameters} parameters: take value and slopes from the law's own methods"
            " (log_ei, cdf, quantile, fair_value), which any law has; mean and std are parameters"
            ' of the normal law alone, the law of surrogate="plain" without bounds.'
        )
        raise InputError(message)
