# SPDX-License-Identifier: Apache-2.0
"""The default rule: candidates for ``stopping="pbgi"``, by measured cost-adjusted regret.

Candidates differ in how the rule reads its signal: as it is, averaged, after a stabilisation. How
large the initial design should be is another figure (``stopwise_paper.figures.design``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from stopwise_paper.analysis.regret import BEST_FIXED, HINDSIGHT, IMMEDIATE, Row, regret_rows
from stopwise_paper.analysis.replay import Variant, pbgi_alone
from stopwise_paper.analysis.standard_error import standard_error
from stopwise_paper.runs.trajectory import Trajectory

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
_MANY = 10  # problems from which on a standard error over problems can be trusted
MATCHED = ("pbgi", "logeipc")  # acquisitions that the theorem covers


@dataclass(frozen=True, slots=True)
class CandidateResult:
    """One candidate on one problem.

    Args:
        experiment: The experiment.
        problem: The problem.
        cost: The price.
        lam: Lambda of the rule and, for PBGI, of the acquisition.
        acquisition: The acquisition.
        n_initial: Size of the initial design.
        candidate: How the signal is read, or the name of a baseline.
        seeds: Number of seeds.
        adjusted: Cost-adjusted regret, the initial design paid.
        adjusted_se: Its standard error.
        excess: Regret minus that of the plain rule with the same design, mean over seeds.
        excess_se: Its standard error.
        t: Mean number of evaluations after the initial design.
        non_stops: Number of runs that were never stopped.
        worse_than_immediate: Whether it is worse than stopping at once by more than two standard
            errors, which the theorem excludes for the plain rule where the model is right.
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


def compare_candidates(
    trajectories: Iterable[Trajectory],
    lams: Sequence[float],
    candidates: Sequence[Variant] = CANDIDATES,
) -> list[CandidateResult]:
    """Every candidate on every problem, beside stopping at once and the oracles.

    Args:
        trajectories: Trajectories with one price each; those of acquisitions that are not in
            ``MATCHED`` are left out.
        lams: Lambdas of the rule.
        candidates: Ways to read the signal; the others are compared with the first.
    """
    by_size: dict[int, list[Trajectory]] = defaultdict(list)
    for view in trajectories:
        if view.cell.acquisition in MATCHED:
            by_size[view.n_initial].append(view)
    table: list[CandidateResult] = []
    for size, views in sorted(by_size.items()):
        groups: dict[tuple[str, str, str, float, str], dict[str, list[Row]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for variant in candidates:
            rows = regret_rows(views, lams, rules=pbgi_alone, variant=variant, baselines=False)
            _collect(groups, rows, str(variant))
        baselines = regret_rows(views, lams, rules=lambda _view, _lam: {})
        for name in (IMMEDIATE, HINDSIGHT, BEST_FIXED):
            _collect(groups, [row for row in baselines if row.pair.rule == name], name)
        for key, by_candidate in groups.items():
            table += [
                _result(key, size, name, by_candidate, str(candidates[0])) for name in by_candidate
            ]
    return table


@dataclass(frozen=True, slots=True)
class CandidateSummary:
    """One candidate over all problems of an experiment.

    Args:
        experiment: The experiment.
        candidate: How the signal is read, or the name of a baseline.
        problems: Number of combinations of problem, price, lambda and acquisition.
        relative: Mean over them of the regret relative to the plain rule's.
        relative_se: Its standard error, over problems where there are ten or more, else over
            problems and seeds: prices, lambdas and acquisitions share their functions.
        wins: Number on which it is better than plain by more than two standard errors.
        losses: Number on which it is worse by as much.
        worse_than_immediate: Number on which it is worse than stopping at once.
    """

    experiment: str
    candidate: str
    problems: int
    relative: float
    relative_se: float
    wins: int
    losses: int
    worse_than_immediate: int


def summarise(table: Sequence[CandidateResult], plain: str = "plain") -> list[CandidateSummary]:
    """Each candidate over all problems of each experiment."""
    reference = {_key_of(s): s.adjusted for s in table if s.candidate == plain}
    groups: dict[tuple[str, str], list[CandidateResult]] = defaultdict(list)
    for result in table:
        groups[result.experiment, result.candidate].append(result)
    return [_summary(key, group, reference) for key, group in groups.items()]


# ----------------------------------------------------------------------------- details


def _collect(
    groups: dict[tuple[str, str, str, float, str], dict[str, list[Row]]],
    rows: Iterable[Row],
    name: str,
) -> None:
    for row in rows:
        pair = row.pair
        key = (pair.experiment, pair.problem, pair.cost, pair.lam, pair.acquisition)
        groups[key][name].append(row)


def _result(
    key: tuple[str, str, str, float, str],
    size: int,
    name: str,
    by_candidate: dict[str, list[Row]],
    reference: str,
) -> CandidateResult:
    rows = sorted(by_candidate[name], key=lambda row: row.seed)
    plain = sorted(by_candidate[reference], key=lambda row: row.seed)
    at_once = sorted(by_candidate[IMMEDIATE], key=lambda row: row.seed)
    value, of_plain, of_immediate = (
        np.array([row.adjusted_with_initial for row in group]) for group in (rows, plain, at_once)
    )
    excess, lost = value - of_plain, value - of_immediate
    unit = np.mean(of_plain)
    return CandidateResult(
        *key,
        size,
        name,
        len(rows),
        float(value.mean()),
        float(standard_error(value)),
        float(excess.mean()),
        float(standard_error(excess)),
        float(np.mean([row.t for row in rows])),
        sum(not row.stopped for row in rows),
        bool(lost.mean() > 2.0 * standard_error(lost)),
        tuple((row.seed, float(e / unit)) for row, e in zip(rows, excess, strict=True)),
    )


def _summary(
    key: tuple[str, str],
    group: Sequence[CandidateResult],
    reference: dict[tuple[object, ...], float],
) -> CandidateSummary:
    ratio = np.array([result.adjusted / reference[_key_of(result)] for result in group])
    clusters: dict[tuple[object, ...], list[float]] = defaultdict(list)
    many = len({result.problem for result in group}) >= _MANY
    for result in group:
        for seed, excess in result.by_seed:
            cluster = (result.problem, result.n_initial)
            clusters[cluster if many else (*cluster, seed)].append(excess)
    return CandidateSummary(
        *key,
        len(group),
        float(ratio.mean()),
        float(standard_error(np.array([np.mean(values) for values in clusters.values()]))),
        sum(result.excess < -2.0 * result.excess_se for result in group),
        sum(result.excess > 2.0 * result.excess_se for result in group),
        sum(result.worse_than_immediate for result in group),
    )


def _key_of(result: CandidateResult) -> tuple[object, ...]:
    return (
        result.experiment,
        result.problem,
        result.cost,
        result.lam,
        result.acquisition,
        result.n_initial,
    )
