# SPDX-License-Identifier: Apache-2.0
"""One cell of the evidence on beliefs, run as a user would: a study, asked until it stops."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import stopwise as sw
from stopwise_paper.cell import Cell
from stopwise_paper.problems import (
    LEARNED,
    LiveProblem,
    PaidValue,
    Problem,
    Table,
    make_problem,
)
from stopwise_paper.problems.box import sobol_points
from stopwise_paper.problems.synthetic_costs import SyntheticCost
from stopwise_paper.runs.beliefs.plan import PRICED_DESIGN
from stopwise_paper.runs.beliefs.record import BeliefRun

_SAMPLE = 4096  # points of a box whose median values stand for those of all


class Units(NamedTuple):
    """The units of a problem.

    Args:
        gap: The median of its judged values minus the best.
        cost: The median cost of an evaluation.
    """

    gap: float
    cost: float

    def lam(self, cell: Cell) -> float:
        """Lambda of a cell: its own, or that at which the gap is worth so many evaluations."""
        if cell.lam is not None:
            return cell.lam
        return self.gap / (float(cell.option("evaluations")) * self.cost)


def units_of(problem: Problem, cost: str) -> Units:
    """The units of a problem under a price; failed evaluations have no value and do not count.

    A live problem has those of its reference sample: nothing is trained for them.
    """
    if isinstance(problem, Table | LiveProblem):
        values, costs = problem.judged, problem.costs[cost]
    else:
        sample = sobol_points(problem.domain.d, _SAMPLE, 0)
        evaluations = [problem.evaluate(x) for x in sample]
        values = np.array([e.judged for e in evaluations])
        costs = np.array([e.costs[cost] for e in evaluations])
    return Units(float(np.nanmedian(values)) - problem.optimum, float(np.median(costs)))


def run_study(cell: Cell) -> BeliefRun:
    """Run the study of a cell until its rule stops it, or to the cap."""
    with threadpool_limits(limits=1, user_api="blas"):
        problem = make_problem(cell)
        units = units_of(problem, cell.cost)
        began = time.perf_counter()
        evaluated = _Evaluated(problem, cell.cost)
        options: dict[str, Any] = {"lam": units.lam(cell), "seed": cell.seed}
        options["cost"] = cost_option(problem, cell.cost)
        if cell.option("noise") is not None:
            options["noise"] = cell.option("noise")
        if cell.option("lowest") is not None:
            options["bounds"] = (cell.option("lowest"), None)
        design = _priced_design if cell.option("design") == PRICED_DESIGN else _published_design
        design(cell, problem, options, evaluated)
        n_initial = len(evaluated.costs)
        study = _told_study(cell, problem, options, evaluated)
        rule = _run_to_the_end(study, evaluated, cell.cap, obey=not cell.option("to_the_cap"))
        gains = {promise.trial: promise for promise in study.promises}
        promises = [gains.get(n) for n in range(n_initial, len(evaluated.costs))]
        return BeliefRun(
            cell,
            options["lam"],
            units.gap,
            rule,
            n_initial,
            float(sum(evaluated.costs[:n_initial])),
            np.array(evaluated.regret[n_initial - 1 :]),
            np.array(evaluated.costs[n_initial:]),
            np.array([0.0 if p is None else p.promised for p in promises]),
            np.array([0.0 if p is None else p.delivered or 0.0 for p in promises]),
            seconds=time.perf_counter() - began,
        )


@dataclass(slots=True)
class _Evaluated:
    """The evaluations of a study, and the judged regret of the incumbent after each."""

    problem: Problem
    price: str
    params: list[Mapping[str, Any]] = field(default_factory=list)
    values: list[float | None] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    regret: list[float] = field(default_factory=list)
    _best: PaidValue | None = None

    def evaluate(self, params: Mapping[str, Any]) -> tuple[float | None, float]:
        """The value at a configuration (None if it failed) and its cost."""
        [x] = self.problem.domain.encode(params)
        evaluation = self.problem.evaluate(np.asarray(x))
        failed = np.isnan(evaluation.value)
        if not failed and (self._best is None or evaluation.value < self._best.value):
            self._best = evaluation
        judged = np.inf if self._best is None else self._best.judged
        self.params.append(params)
        self.values.append(None if failed else evaluation.value)
        self.costs.append(evaluation.costs[self.price])
        self.regret.append(judged - self.problem.optimum)
        return self.values[-1], self.costs[-1]


def cost_option(problem: Problem, cost: str) -> Any:  # noqa: ANN401  whatever ``cost=`` takes
    """The price as a user would give it."""
    if cost == LEARNED:
        return "reported"
    model = problem.cost_model(cost)
    if not isinstance(model, SyntheticCost):
        return model
    return lambda params: float(model(np.asarray(problem.domain.encode(params)))[0])


def _published_design(
    cell: Cell, problem: Problem, _options: Mapping[str, Any], evaluated: _Evaluated
) -> None:
    """Evaluate the design of the paper's experiments, the same for every belief."""
    for params in problem.domain.decode(problem.initial(cell.seed)):
        evaluated.evaluate(params)


def _priced_design(
    _cell: Cell, problem: Problem, options: Mapping[str, Any], evaluated: _Evaluated
) -> None:
    """Evaluate the design with which the default surrogate begins."""
    study = sw.Study(problem.domain, surrogate="default", **options)
    while len(study.history.succeeded) < study.n_initial:
        trial = study.ask()
        study.tell(trial, *evaluated.evaluate(trial.params))


def _told_study(
    cell: Cell, problem: Problem, options: Mapping[str, Any], evaluated: _Evaluated
) -> sw.Study:
    """A study that begins with the design: what is told before the first ask is part of it."""
    succeeded = sum(value is not None for value in evaluated.values)
    prior = {} if cell.option("prior") is None else {"prior": cell.option("prior")}
    study = sw.Study(
        problem.domain,
        surrogate=cell.option("surrogate"),
        n_initial=max(succeeded, 1),
        **prior,
        **options,
    )
    for params, value, cost in zip(
        evaluated.params, evaluated.values, evaluated.costs, strict=True
    ):
        study.tell(params, value, cost, charge=True)
    return study


def _run_to_the_end(study: sw.Study, evaluated: _Evaluated, cap: int, *, obey: bool) -> str:
    """Ask and tell until the study stops; the rule that stopped it, or nothing at the cap.

    If the rule is not to be obeyed, always to the cap.
    """
    for _ in range(cap):
        verdict = study.should_stop()
        if verdict.stop and obey:
            return verdict.rule
        trial = study.ask()
        study.tell(trial, *evaluated.evaluate(trial.params))
    verdict = study.should_stop()
    return verdict.rule if verdict.stop else ""
