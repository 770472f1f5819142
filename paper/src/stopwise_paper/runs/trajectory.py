# SPDX-License-Identifier: Apache-2.0
"""The trajectory: one cell run to its cap, as columns of data, prices and recorded signals.

Arrays over evaluations have one entry per evaluation, the initial design first. Arrays over
decisions have one per t = 0..T; t = 0 is right after the initial design.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import stopwise as sw
from stopwise.acquisition import Snapshot
from stopwise.errors import InputError
from stopwise.stopping import PBGI, Signal, StoppingRule, Trace, traits_of
from stopwise_paper.arrays import Array, Indices
from stopwise_paper.cell import Cell

AT = "@"  # "sup_log_ei_per_cost@linear": a signal under one of several prices
LOG_GAIN_PER_COST = PBGI(lam=1.0).key  # of the signal sup log EI/c, which has no lambda in it


@dataclass(frozen=True, eq=False, slots=True)
class RecordedSignal:
    """A rule's signal over t = 0..T: the value that decides, and the facts beside it.

    Args:
        value: (T + 1,); nan where there was no answer.
        facts: Further numbers by name, (T + 1,) each; absent in consolidated files.
    """

    value: Array
    facts: Mapping[str, Array] = field(default_factory=dict)

    def read(self, n_initial: int) -> Iterator[Signal]:
        """The signals as stopping rules read them, from t = 0 on."""
        for t, value in enumerate(self.value.tolist()):
            facts = {k: float(v[t]) for k, v in self.facts.items() if not np.isnan(v[t])}
            yield Signal(t, n_initial + t, value, facts)

    @classmethod
    def of(cls, trace: Trace) -> RecordedSignal:
        """The columns of a trace that has one signal for each t = 0..T."""
        names = sorted({name for signal in trace for name in signal.facts})
        facts = {k: np.array([s.facts.get(k, np.nan) for s in trace]) for k in names}
        return cls(np.array([s.value for s in trace]), facts)


@dataclass(frozen=True, eq=False, slots=True)
class Trajectory:
    """A cell run to its cap.

    Args:
        cell: The cell.
        n_initial: Size of the initial design.
        x: Evaluated points: row numbers of a table, (n,), or points of the unit cube, (n, d).
        y: Observed values, minimised, (n,).
        judged_value: Values that regret counts, (n,): the test error, say; y where there is no
            other.
        costs: Costs that decisions saw, (n,), for each price of the cell.
        judged_costs: Costs that were really paid, (n,), for each price.
        signals: Every rule's signal, by its key; with several prices ``key@price`` if the signal
            depends on it.
        optimum: The best judged value of any point.
        seconds: Time by part (``fit``, ``ask``, ``rule:pbgi``, ...), (T + 1,) each; in
            consolidated files of tables the mean alone, (1,).
        facts: What else was recorded: the source of runtimes, versions.
    """

    cell: Cell
    n_initial: int
    x: NDArray[Any]
    y: Array
    judged_value: Array
    costs: Mapping[str, Array]
    judged_costs: Mapping[str, Array]
    signals: Mapping[str, RecordedSignal]
    optimum: float
    seconds: Mapping[str, Array] = field(default_factory=dict)
    facts: Mapping[str, str | float] = field(default_factory=dict)

    def __len__(self) -> int:
        """Number of evaluations, the initial design included."""
        return len(self.y)

    @property
    def T(self) -> int:  # noqa: N802  as in the paper
        """The last t: evaluations after the initial design."""
        return len(self.y) - self.n_initial

    @property
    def incumbent(self) -> Array:
        """Best y so far, (n,)."""
        return np.minimum.accumulate(self.y)

    @property
    def best_row(self) -> Indices:
        """Index of the incumbent after each evaluation, (n,); the first of equals."""
        n = np.arange(len(self.y))
        improved = np.concatenate([[True], self.y[1:] < self.incumbent[:-1]])
        return np.maximum.accumulate(np.where(improved, n, 0))

    @property
    def cost(self) -> Array:
        """Costs that decisions saw, (n,)."""
        return self._sole(self.costs)

    @property
    def judged_cost(self) -> Array:
        """Costs that were really paid, (n,)."""
        return self._sole(self.judged_costs)

    @property
    def regret(self) -> Array:
        """Judged simple regret of the incumbent (by y) over t = 0..T."""
        judged = self.judged_value[self.best_row] - self.optimum
        return np.asarray(judged[self.n_initial - 1 :])

    def spent(self, *, judged: bool = False, initial: bool = False) -> Array:
        """The sum of costs up to each t = 0..T.

        Args:
            judged: Sum what was really paid instead of what decisions saw.
            initial: Whether the initial design's cost is in the sum.
        """
        total = np.cumsum(self.judged_cost if judged else self.cost)[self.n_initial - 1 :]
        return np.asarray(total if initial else total - total[0])

    def traces(self) -> dict[str, Trace]:
        """The recorded signals as ``stopwise.replay`` reads them."""
        return {
            key: Trace.of(tuple(signal.read(self.n_initial)))
            for key, signal in self.signals.items()
        }

    def read(self, rule: StoppingRule) -> Iterator[Signal]:
        """The signals that a rule reads; those that need values alone are computed here."""
        if rule.key in self.signals:
            return self.signals[rule.key].read(self.n_initial)
        if reads_values_alone(rule):
            return (rule.signal(self._values_at(t)) for t in range(self.T + 1))
        message = (
            f"{rule.name} reads the signal {rule.key!r}, which this trajectory does not have;"
            f" it has {', '.join(sorted(self.signals)) or 'none'}."
        )
        raise InputError(message)

    def upto(self, t: int) -> Trajectory:
        """The trajectory as if its cap had been t."""
        n = self.n_initial + t

        def cut(columns: Mapping[str, Array]) -> dict[str, Array]:
            return {name: column[:n] for name, column in columns.items()}

        signals = {
            key: RecordedSignal(
                signal.value[: t + 1], {k: v[: t + 1] for k, v in signal.facts.items()}
            )
            for key, signal in self.signals.items()
        }
        return replace(
            self,
            x=self.x[:n],
            y=self.y[:n],
            judged_value=self.judged_value[:n],
            costs=cut(self.costs),
            judged_costs=cut(self.judged_costs),
            signals=signals,
        )

    def views(self) -> Iterator[Trajectory]:
        """One trajectory per price, each with the costs and signals of that price."""
        for cost in self.cell.costs:
            yield self.priced(cost)

    def priced(self, cost: str) -> Trajectory:
        """The trajectory under one of its prices."""
        if cost not in self.costs:
            message = f"this trajectory has the prices {sorted(self.costs)}, not {cost!r}."
            raise InputError(message)
        signals = {
            key.removesuffix(AT + cost): signal
            for key, signal in self.signals.items()
            if AT not in key or key.endswith(AT + cost)
        }
        return replace(
            self,
            cell=self.cell.priced(cost),
            costs={cost: self.costs[cost]},
            judged_costs={cost: self.judged_costs[cost]},
            signals=signals,
        )

    def _sole(self, by_price: Mapping[str, Array]) -> Array:
        if len(by_price) != 1:
            message = f"this trajectory has the prices {sorted(by_price)}: take one by priced()."
            raise InputError(message)
        return next(iter(by_price.values()))

    def _values_at(self, t: int) -> Snapshot:
        """A snapshot that has the values up to t, and a belief that knows nothing."""
        n = self.n_initial + t
        X = np.zeros((n, 1))
        return Snapshot(_unit_interval(), X, self.y[:n], _prior_belief(), X[:0], self.n_initial)


def reads_values_alone(rule: StoppingRule) -> bool:
    """Whether a rule's signal follows from the values observed, which are exact here."""
    return not traits_of(rule).signal.reads_model(exact=True)


@cache
def _unit_interval() -> sw.space.Domain:
    return sw.space.as_domain({"x": sw.Real(0.0, 1.0)})


@cache
def _prior_belief() -> sw.beliefs.Belief:
    """Observations are exact, so that the incumbent is the best value observed."""
    no_x, no_y = np.empty((0, 1)), np.empty(0)
    hyper = sw.beliefs.Hyperparameters(np.ones(1))
    objective = sw.beliefs.condition(no_x, no_y, hyper, interpolate=True)
    return sw.beliefs.Belief(objective, sw.beliefs.UnitCost().price(_unit_interval(), no_x, no_y))
