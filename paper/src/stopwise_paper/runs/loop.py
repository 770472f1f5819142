# SPDX-License-Identifier: Apache-2.0
"""One cell, to its cap, with every rule recorded: ``run_cell``.

The loop is that of a study (fit, record, choose, evaluate), made of the same public pieces: a
``Snapshot`` for each moment, the library's acquisitions and rules. Where a cell has several
prices, its acquisition is blind to them, and each has its own snapshot.
"""

from __future__ import annotations

import importlib
import math
import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any, cast

import numpy as np

from stopwise import stopping
from stopwise.acquisition import LCB, PBGI, Acquisition, LogEIPC, make_acquisition
from stopwise.core.beliefs.belief import Belief
from stopwise.core.beliefs.prices import LearnedCost, Price
from stopwise.core.numerics.threads import single_threaded
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Finite
from stopwise.core.traces import Trace
from stopwise.errors import InputError
from stopwise.stopping import (
    GSS,
    UCBLCB,
    Convergence,
    ProbabilisticRegretBound,
    SRGapMedian,
    StoppingRule,
)
from stopwise_paper.arrays import Array
from stopwise_paper.beliefs import LearnedPrices, Objective
from stopwise_paper.cell import Cell
from stopwise_paper.problems import LEARNED, Outcome, Problem, make_problem
from stopwise_paper.tabulated import Projection
from stopwise_paper.trajectory import AT, Recorded, Trajectory

BLIND = ("lcb", "ts")  # acquisitions that do not look at prices
_PRICED = ("pbgi",)  # of our rules, those whose signal depends on the price


@single_threaded
def run_cell(cell: Cell) -> Trajectory:
    """Run a cell to its cap, or until nothing is left to evaluate."""
    problem = make_problem(cell)
    run = _Run.of(cell, problem)
    for x in problem.initial(cell.seed, cell.option("initial")):
        run.observe(x)
    run.n_initial = len(run.outcomes)
    for t in range(cell.cap + 1):
        run.believe()
        run.record()
        x = run.choose() if t < cell.cap else None
        if x is None:
            break
        run.observe(x)
    return run.trajectory()


def named(reference: str) -> Any:  # noqa: ANN401  whatever it names
    """What ``package.module:Class`` names, made without arguments if it is a class."""
    module, _, name = reference.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        message = (
            f"{reference!r} cannot be had ({error}): give package.module:Class, importable where"
            " the experiment runs."
        )
        raise InputError(message) from error
    return found() if isinstance(found, type) else found


def acquisition_of(cell: Cell) -> Acquisition:
    """The acquisition that a cell names."""
    if ":" in cell.acquisition:
        return cast("Acquisition", named(cell.acquisition))
    if len(cell.costs) > 1 and cell.acquisition not in BLIND:
        message = f"{cell.acquisition} looks at prices, so {cell.cost!r} must be one price."
        raise InputError(message)
    return make_acquisition(cell.acquisition, cell.lam)


def rules_of(cell: Cell, problem: Problem) -> list[StoppingRule]:
    """The rules that are recorded; thresholds, lambdas and windows are for replay."""
    rules: list[StoppingRule] = [
        stopping.PBGI(1.0),  # LogEIPC-med reads the same signal
        stopping.PBGI(1.0, "before"),
        SRGapMedian(),
        UCBLCB(),
        GSS(),
        Convergence(),
    ]
    estimates = str(cell.option("prb", "bound")).split("+")
    rules += [
        ProbabilisticRegretBound(problem.epsilon, estimate=cast("Any", estimate))
        for estimate in estimates
        if estimate != "none"
    ]
    own = str(cell.option("rules", ""))
    return rules + [named(reference) for reference in own.split(",") if reference]


