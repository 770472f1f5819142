# SPDX-License-Identifier: Apache-2.0
"""Regret tables: every rule and baseline on every trajectory, and their means over seeds.

Cost-adjusted regret is simple regret plus lambda times the cost. Both sums are kept: without the
initial design's cost, as published, and with it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from stopwise.stopping import StoppingRule
from stopwise_paper.analysis.departures import check_departures, stop_with_departures
from stopwise_paper.analysis.replay import PLAIN, Stop, Variant, paper_rules, stop_of
from stopwise_paper.analysis.standard_error import standard_error
from stopwise_paper.arrays import Array
from stopwise_paper.runs.trajectory import Trajectory

Rules = Callable[[Trajectory, float], Mapping[str, StoppingRule]]

IMMEDIATE, HINDSIGHT, BEST_FIXED = "immediate", "hindsight", "best-fixed"
BASELINES = (IMMEDIATE, HINDSIGHT, BEST_FIXED)


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    """An acquisition and a rule on a problem, at a price and a lambda; means are over seeds."""

    experiment: str
    problem: str
    cost: str
    lam: float
    acquisition: str
    rule: str
    variant: str = "plain"


@dataclass(frozen=True, slots=True)
class Row:
    """One pair on one trajectory.

    Args:
        pair: The pair.
        seed: Seed of the trajectory.
        t: Evaluations after the initial design at which it stops.
        stopped: Whether the rule stopped it, rather than the cap.
        regret: Simple regret at t.
        spent: Cost after the initial design.
        initial_cost: Cost of the initial design.
    """

    pair: Pair
    seed: int
    t: int
    stopped: bool
    regret: float
    spent: float
    initial_cost: float

    @property
    def adjusted(self) -> float:
        """Cost-adjusted regret, the initial design free."""
        return self.regret + self.pair.lam * self.spent

    @property
    def adjusted_with_initial(self) -> float:
        """Cost-adjusted regret, the initial design paid."""
        return self.adjusted + self.pair.lam * self.initial_cost


@dataclass(frozen=True, slots=True)
class Mean:
    """A pair over its seeds, with standard errors (nan for a single seed)."""

    pair: Pair
    seeds: int
    adjusted: float
    adjusted_se: float
    adjusted_with_initial: float
    adjusted_with_initial_se: float
    regret: float
    regret_se: float
    spent: float
    t: float
    t_se: float
    non_stops: int


def regret_rows(
    trajectories: Iterable[Trajectory],
    lams: Sequence[float],
    *,
    rules: Rules = paper_rules,
    variant: Variant = PLAIN,
    judged: bool = False,
    departures: Iterable[str] = (),
    baselines: bool = True,
) -> list[Row]:
    """Every rule at every lambda on every trajectory.

    Args:
        trajectories: Trajectories with one price each (``Trajectory.views``).
        lams: Lambdas of the rules; a trajectory whose acquisition has one is read at that alone.
        rules: The rules for a trajectory and a lambda.
        variant: How signals are read: windows, stabilisation.
        judged: Count what was really paid instead of what decisions saw.
        departures: Departures of the published code, names of ``DEPARTURES``; they take rules
            as they are, so ``variant`` must be plain.
        baselines: Whether Immediate, Hindsight and the best fixed iteration are included.
    """
    views = list(trajectories)
    switched_on = check_departures(departures)
    donors = _pbgi_views(views) if "pbgi-index" in switched_on else {}
    rows: list[Row] = []
    for view in views:
        curves = _Curves.of(view, judged=judged)
        stops: dict[str, Stop] = {}  # most rules do not depend on lambda
        for lam in _lams_of(view, lams):
            donor = donors.get((view.cell.problem, view.cell.cost, view.cell.seed, lam))
            for name, rule in rules(view, lam).items():
                key = repr(rule) + (str(lam) if donor is not None else "")
                if key not in stops:
                    stops[key] = _stop(view, rule, variant, switched_on, donor)
                rows.append(curves.row(_pair(view, lam, name, str(variant)), stops[key]))
    if baselines:
        rows += baseline_rows(views, lams, judged=judged, short="short-cap" in switched_on)
    return rows


def baseline_rows(
    trajectories: Iterable[Trajectory],
    lams: Sequence[float],
    *,
    judged: bool = False,
    short: bool = False,
) -> Iterator[Row]:
    """Stopping at once, at the best t of each trajectory, and at the t that is best on average.

    The last two know the future: no rule can be expected to reach them.
    """
    groups: dict[Pair, list[_Curves]] = defaultdict(list)
    for view in trajectories:
        curves = _Curves.of(view, judged=judged)
        for lam in _lams_of(view, lams):
            groups[_pair(view, lam, BEST_FIXED)].append(curves)
            yield curves.row(_pair(view, lam, IMMEDIATE), Stop(0, stopped=True))
            curve = curves.adjusted(lam)
            best = int(np.argmin(curve[: len(curve) - short]))
            yield curves.row(_pair(view, lam, HINDSIGHT), Stop(best, stopped=True))
    for pair, group in groups.items():
        last = min(len(curves.regret) for curves in group)
        mean = np.mean([curves.adjusted(pair.lam)[:last] for curves in group], axis=0)
        best = int(np.argmin(mean[: len(mean) - short]))
        for curves in group:
            yield curves.row(pair, Stop(best, stopped=True))


def adjusted_curve(view: Trajectory, lam: float, *, judged: bool = False) -> Array:
    """Cost-adjusted regret over t = 0..T, the initial design free."""
    return _Curves.of(view, judged=judged).adjusted(lam)


def mean_curve(
    views: Sequence[Trajectory], lam: float, *, judged: bool = False
) -> tuple[Array, Array, Array]:
    """t, mean and standard error of the cost-adjusted regret, as far as all trajectories go."""
    last = min(view.T for view in views)
    curves = np.array([adjusted_curve(v, lam, judged=judged)[: last + 1] for v in views])
    return np.arange(last + 1.0), curves.mean(axis=0), standard_error(curves)


def means(rows: Iterable[Row]) -> list[Mean]:
    """Means over seeds, in the order in which pairs first appear."""
    groups: dict[Pair, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.pair].append(row)
    return [_mean(pair, group) for pair, group in groups.items()]


def non_stops(rows: Iterable[Row]) -> dict[Pair, tuple[int, int]]:
    """By pair: the number of trajectories that the rule never stopped, and the number of all."""
    return {m.pair: (m.non_stops, m.seeds) for m in means(rows) if m.pair.rule not in BASELINES}


def as_records(table: Iterable[Row | Mean]) -> list[dict[str, Any]]:
    """Flat dictionaries, for a CSV file."""
    return [_flat(item) for item in table]


# ----------------------------------------------------------------------------- details


def _stop(
    view: Trajectory,
    rule: StoppingRule,
    variant: Variant,
    departures: frozenset[str],
    donor: Trajectory | None,
) -> Stop:
    if departures:
        return stop_with_departures(view, rule, departures, donor)
    return stop_of(view, variant.of(rule))


def _flat(item: Row | Mean) -> dict[str, Any]:
    pair = {f.name: getattr(item.pair, f.name) for f in fields(Pair)}
    numbers = {f.name: getattr(item, f.name) for f in fields(item) if f.name != "pair"}
    if isinstance(item, Row):
        numbers |= {
            "adjusted": item.adjusted,
            "adjusted_with_initial": item.adjusted_with_initial,
        }
    return pair | numbers


def _pair(view: Trajectory, lam: float, rule: str, variant: str = "plain") -> Pair:
    cell = view.cell
    return Pair(cell.experiment, cell.problem, cell.cost, lam, cell.acquisition, rule, variant)


@dataclass(frozen=True, slots=True, eq=False)
class _Curves:
    """Regret and cost of one trajectory over t = 0..T, from which its rows are read."""

    seed: int
    regret: Array
    spent: Array
    initial_cost: float

    @classmethod
    def of(cls, view: Trajectory, *, judged: bool) -> _Curves:
        total = view.spent(judged=judged, initial=True)
        return cls(view.cell.seed, view.regret, total - total[0], float(total[0]))

    def adjusted(self, lam: float) -> Array:
        return np.asarray(self.regret + lam * self.spent)

    def row(self, pair: Pair, stop: Stop) -> Row:
        t = stop.t
        regret, spent = float(self.regret[t]), float(self.spent[t])
        return Row(pair, self.seed, t, stop.stopped, regret, spent, self.initial_cost)


def _mean(pair: Pair, rows: Sequence[Row]) -> Mean:
    def over(name: str) -> tuple[float, float]:
        values = np.array([getattr(row, name) for row in rows], dtype=np.float64)
        return float(values.mean()), float(standard_error(values))

    regret = over("regret")
    return Mean(
        pair,
        len(rows),
        *over("adjusted"),
        *over("adjusted_with_initial"),
        *regret,
        over("spent")[0],
        *over("t"),
        sum(not row.stopped for row in rows),
    )


def _lams_of(view: Trajectory, lams: Sequence[float]) -> tuple[float, ...]:
    """The lambdas at which a trajectory is read: that of its acquisition alone, if it has one."""
    of_acquisition = view.cell.lam
    return tuple(
        lam for lam in lams if of_acquisition is None or math.isclose(lam, of_acquisition)
    )


def _pbgi_views(views: Iterable[Trajectory]) -> dict[tuple[str, str, int, float], Trajectory]:
    """Trajectories of PBGI by problem, price, seed and lambda."""
    return {
        (v.cell.problem, v.cell.cost, v.cell.seed, v.cell.lam): v
        for v in views
        if v.cell.acquisition == "pbgi" and v.cell.lam is not None
    }
