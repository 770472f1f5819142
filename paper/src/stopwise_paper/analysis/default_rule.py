# SPDX-License-Identifier: Apache-2.0
"""What ``stopping="pbgi"`` should mean: candidates, by measured cost-adjusted regret.

Candidates differ in how the rule reads its signal: as it is, averaged, after a stabilisation. How
large the initial design should be is another figure (``stopwise_paper.figures.design``).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from stopwise.stopping import PBGI, StoppingRule
from stopwise_paper.regret import BEST_FIXED, HINDSIGHT, IMMEDIATE, Row, regret_rows
from stopwise_paper.replay import Variant
from stopwise_paper.trajectory import Trajectory

WINDOWS = (1, 3, 5, 10, 20)
CANDIDATES = (
    *(Variant(window) for window in WINDOWS),
    Variant(20, scale="linear"),
    Variant(after=5),
    Variant(after=20),
    Variant(5, after=5),
    Variant(20, after=20),
    Variant(20, after=20, scale="linear"),
)
_MANY = 10  # problems, that an error over them is an error
MATCHED = ("pbgi", "logeipc")  # acquisitions that the theorem covers


@dataclass(frozen=True, slots=True)
class Settled:
    """One candidate on one problem.

    Args:
        experiment: Which.
        problem: Which.
        cost: How it is priced.
        lam: Of the rule and, for PBGI, the acquisition.
        acquisition: Which.
        n_initial: Size of the initial design.
        candidate: How the signal is read; or a baseline.
        seeds: How many.
        adjusted: Cost-adjusted regret, the initial design paid.
        adjusted_se: Its standard error.
        excess: Over the plain rule with the same design, seed by seed.
        excess_se: Its standard error.
        t: Where it stops, on average.
        non_stops: How many were never stopped.
        worse_than_immediate: Whether it is worse than stopping at once by more than two standard
            errors, which the theorem excludes for the plain rule on a model that is right.
        by_seed: The excess of each seed, relative to the plain rule's mean.
    """

    experiment: str
    problem: str
    cost: str
    lam: float
    acquisition: str
    n_initial: int
    candidate: str
    seeds: int
    adjusted: float
    adjusted_se: float
    excess: float
    excess_se: float
    t: float
    non_stops: int
    worse_than_immediate: bool
    by_seed: tuple[tuple[int, float], ...] = ()


def settle(
    trajectories: Iterable[Trajectory],
    lams: Sequence[float],
    candidates: Sequence[Variant] = CANDIDATES,
) -> list[Settled]:
    """Every candidate on every problem, beside stopping at once and the oracles.

    Args:
        trajectories: With one price each; those of other acquisitions than ``MATCHED`` are left
            out.
        lams: Of the rule.
        candidates: How the signal is read; the first is what the others are compared with.
    """
    by_size: dict[int, list[Trajectory]] = defaultdict(list)
    for view in trajectories:
        if view.cell.acquisition in MATCHED:
            by_size[view.n_initial].append(view)
    table: list[Settled] = []
    for size, views in sorted(by_size.items()):
        groups: dict[tuple[str, str, str, float, str], dict[str, list[Row]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for variant in candidates:
            rows = regret_rows(views, lams, rules=_pbgi, variant=variant, baselines=False)
            _collect(groups, rows, str(variant))
        baselines = regret_rows(views, lams, rules=lambda _view, _lam: {})
        for name in (IMMEDIATE, HINDSIGHT, BEST_FIXED):
            _collect(groups, [row for row in baselines if row.pair.rule == name], name)
        for key, own in groups.items():
            table += [_settled(key, size, name, own, str(candidates[0])) for name in own]
    return table


@dataclass(frozen=True, slots=True)
class Overall:
    """One candidate over all problems of an experiment.

    Args:
        experiment: Which.
        candidate: How the signal is read; or a baseline.
        problems: How many problems, prices, lambdas and acquisitions.
        relative: Mean over them of the regret relative to the plain rule's.
        relative_se: Its standard error, over problems where there are ten or more, else over
            problems and seeds: prices, lambdas and acquisitions share their functions.
        wins: On how many it is better than plain by more than two standard errors.
        losses: On how many it is worse.
        worse_than_immediate: On how many it is worse than stopping at once.
    """

    experiment: str
    candidate: str
    problems: int
    relative: float
    relative_se: float
    wins: int
    losses: int
    worse_than_immediate: int


def overall(table: Sequence[Settled], plain: str = "plain") -> list[Overall]:
    """Candidates over all problems of each experiment."""
    reference = {_key_of(s): s.adjusted for s in table if s.candidate == plain}
    groups: dict[tuple[str, str], list[Settled]] = defaultdict(list)
    for settled in table:
        groups[settled.experiment, settled.candidate].append(settled)
    return [_overall(key, own, reference) for key, own in groups.items()]


# ----------------------------------------------------------------------------- details


def _pbgi(_view: Trajectory, lam: float) -> dict[str, StoppingRule]:
    return {"pbgi": PBGI(lam)}


def _collect(
    groups: dict[tuple[str, str, str, float, str], dict[str, list[Row]]],
    rows: Iterable[Row],
    name: str,
) -> None:
    for row in rows:
        pair = row.pair
        key = (pair.experiment, pair.problem, pair.cost, pair.lam, pair.acquisition)
        groups[key][name].append(row)


def _settled(
    key: tuple[str, str, str, float, str],
    size: int,
    name: str,
    own: dict[str, list[Row]],
    reference: str,
) -> Settled:
    rows = sorted(own[name], key=lambda row: row.seed)
    plain = sorted(own[reference], key=lambda row: row.seed)
    value = np.array([row.adjusted_with_initial for row in rows])
    excess = value - np.array([row.adjusted_with_initial for row in plain])
    paid = np.mean([row.adjusted_with_initial for row in plain])
    at_once = sorted(own[IMMEDIATE], key=lambda row: row.seed)
    lost = value - np.array([row.adjusted_with_initial for row in at_once])
    return Settled(
        *key,
        size,
        name,
        len(rows),
        float(value.mean()),
        _se(value),
        float(excess.mean()),
        _se(excess),
        float(np.mean([row.t for row in rows])),
        sum(not row.stopped for row in rows),
        bool(lost.mean() > 2.0 * _se(lost)),
        tuple((row.seed, float(e / paid)) for row, e in zip(rows, excess, strict=True)),
    )


def _overall(
    key: tuple[str, str], own: Sequence[Settled], reference: dict[tuple[object, ...], float]
) -> Overall:
    ratio = np.array([s.adjusted / reference[_key_of(s)] for s in own])
    clusters: dict[tuple[object, ...], list[float]] = defaultdict(list)
    many = len({s.problem for s in own}) >= _MANY
    for settled in own:
        for seed, excess in settled.by_seed:
            where = (settled.problem, settled.n_initial)
            clusters[where if many else (*where, seed)].append(excess)
    return Overall(
        *key,
        len(own),
        float(ratio.mean()),
        _se(np.array([np.mean(values) for values in clusters.values()])),
        sum(s.excess < -2.0 * s.excess_se for s in own),
        sum(s.excess > 2.0 * s.excess_se for s in own),
        sum(s.worse_than_immediate for s in own),
    )


def _key_of(settled: Settled) -> tuple[object, ...]:
    return (
        settled.experiment,
        settled.problem,
        settled.cost,
        settled.lam,
        settled.acquisition,
        settled.n_initial,
    )


def _se(values: np.ndarray) -> float:
    if len(values) < 2:
        return math.nan
    return float(values.std(ddof=1) / math.sqrt(len(values)))
