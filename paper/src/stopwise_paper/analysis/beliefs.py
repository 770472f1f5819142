# SPDX-License-Identifier: Apache-2.0
"""The comparison of beliefs: what studies cost that trusted them, and whether promises were kept.

Two measures set the cost-adjusted regret of a run, without its design, beside the published
trajectory of the same data set, seed and lambda: with *Immediate* its regret at t = 0 and
*Hindsight* the lowest along it, G = sum(regret - Hindsight) / sum(Immediate - Hindsight), summed
over data sets, and nr, the mean over data sets of
(regret - Hindsight) / (max(Immediate, regret at the cap) - Hindsight). The third is what a user
pays, the design included, in gaps (see ``BeliefRun.paid``). One or two data sets may decide G; nr
counts all alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from stopwise_paper.analysis.regret import adjusted_curve
from stopwise_paper.analysis.worse_sets import surely_worse
from stopwise_paper.arrays import Array, Indices
from stopwise_paper.runs.beliefs.plan import PAPER, PARTS, VARIANTS, half_of, part_of, variant_of
from stopwise_paper.runs.beliefs.record import BeliefRun
from stopwise_paper.runs.trajectory import Trajectory

PHASES = ((1, 10), (11, 30), (31, 100), (101, 10_000))  # of t, ends included
RESAMPLES, LEVEL = 2_000, 0.9
_TOLERANCE = 1e-9

Study = tuple[str, str, int, str]  # part, problem, seed, price


class Baseline(NamedTuple):
    """Cost-adjusted regrets of a published trajectory, its design free."""

    immediate: float
    hindsight: float
    cap: float


NO_BASELINE = Baseline(np.nan, np.nan, np.nan)


def baselines_of(
    trajectories: Mapping[tuple[str, int, float], Trajectory],
) -> dict[tuple[str, int, float], Baseline]:
    """The baselines of published trajectories, by problem, seed and lambda."""
    made = {}
    for key, trajectory in trajectories.items():
        curve = adjusted_curve(trajectory, key[2])
        made[key] = Baseline(float(curve[0]), float(curve.min()), float(curve[-1]))
    return made


@dataclass(frozen=True, eq=False, slots=True)
class SetMeans:
    """Means over the seeds of each data set, one entry per data set in each array.

    Args:
        adjusted: Cost-adjusted regret, the design free.
        immediate: Immediate of the published trajectories; nan where there are none.
        hindsight: Their Hindsight.
        cap: Their regret at the cap.
        paid: Cost-adjusted regret with the design, in gaps.
        paid_at_once: The same for stopping right after the design.
    """

    adjusted: Array
    immediate: Array
    hindsight: Array
    cap: Array
    paid: Array
    paid_at_once: Array

    @classmethod
    def of(
        cls,
        runs: Iterable[BeliefRun],
        baselines: Mapping[tuple[str, int, float], Baseline],
    ) -> SetMeans:
        """The means of runs of one variant at one price; data sets in alphabetical order."""
        by_set: dict[str, list[tuple[float, ...]]] = defaultdict(list)
        for run in runs:
            baseline = _baseline(run, baselines)
            row = (run.adjusted, *baseline, run.paid, run.paid_at_once)
            by_set[run.cell.problem].append(row)
        columns = np.array([np.mean(by_set[name], axis=0) for name in sorted(by_set)]).T
        return cls(*columns)

    def take(self, chosen: Indices) -> SetMeans:
        """Some of the data sets, perhaps several times."""
        return SetMeans(*(getattr(self, name)[chosen] for name in self.__slots__))

    def __len__(self) -> int:
        """Number of data sets."""
        return len(self.adjusted)

    @property
    def G(self) -> float:  # noqa: N802  its name in the tables
        """The share of what waiting could have gained that is lost; nan without baselines."""
        possible = float((self.immediate - self.hindsight).sum())
        lost = float((self.adjusted - self.hindsight).sum())
        return lost / possible if possible > 0.0 else np.nan

    @property
    def nr(self) -> float:
        """Regret between Hindsight (0) and the worse of Immediate and the cap (1)."""
        width = np.maximum(self.immediate, self.cap) - self.hindsight
        usable = width > 0.0
        if not usable.any():
            return np.nan
        return float(((self.adjusted - self.hindsight)[usable] / width[usable]).mean())

    @property
    def mean_paid(self) -> float:
        """What is paid, in gaps."""
        return float(self.paid.mean())

    @property
    def worse(self) -> int:
        """Data sets on which stopping at once is better.

        At once: as the published trajectory at t = 0, or, without one, after the run's own design.
        """
        published = self.adjusted > self.immediate + _TOLERANCE
        own = self.paid > self.paid_at_once + _TOLERANCE
        return int(np.where(np.isnan(self.immediate), own, published).sum())


METRICS: dict[str, Callable[[SetMeans], float]] = {
    "G": lambda means: means.G,
    "nr": lambda means: means.nr,
    "paid": lambda means: means.mean_paid,
}


def difference_interval(
    ours: SetMeans, theirs: SetMeans, metric: Callable[[SetMeans], float]
) -> tuple[float, float]:
    """The bootstrapped interval of a paired difference over data sets; nan for a single one."""
    if len(ours) < 2 or np.isnan(metric(ours) - metric(theirs)):
        return np.nan, np.nan
    rng = np.random.default_rng(0)
    draws = rng.integers(len(ours), size=(RESAMPLES, len(ours)))
    differences = [metric(ours.take(d)) - metric(theirs.take(d)) for d in draws]
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.nanquantile(differences, [tail, 1.0 - tail])
    return float(low), float(high)


def compared_runs(runs: Iterable[BeliefRun]) -> list[BeliefRun]:
    """The runs that can be compared: those of which the published belief has the same study.

    Of the published belief only those are kept of which another variant has the same study.
    """
    by_variant: dict[str, dict[Study, BeliefRun]] = defaultdict(dict)
    for run in runs:
        by_variant[variant_of(run.cell)][study_of(run)] = run
    published = by_variant.pop(PAPER, {})
    others = {study for of_variant in by_variant.values() for study in of_variant}
    kept = [run for study, run in published.items() if study in others]
    for of_variant in by_variant.values():
        kept += [run for study, run in of_variant.items() if study in published]
    return kept


def compare(
    runs: Iterable[BeliefRun], baselines: Mapping[tuple[str, int, float], Baseline]
) -> list[dict[str, Any]]:
    """A row for each half, part, price and variant."""
    groups: dict[tuple[str, str, str], dict[str, list[BeliefRun]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for run in compared_runs(runs):
        if PARTS[part_of(run.cell)].to_the_cap:  # nothing was decided
            continue
        group = (half_of(run.cell.problem), part_of(run.cell), price_of(run))
        groups[group][variant_of(run.cell)].append(run)
    rows = []
    for half, part, price in sorted(groups, key=_order):
        of_group = groups[half, part, price]
        for variant in (name for name in VARIANTS if name in of_group):
            identity = {"half": half, "part": part, "price": price, "variant": variant}
            rows.append(identity | _row(of_group[variant], of_group[PAPER], baselines))
    return rows


def calibration(runs: Iterable[BeliefRun]) -> list[dict[str, Any]]:
    """Promised over delivered gain for each half, part and variant, by phase, in gaps."""
    groups: dict[tuple[str, str, str], list[BeliefRun]] = defaultdict(list)
    for run in compared_runs(runs):
        group = (half_of(run.cell.problem), part_of(run.cell), variant_of(run.cell))
        groups[group].append(run)
    rows = []
    for half, part, variant in sorted(groups, key=_order):
        for first, last in PHASES:
            phase = {"half": half, "part": part, "variant": variant, "from": first}
            rows.append(phase | kept_promises(groups[half, part, variant], first, last))
    return rows


def kept_promises(runs: Iterable[BeliefRun], first: int, last: int) -> dict[str, float]:
    """What the choices from one t to another promised, delivered and cost, in gaps, in sum.

    Delivered is what the study was told; by how much judged regret fell stands beside it.
    """
    phase = slice(first - 1, last)
    runs = list(runs)
    falls = [run.regret[min(first - 1, run.T)] - run.regret[min(last, run.T)] for run in runs]
    promised = float(sum(run.promised[phase].sum() / run.gap for run in runs))
    delivered = float(sum(run.delivered[phase].sum() / run.gap for run in runs))
    return {
        "choices": sum(len(run.cost[phase]) for run in runs),
        "promised": promised,
        "delivered": delivered,
        "ratio": promised / delivered if delivered > 0.0 else np.nan,
        "regret_fell": float(sum(fall / run.gap for fall, run in zip(falls, runs, strict=True))),
        "spent": float(sum(run.lam * run.cost[phase].sum() / run.gap for run in runs)),
    }


def study_of(run: BeliefRun) -> Study:
    """What a run shares with those of other variants: all but the belief and the design."""
    return part_of(run.cell), run.cell.problem, run.cell.seed, price_of(run)


def price_of(run: BeliefRun) -> str:
    """The price as tables name it: lambda, or the part of the gap for a median evaluation."""
    evaluations = run.cell.option("evaluations")
    return f"{run.lam:g}" if evaluations is None else f"gap/{evaluations}"


def _baseline(run: BeliefRun, baselines: Mapping[tuple[str, int, float], Baseline]) -> Baseline:
    """The baseline of a run's study; none but for LCBench with known costs."""
    if part_of(run.cell) != "lcbench":
        return NO_BASELINE
    return baselines.get((run.cell.problem, run.cell.seed, run.lam), NO_BASELINE)


