# SPDX-License-Identifier: Apache-2.0
"""The loop of one cell: run to its cap with every rule recorded (``run_cell``).

It is the loop of a study (fit, record, choose, evaluate), made of the library's public parts: a
``Snapshot`` at every step, acquisitions and stopping rules. Where a cell has several prices its
acquisition does not look at them, and each price has its own snapshot.
"""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import cast

import numpy as np
from threadpoolctl import threadpool_limits

import stopwise as sw
from stopwise.acquisition import LCB, PBGI, Acquisition, LogEIPC, Snapshot, make_acquisition
from stopwise.errors import InputError
from stopwise.stopping import StoppingRule, Trace, traits_of
from stopwise_paper.arrays import Array
from stopwise_paper.cell import COST_BLIND, Cell
from stopwise_paper.plugins import load_plugin
from stopwise_paper.problems import LEARNED, PaidValue, Problem, make_problem
from stopwise_paper.runs.models import ObjectiveModel, PriceModel
from stopwise_paper.runs.rules import rules_of
from stopwise_paper.runs.trajectory import AT, RecordedSignal, Trajectory


def run_cell(cell: Cell) -> Trajectory:
    """Run a cell to its cap, or until nothing is left to evaluate."""
    with threadpool_limits(limits=1, user_api="blas"):  # small matrices; same bits everywhere
        problem = make_problem(cell)
        run = _CellRun.of(cell, problem)
        for x in problem.initial(cell.seed, cell.option("initial")):
            run.evaluate(x)
        run.n_initial = len(run.evaluations)
        for t in range(cell.cap + 1):
            run.update_models()
            run.record_signals()
            x = run.choose() if t < cell.cap else None
            if x is None:
                break
            run.evaluate(x)
        return run.trajectory()


def acquisition_of(cell: Cell) -> Acquisition:
    """The acquisition that a cell names."""
    if ":" in cell.acquisition:
        return cast("Acquisition", load_plugin(cell.acquisition))
    if len(cell.costs) > 1 and cell.acquisition not in COST_BLIND:
        message = f"{cell.acquisition} looks at prices, so {cell.cost!r} must be one price."
        raise InputError(message)
    return make_acquisition(cell.acquisition, cell.lam)