@dataclass(slots=True)
class _Run:
    """What changes while a cell runs."""

    cell: Cell
    problem: Problem
    acquisition: Acquisition
    rules: list[StoppingRule]
    objective: Objective
    prices: dict[str, Price | LearnedPrices]
    X: Array
    outcomes: list[Outcome] = field(default_factory=list)
    n_initial: int = 0
    snapshots: dict[str, Snapshot] = field(default_factory=dict)
    traces: dict[str, Trace] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)

    @classmethod
    def of(cls, cell: Cell, problem: Problem) -> _Run:
        design = cell.option("initial") or 2 * (problem.domain.d + 1)
        most = cell.cap + design + 1
        return cls(
            cell,
            problem,
            acquisition_of(cell),
            rules_of(cell, problem),
            Objective.of(cell, problem, most),
            {cost: _pricing(cell, problem, cost, most) for cost in cell.costs},
            np.empty((0, problem.domain.width)),
        )

    @property
    def t(self) -> int:
        return len(self.outcomes) - self.n_initial

    def observe(self, x: Array) -> None:
        self.X = np.vstack([self.X, x])
        self.outcomes.append(self.problem.evaluate(x))

    def believe(self) -> None:
        """A snapshot of this moment for each price."""
        y = np.array([outcome.value for outcome in self.outcomes])
        with self._timed("fit"):
            objective = self.objective.after(self.X, y, self.t)
            prices = {cost: self._price(cost) for cost in self.cell.costs}
        for cost, price in prices.items():
            self.snapshots[cost] = Snapshot(
                self.problem.domain,
                self.X,
                y,
                Belief(objective, price),
                self.X[:0],
                initial=self.n_initial,
                traces=self.traces,
                seed=self.cell.seed,
                trial=len(y),
            )

    def record(self) -> None:
        """Every rule's signal; those that do not look at prices once."""
        for rule in self.rules:
            priced = rule.name in _PRICED or type(rule).__module__.partition(".")[0] != "stopwise"
            costs = self.cell.costs if priced else self.cell.costs[:1]
            for cost in costs:
                name = rule.key + AT + cost if priced and len(self.cell.costs) > 1 else rule.key
                with self._timed(f"rule:{_label(rule)}"):
                    signal = rule.signal(self._seen_by(rule, self.snapshots[cost]))
                before = self.traces.get(name, Trace()).signals
                self.traces[name] = Trace.of((*before, signal))

    def _seen_by(self, rule: StoppingRule, snapshot: Snapshot) -> Snapshot:
        """Paths are looked at on fewer points where a grid is finer than they need it."""
        thin = getattr(self.problem, "thin", None)
        if thin is None or rule.name != "prb":
            return snapshot
        return snapshot.once("thin", lambda: replace(snapshot, domain=thin(self.X), _memo={}))

    def choose(self) -> Array | None:
        """The acquisition's choice; None when nothing is left."""
        snapshot = self.snapshots[self.cell.costs[0]]
        snapshot = replace(snapshot, traces=dict(self.traces))
        with self._timed("ask"):
            x = snapshot.sup(self._chooser(snapshot)).x
            return snapshot.sup(LCB()).x if x is None else x

    def _chooser(self, snapshot: Snapshot) -> Acquisition:
        """As in a study: on a box, where nothing is worth its price, PBGI goes by gain per cost.

        There the lowest fair value is that of a copy of the incumbent.
        """
        chooser = self.acquisition
        if not isinstance(chooser, PBGI) or isinstance(self.problem.domain, Finite):
            return chooser
        worth = snapshot.sup(LogEIPC()).value > math.log(chooser.lam)
        return chooser if worth else LogEIPC()

    def _price(self, cost: str) -> Price:
        pricing = self.prices[cost]
        if not isinstance(pricing, LearnedPrices):
            return pricing
        paid = np.array([outcome.costs[LEARNED] for outcome in self.outcomes])
        return pricing.after(self.X, paid, self.t)

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        """Add to the time of a part at this moment."""
        start = time.perf_counter()
        yield
        taken = self.seconds.setdefault(part, [])
        taken += [0.0] * (self.t + 1 - len(taken))
        taken[self.t] += time.perf_counter() - start

    def trajectory(self) -> Trajectory:
        """What was seen, as columns."""
        outcomes, costs = self.outcomes, self.cell.costs
        return Trajectory(
            self.cell,
            self.n_initial,
            np.array([outcome.where for outcome in outcomes]),
            np.array([outcome.value for outcome in outcomes]),
            np.array([outcome.judged for outcome in outcomes]),
            {cost: np.array([outcome.costs[cost] for outcome in outcomes]) for cost in costs},
            {cost: np.array([o.judged_costs[cost] for o in outcomes]) for cost in costs},
            {key: Recorded.of(trace) for key, trace in self.traces.items()},
            self.problem.optimum,
            {part: np.array(taken) for part, taken in self.seconds.items()},
            {**self.problem.facts, **_versions()},
        )


def _pricing(cell: Cell, problem: Problem, cost: str, most: int) -> Price | LearnedPrices:
    """A price that is known once and for all, or one that is learned."""
    model, domain = problem.cost_model(cost), problem.domain
    if not isinstance(model, LearnedCost):
        return model.price(domain, np.empty((0, domain.width)), np.empty(0))
    projection = Projection(domain.points, most) if isinstance(domain, Finite) else None
    return LearnedPrices(problem, model, cell.option("refit", "always"), projection)


def _label(rule: StoppingRule) -> str:
    """A rule's name for the clock; variants of one rule are told apart."""
    variant = getattr(rule, "update", "") or getattr(rule, "estimate", "")
    return rule.name if variant in ("", "after", "bound") else f"{rule.name}-{variant}"


def _versions() -> dict[str, str]:
    found = {name: version(name) for name in ("stopwise", "numpy", "scipy")}
    return {**found, "python": platform.python_version()}


def check_names(references: Sequence[str]) -> None:
    """Refuse names that cannot be had before anything runs."""
    for reference in references:
        named(reference)
