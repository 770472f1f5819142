# SPDX-License-Identifier: Apache-2.0
"""The models of the experiments: a kernel that is known, or hyper-parameters that are fitted.

Observations are exact, and the noise of 1e-6 is a nugget. Where the kernel is known (objectives
drawn from it) only the constant mean is fitted, by maximum likelihood, at every step. Elsewhere
hyper-parameters are fitted, under the gamma priors unless a cell names others, at every step or on
a schedule; between two fits observations are appended.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from stopwise.core.beliefs.fit import fit_posterior
from stopwise.core.beliefs.gp import Hyperparameters, Posterior, Standardiser, condition
from stopwise.core.beliefs.prices import LearnedCost, LearnedPrice, Price
from stopwise.core.numerics import cholesky as chol
from stopwise.core.space import Finite
from stopwise.errors import InputError
from stopwise_paper.arrays import Array
from stopwise_paper.cell import Cell
from stopwise_paper.problems import Problem
from stopwise_paper.tabulated import Projection, TabulatedPosterior

NUGGET = 1e-6
PRIOR = "gamma"
# Evaluations after which hyper-parameters are fitted anew on the schedule: every one at first,
# then at ever larger steps of about a tenth of what there is.
_DENSE = 10


def is_due(t: int, refit: str) -> bool:
    """Whether hyper-parameters are fitted anew after t evaluations.

    Args:
        t: Evaluations after the initial design.
        refit: ``"always"``; or ``"schedule"``: up to t = 10 always, then every ceil(t/10).
    """
    if refit not in ("always", "schedule"):
        message = f"refit={refit!r} is not known: give 'always' or 'schedule'."
        raise InputError(message)
    if refit == "always" or t <= _DENSE:
        return True
    last = _DENSE
    while last < t:
        last += -(-last // _DENSE)
    return last == t


@dataclass(slots=True)
class Objective:
    """Posteriors of the objective, one after the other."""

    problem: Problem
    nugget: float
    prior: str | None
    refit: str
    projection: Projection | None
    _last: Posterior | None = field(default=None, init=False)

    @classmethod
    def of(cls, cell: Cell, problem: Problem, most: int) -> Objective:
        """The model that a cell asks for; ``most`` observations are to come."""
        domain = problem.domain
        return cls(
            problem,
            float(cell.option("nugget", NUGGET)),
            cell.option("prior", PRIOR),
            cell.option("refit", "always"),
            Projection(domain.points, most) if isinstance(domain, Finite) else None,
        )

    def after(self, X: Array, y: Array, t: int) -> Posterior:
        """The posterior after all observations, of which the last is new."""
        if self.problem.kernel == "known":
            return self._with_mean(self._extended(X, y) if t else self._known(X, y))
        if is_due(t, self.refit) or self._last is None:
            self._last = self._tabulated(
                fit_posterior(
                    X,
                    y,
                    groups=self.problem.domain.groups,
                    noise=self.nugget,
                    prior=self.prior,
                    start=self._last.hyper if self._last else None,
                    interpolate=True,
                )
            )
            return self._last
        return self._extended(X, y)

    def _known(self, X: Array, y: Array) -> Posterior:
        """At the kernel of which the objective was drawn, in its own units."""
        scales = np.full(self.problem.domain.d, self.problem.lengthscale)
        hyper = Hyperparameters(scales, 1.0, self.nugget)
        unit = Standardiser()
        self._last = self._tabulated(condition(X, y, hyper, standardiser=unit, interpolate=True))
        return self._last

    def _extended(self, X: Array, y: Array) -> Posterior:
        if self._last is None:
            message = "there is no posterior to extend."
            raise InputError(message)
        self._last = self._last.append(X[-1], float(y[-1]))
        return self._last

    def _with_mean(self, posterior: Posterior) -> Posterior:
        """The mean that maximises the likelihood, in place of zero."""
        ones = chol.solve_lower(posterior.lower, np.ones((len(posterior), 1)))[:, 0]
        mean = float(ones @ posterior.residual / (ones @ ones))
        return replace(
            posterior,
            hyper=replace(posterior.hyper, mean=mean),
            residual=posterior.residual - mean * ones,
        )

    def _tabulated(self, posterior: Posterior) -> Posterior:
        if self.projection is None:
            return posterior
        return TabulatedPosterior.of(posterior, self.projection)


@dataclass(slots=True)
class LearnedPrices:
    """Prices learned from what was paid, on the same schedule."""

    problem: Problem
    model: LearnedCost
    refit: str
    projection: Projection | None
    _last: LearnedPrice | None = field(default=None, init=False)

    def after(self, X: Array, paid: Array, t: int) -> Price:
        """The price after all that was paid, of which the last is new."""
        if self._last is not None and not is_due(t, self.refit):
            grown = self._last.posterior.append(X[-1], float(np.log(paid[-1])))
        else:
            start = self._last.posterior.hyper if self._last else None
            fitted = self.model.price(self.problem.domain, X, paid, start)
            grown = fitted.posterior  # type: ignore[attr-defined]  # it is a LearnedPrice
            if self.projection is not None:
                grown = TabulatedPosterior.of(grown, self.projection)
        self._last = LearnedPrice(grown)
        return self._last