@dataclass(slots=True)
class _CellRun:
    """The state of a cell while it runs."""

    cell: Cell
    problem: Problem
    acquisition: Acquisition
    rules: list[StoppingRule]
    objective: ObjectiveModel
    prices: dict[str, sw.beliefs.Price | PriceModel]
    X: Array
    evaluations: list[PaidValue] = field(default_factory=list)
    n_initial: int = 0
    snapshots: dict[str, Snapshot] = field(default_factory=dict)  # by price
    thinned: dict[str, Snapshot] = field(default_factory=dict)  # the same on fewer candidates
    traces: dict[str, Trace] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)

    @classmethod
    def of(cls, cell: Cell, problem: Problem) -> _CellRun:
        design = cell.option("initial") or 2 * (problem.domain.d + 1)
        capacity = cell.cap + design + 1
        return cls(
            cell,
            problem,
            acquisition_of(cell),
            rules_of(cell, problem),
            ObjectiveModel.of(cell, problem, capacity),
            {cost: _price_of(cell, problem, cost, capacity) for cost in cell.costs},
            np.empty((0, problem.domain.width)),
        )

    @property
    def t(self) -> int:
        return len(self.evaluations) - self.n_initial

    @property
    def y(self) -> Array:
        return np.array([evaluation.value for evaluation in self.evaluations])

    def evaluate(self, x: Array) -> None:
        self.X = np.vstack([self.X, x])
        self.evaluations.append(self.problem.evaluate(x))

    def update_models(self) -> None:
        """Fit the models to all data, and take a snapshot for each price."""
        with self._timed("fit"):
            objective = self.objective.update(self.X, self.y, self.t)
            prices = {cost: self._price(cost) for cost in self.cell.costs}
        self.snapshots = {
            cost: self._snapshot(sw.beliefs.Belief(objective, price), self.problem.domain)
            for cost, price in prices.items()
        }
        self.thinned = {}

    def _snapshot(self, belief: sw.beliefs.Belief, domain: sw.space.Domain) -> Snapshot:
        return Snapshot(
            domain,
            self.X,
            self.y,
            belief,
            self.X[:0],
            initial=self.n_initial,
            traces=dict(self.traces),
            seed=self.cell.seed,
            trial=len(self.evaluations),
        )

    def record_signals(self) -> None:
        """Record every rule's signal; those that do not depend on the price once."""
        for rule in self.rules:
            priced = traits_of(rule).signal.reads_price
            for cost in self.cell.costs if priced else self.cell.costs[:1]:
                key = rule.key + AT + cost if priced and len(self.cell.costs) > 1 else rule.key
                with self._timed(f"rule:{_label(rule)}"):
                    signal = rule.signal(self._snapshot_for(rule, cost))
                before = self.traces.get(key, Trace()).signals
                self.traces[key] = Trace.of((*before, signal))

    def _snapshot_for(self, rule: StoppingRule, cost: str) -> Snapshot:
        """The snapshot that a rule reads.

        A costly signal draws paths over all candidates; on a fine grid it gets fewer of them.
        """
        thin = getattr(self.problem, "thin", None)
        if thin is None or not traits_of(rule).signal.costly:
            return self.snapshots[cost]
        if cost not in self.thinned:
            self.thinned[cost] = self._snapshot(self.snapshots[cost].belief, thin(self.X))
        return self.thinned[cost]

    def choose(self) -> Array | None:
        """The acquisition's choice; None when nothing is left."""
        snapshot = self.snapshots[self.cell.costs[0]].with_traces(dict(self.traces))
        with self._timed("ask"):
            x = snapshot.sup(self._acquisition_at(snapshot)).x
            return snapshot.sup(LCB()).x if x is None else x

    def _acquisition_at(self, snapshot: Snapshot) -> Acquisition:
        """As in a study: on a box, where nothing is worth its price, PBGI goes by gain per cost.

        There the lowest fair value is that of a copy of the incumbent.
        """
        acquisition = self.acquisition
        finite = isinstance(self.problem.domain, sw.space.Finite)
        if finite or not isinstance(acquisition, PBGI):
            return acquisition
        worth = snapshot.sup(LogEIPC()).value > math.log(acquisition.lam)
        return acquisition if worth else LogEIPC()

    def _price(self, cost: str) -> sw.beliefs.Price:
        price = self.prices[cost]
        if not isinstance(price, PriceModel):
            return price
        paid = np.array([evaluation.costs[LEARNED] for evaluation in self.evaluations])
        return price.update(self.X, paid, self.t)

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        """Add the time that a block takes to that of a part, at this t."""
        start = time.perf_counter()
        yield
        taken = self.seconds.setdefault(part, [])
        taken += [0.0] * (self.t + 1 - len(taken))
        taken[self.t] += time.perf_counter() - start

    def trajectory(self) -> Trajectory:
        """The run, as columns."""
        done, costs = self.evaluations, self.cell.costs
        return Trajectory(
            self.cell,
            self.n_initial,
            np.array([evaluation.x for evaluation in done]),
            self.y,
            np.array([evaluation.judged for evaluation in done]),
            {cost: np.array([e.costs[cost] for e in done]) for cost in costs},
            {cost: np.array([e.judged_costs[cost] for e in done]) for cost in costs},
            {key: RecordedSignal.of(trace) for key, trace in self.traces.items()},
            self.problem.optimum,
            {part: np.array(taken) for part, taken in self.seconds.items()},
            {**self.problem.facts, **_versions()},
        )


def _price_of(
    cell: Cell, problem: Problem, cost: str, capacity: int
) -> sw.beliefs.Price | PriceModel:
    """A price that is known and does not change, or the model of one that is learned."""
    model, domain = problem.cost_model(cost), problem.domain
    if not isinstance(model, sw.beliefs.LearnedCost):
        return model.price(domain, np.empty((0, domain.width)), np.empty(0))
    return PriceModel.of(cell, problem, model, capacity)


def _label(rule: StoppingRule) -> str:
    """The name under which a rule is timed; variants of one rule have their own."""
    variant = getattr(rule, "update", "") or getattr(rule, "estimate", "")
    return rule.name if variant in ("", "after", "bound") else f"{rule.name}-{variant}"


def _versions() -> dict[str, str]:
    installed = {name: version(name) for name in ("stopwise", "numpy", "scipy")}
    return {**installed, "python": platform.python_version()}
