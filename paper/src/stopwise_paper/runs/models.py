# SPDX-License-Identifier: Apache-2.0
"""The models of the experiments: posteriors of the objective and prices, step by step.

Observations are exact, and the noise of 1e-6 is a nugget. Where the kernel is known (objectives
drawn from it) only the constant mean is fitted, by maximum likelihood, at every step. Elsewhere
hyper-parameters are fitted, under gamma priors unless a cell names others, at every step or on a
schedule; between two fits observations are appended.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import numpy as np

import stopwise as sw
from stopwise.errors import InputError
from stopwise_paper.arrays import Array
from stopwise_paper.cell import Cell
from stopwise_paper.problems import Problem
from stopwise_paper.runs.table_posterior import Projection, TablePosterior

NUGGET = 1e-6
PRIOR = "gamma"
REFITS: dict[str, sw.beliefs.RefitPolicy] = {
    "always": sw.beliefs.RefitAlways(),
    "schedule": sw.beliefs.RefitOnSchedule(),
}


def refits_of(cell: Cell) -> sw.beliefs.RefitPolicy:
    """When hyper-parameters are fitted in a cell: its option ``refit``, a name of ``REFITS``."""
    name = cell.option("refit", "always")
    if name not in REFITS:
        message = f"refit={name!r} is not known: give one of {', '.join(REFITS)}."
        raise InputError(message)
    return REFITS[name]


@dataclass(slots=True)
class ObjectiveModel:
    """The posterior of the objective, updated at every step.

    Args:
        problem: The problem.
        nugget: Noise variance, standardised.
        prior: Prior of the hyper-parameters where they are fitted.
        refits: When hyper-parameters are fitted.
        projection: Shared by all posteriors over a table; None on a box.
    """

    problem: Problem
    nugget: float
    prior: str | None
    refits: sw.beliefs.RefitPolicy
    projection: Projection | None
    _last: sw.beliefs.Posterior | None = field(default=None, init=False)
    _fitted_to: int = field(default=0, init=False)  # observations at the last fit

    @classmethod
    def of(cls, cell: Cell, problem: Problem, capacity: int) -> ObjectiveModel:
        """The model that a cell asks for, of at most so many observations."""
        return cls(
            problem,
            float(cell.option("nugget", NUGGET)),
            cell.option("prior", PRIOR),
            refits_of(cell),
            projection_of(problem, capacity),
        )

    def update(self, X: Array, y: Array, t: int) -> sw.beliefs.Posterior:
        """The posterior after all observations; it is asked for after each one in turn."""
        if self.problem.kernel == "known":
            zero_mean = self._appended(X, y) if t else self._at_truth(X, y)
            return zero_mean.with_likeliest_mean()
        if self._last is None or self.refits.is_due(len(y), fitted_to=self._fitted_to, t=t):
            self._last = _over_table(
                sw.beliefs.fit_posterior(
                    X,
                    y,
                    groups=self.problem.domain.groups,
                    noise=self.nugget,
                    prior=self.prior,
                    start=self._last.hyper if self._last else None,
                    interpolate=True,
                ),
                self.projection,
            )
            self._fitted_to = len(y)
            return self._last
        return self._appended(X, y)

    def _at_truth(self, X: Array, y: Array) -> sw.beliefs.Posterior:
        """At the kernel that the objective was drawn from, in the objective's units."""
        lengthscales = np.full(self.problem.domain.d, self.problem.lengthscale)
        posterior = sw.beliefs.condition(
            X,
            y,
            sw.beliefs.Hyperparameters(lengthscales, 1.0, self.nugget),
            standardiser=sw.beliefs.Standardiser(),
            interpolate=True,
        )
        self._last = _over_table(posterior, self.projection)
        return self._last

    def _appended(self, X: Array, y: Array) -> sw.beliefs.Posterior:
        if self._last is None:
            message = "there is no posterior to append an observation to."
            raise InputError(message)
        self._last = self._last.append(X[-1], float(y[-1]))
        return self._last


@dataclass(slots=True)
class PriceModel:
    """A price that is learned from what was paid, fitted on the same schedule.

    Args:
        problem: The problem.
        cost: The cost model.
        refits: When hyper-parameters are fitted.
        projection: Shared by all posteriors over a table; None on a box.
    """

    problem: Problem
    cost: sw.beliefs.LearnedCost
    refits: sw.beliefs.RefitPolicy
    projection: Projection | None
    _last: sw.beliefs.LearnedPrice | None = field(default=None, init=False)
    _fitted_to: int = field(default=0, init=False)  # payments at the last fit

    @classmethod
    def of(
        cls, cell: Cell, problem: Problem, cost: sw.beliefs.LearnedCost, capacity: int
    ) -> PriceModel:
        """The model that a cell asks for, of at most so many payments."""
        return cls(problem, cost, refits_of(cell), projection_of(problem, capacity))

    def update(self, X: Array, paid: Array, t: int) -> sw.beliefs.Price:
        """The price after all payments; it is asked for after each one in turn."""
        if self._last is None or self.refits.is_due(len(paid), fitted_to=self._fitted_to, t=t):
            start = self._last.posterior.hyper if self._last else None
            fitted = self.cost.price(self.problem.domain, X, paid, start)
            posterior = cast("sw.beliefs.LearnedPrice", fitted).posterior
            posterior = _over_table(posterior, self.projection)
            self._fitted_to = len(paid)
        else:
            posterior = self._last.posterior.append(X[-1], float(np.log(paid[-1])))
        self._last = sw.beliefs.LearnedPrice(posterior)
        return self._last


def projection_of(problem: Problem, capacity: int) -> Projection | None:
    """A projection of the problem's candidates; None where they cannot be enumerated."""
    domain = problem.domain
    return Projection(domain.points, capacity) if isinstance(domain, sw.space.Finite) else None


def _over_table(
    posterior: sw.beliefs.Posterior, projection: Projection | None
) -> sw.beliefs.Posterior:
    return posterior if projection is None else TablePosterior.of(posterior, projection)
