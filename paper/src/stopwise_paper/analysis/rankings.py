# SPDX-License-Identifier: Apache-2.0
"""Rankings over many data sets: top-k places, min-max-normalised regret, ranks and overlaps."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from stopwise_paper.analysis.regret import BASELINES, HINDSIGHT, IMMEDIATE, Mean
from stopwise_paper.analysis.standard_error import standard_error
from stopwise_paper.arrays import Array

Task = tuple[str, float]  # a problem at a lambda


@dataclass(frozen=True, slots=True)
class Place:
    """How often a pair is among the k best.

    Args:
        lam: Lambda of the rule.
        acquisition: Acquisition of the pair.
        rule: Rule of the pair.
        k: Number of places.
        count: Number of problems on which the pair is among the k best.
        of: Number of all problems.
    """

    lam: float
    acquisition: str
    rule: str
    k: int
    count: int
    of: int


@dataclass(frozen=True, slots=True)
class Normalised:
    """A pair's mean min-max-normalised regret over problems, with its standard error."""

    lam: float
    acquisition: str
    rule: str
    value: float
    se: float
    of: int


def top_k(
    table: Iterable[Mean],
    *,
    k: int = 3,
    problems: Collection[str] | None = None,
    immediate: bool = False,
) -> list[Place]:
    """How often each pair is among the 1, ..., k best by cost-adjusted regret.

    Oracles are left out. A pair's place is one more than the number of pairs that are strictly
    better, so equals share it.

    Args:
        table: Means of one experiment.
        k: The last place that counts.
        problems: Problems that count; all if left out.
        immediate: Whether stopping at once is a pair too (once, not for every acquisition).
    """
    tasks = _by_task(m for m in table if problems is None or m.pair.problem in problems)
    places: dict[tuple[float, str, str], list[int]] = defaultdict(list)
    of: dict[float, int] = defaultdict(int)
    for (_, lam), panel in tasks.items():
        of[lam] += 1
        pairs = [m for m in panel if m.pair.rule not in BASELINES]
        if immediate:
            pairs += [m for m in panel if m.pair.rule == IMMEDIATE][:1]
        values = np.array([m.adjusted for m in pairs])
        for mean in pairs:
            rank = 1 + int(np.sum(values < mean.adjusted))
            places[lam, mean.pair.acquisition, mean.pair.rule].append(rank)
    return [
        Place(lam, acquisition, rule, limit, sum(rank <= limit for rank in ranks), of[lam])
        for (lam, acquisition, rule), ranks in places.items()
        for limit in range(1, k + 1)
    ]


def normalised(table: Iterable[Mean]) -> list[Normalised]:
    """(r - r_min)/(r_max - r_min) on each problem, Hindsight in the minimum, then the mean.

    The largest is that of the pairs; Immediate and the best fixed iteration are shown on the same
    scale and do not set it.
    """
    scaled: dict[tuple[float, str, str], list[float]] = defaultdict(list)
    for (_, lam), panel in _by_task(table).items():
        pairs = [m.adjusted for m in panel if m.pair.rule not in BASELINES]
        oracle = [m.adjusted for m in panel if m.pair.rule == HINDSIGHT]
        low, high = min(pairs + oracle), max(pairs)
        if high <= low:
            continue
        for mean in panel:
            key = (lam, mean.pair.acquisition, mean.pair.rule)
            scaled[key].append((mean.adjusted - low) / (high - low))
    return [Normalised(*key, *_mean_and_se(values), len(values)) for key, values in scaled.items()]


def place_of(panel: Sequence[Mean], acquisition: str, rule: str) -> int | None:
    """The place of a pair among all pairs of one problem at one lambda; None if it is not there.

    Oracles and Immediate are left out.
    """
    pairs = [m for m in panel if m.pair.rule not in BASELINES]
    wanted = [m for m in pairs if (m.pair.acquisition, m.pair.rule) == (acquisition, rule)]
    if not wanted:
        return None
    return 1 + sum(m.adjusted < wanted[0].adjusted for m in pairs)


def matched_rank(table: Sequence[Mean], problem: str, lam: float) -> int | None:
    """The place of the PBGI rule among the rules that stop PBGI: how many are as good.

    None if PBGI was not run there.
    """
    by_rule = {
        m.pair.rule: m.adjusted
        for m in table
        if m.pair.problem == problem
        and m.pair.acquisition == "pbgi"
        and math.isclose(m.pair.lam, lam)
        and m.pair.rule not in BASELINES
    }
    if "pbgi" not in by_rule:
        return None
    return sum(value <= by_rule["pbgi"] for value in by_rule.values())


def top_overlap(validation: Array, test: Array, k: int = 20) -> float:
    """The share of the k best by validation error that are among the k best by test error."""
    best = [set(np.argsort(errors, kind="stable")[:k].tolist()) for errors in (validation, test)]
    return len(best[0] & best[1]) / k


def _by_task(table: Iterable[Mean]) -> dict[Task, list[Mean]]:
    tasks: dict[Task, list[Mean]] = defaultdict(list)
    for mean in table:
        tasks[mean.pair.problem, mean.pair.lam].append(mean)
    return tasks


def _mean_and_se(values: Sequence[float]) -> tuple[float, float]:
    array = np.array(values)
    return float(array.mean()), float(standard_error(array))
