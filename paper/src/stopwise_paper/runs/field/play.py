# SPDX-License-Identifier: Apache-2.0
"""One cell of the field: a contender on a problem, asked and told until it stops or is stopped."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from threadpoolctl import threadpool_limits

import stopwise as sw
from stopwise_paper.cell import Cell
from stopwise_paper.problems import LiveProblem, PaidValue, Problem, Table, make_problem
from stopwise_paper.runs.beliefs.study_run import cost_option, units_of
from stopwise_paper.runs.field.contenders import CONTENDERS, FieldEvaluation, Params, Setting
from stopwise_paper.runs.field.plan import PARTS, part_of
from stopwise_paper.runs.field.record import FieldRun


def play(cell: Cell, *, rules: bool = True) -> FieldRun:
    """Play a cell: to the stop of a contender that knows the price, else to the cap.

    Args:
        cell: The cell.
        rules: Whether rules that are only recorded are asked, which may take longer than all else.
    """
    contender = CONTENDERS[cell.acquisition]
    recorded = rules and contender.has_rule and PARTS[part_of(cell)].priced
    with threadpool_limits(limits=1):
        problem = make_problem(cell)
        units = units_of(problem, cell.cost)
        evaluations = _Evaluations(problem, cell.cost)
        lam = units.lam(cell) if contender.priced else np.nan
        setting = Setting(
            evaluations.space,
            problem.domain,
            cost_option(problem, cell.cost),
            lam,
            cell.seed,
            cell.cap,
        )
        began = time.process_time()
        optimiser = contender.make(setting)
        stopped_at, rule_seconds = 0, 0.0
        for n in range(1, cell.cap + 1):
            optimiser.tell(evaluations.evaluate(optimiser.ask()))
            if (contender.priced or recorded) and not stopped_at:
                asked = time.process_time()
                stopped_at = n if optimiser.would_stop() else 0
                rule_seconds += time.process_time() - asked
            if contender.priced and stopped_at:
                break
        seconds = time.process_time() - began - (rule_seconds if recorded else 0.0)
    return FieldRun(
        cell,
        contender.version,
        units.gap,
        units.cost,
        np.array(evaluations.regret),
        np.array(evaluations.costs),
        stopped_at,
        round(seconds, 3),
        round(rule_seconds, 3) if recorded else None,
    )


@dataclass(slots=True)
class _Evaluations:
    """The evaluations of a run, and the judged regret of the best after each."""

    problem: Problem
    price: str
    costs: list[float] = field(default_factory=list)
    regret: list[float] = field(default_factory=list)
    _taken: set[int] = field(default_factory=set)
    _best: PaidValue | None = None

    @property
    def space(self) -> dict[str, sw.space.Parameter]:
        """The parameters; those of its columns on a table."""
        domain = self.problem.domain
        product = domain.codec if isinstance(domain, sw.space.Finite) else domain
        return dict(zip(product.names, product.parameters, strict=True))

    @property
    def _worst(self) -> float:
        """The judged value of having nothing yet: the worst of a table or of a sample."""
        if isinstance(self.problem, Table | LiveProblem):
            return float(np.nanmax(self.problem.judged))
        return np.inf

    def evaluate(self, asked: Params) -> FieldEvaluation:
        """Evaluate a configuration, on a table the nearest row that is not taken.

        Of a conditional space whatever exists is evaluated; a contender that knows no conditions
        is told the configuration that it has asked for.
        """
        problem = self.problem
        params = self._row_for(asked, problem.domain) if isinstance(problem, Table) else asked
        [x] = problem.domain.encode(existing(params, self.space))
        paid = self.problem.evaluate(np.asarray(x))
        failed = bool(np.isnan(paid.value))
        if not failed and (self._best is None or paid.value < self._best.value):
            self._best = paid
        judged = self._worst if self._best is None else self._best.judged
        self.costs.append(paid.costs[self.price])
        self.regret.append(judged - self.problem.optimum)
        return FieldEvaluation(params, None if failed else paid.value, self.costs[-1])

    def _row_for(self, asked: Params, domain: sw.space.Finite) -> Params:
        [x] = domain.codec.encode(asked)
        distances = ((domain.points - x) ** 2).sum(axis=1)
        distances[list(self._taken)] = np.inf
        row = int(distances.argmin())
        self._taken.add(row)
        return domain.params(row)


def existing(params: Params, space: Mapping[str, sw.space.Parameter]) -> Params:
    """The parameters of a configuration whose conditions hold."""

    def exists(name: str) -> bool:
        when = space[name].when or {}
        return all(exists(other) and params[other] in values for other, values in when.items())

    return {name: value for name, value in params.items() if exists(name)}