def _excesses(
    runs: Iterable[BeliefRun], baselines: Mapping[tuple[str, int, float], Baseline]
) -> list[list[float]]:
    """Regret above that of stopping at once, in the order of seeds, for each data set."""
    by_set: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        immediate = _baseline(run, baselines).immediate
        own = run.paid - run.paid_at_once
        excess = own if np.isnan(immediate) else run.adjusted - immediate
        by_set[run.cell.problem].append(excess)
    return list(by_set.values())


def _order(group: tuple[str, str, str]) -> tuple[str, int, float, str]:
    """Halves, then parts as they are listed, then prices from high to low."""
    half, part, last = group
    number = last.removeprefix("gap/")
    if last in VARIANTS:
        return half, list(PARTS).index(part), float(list(VARIANTS).index(last)), last
    return half, list(PARTS).index(part), float(number) if number != last else -float(last), last


def _row(
    runs: Sequence[BeliefRun],
    published: Sequence[BeliefRun],
    baselines: Mapping[tuple[str, int, float], Baseline],
) -> dict[str, Any]:
    """The measures of a variant, those of the published belief on the same studies, and more."""
    studies = {study_of(run) for run in runs}
    ours = SetMeans.of(runs, baselines)
    theirs = SetMeans.of([run for run in published if study_of(run) in studies], baselines)
    row: dict[str, Any] = {"sets": len(ours), "runs": len(runs)}
    for name, metric in METRICS.items():
        low, high = difference_interval(ours, theirs, metric)
        row |= {name: metric(ours), f"{name}_paper": metric(theirs)}
        row |= {f"{name}_difference_low": low, f"{name}_difference_high": high}
    row["paid_at_once"] = float(ours.paid_at_once.mean())
    row["design_paid"] = float(np.mean([r.lam * r.initial_cost / r.gap for r in runs]))
    row["spent_paid"] = float(np.mean([r.lam * r.spent / r.gap for r in runs]))
    row["never_stopped"] = float(np.mean([not run.stopped for run in runs]))
    row["worse_sets"] = ours.worse
    row["surely_worse_sets"] = surely_worse(_excesses(runs, baselines))
    row["t"] = float(np.mean([run.T for run in runs]))
    row |= {f"ratio_{first}": kept_promises(runs, first, last)["ratio"] for first, last in PHASES}
    return row
