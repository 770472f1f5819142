# SPDX-License-Identifier: Apache-2.0
"""The published numbers, and ours beside them.

Functions and seeds differ, so two means agree if they differ by at most two combined standard
errors; Immediate and Hindsight come first, because they show whether the problems agree at all.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files

from stopwise_paper.analysis.regret import BEST_FIXED, HINDSIGHT, IMMEDIATE, Mean

PUBLISHED_SEEDS = 50
_FIRST = {IMMEDIATE: 0, HINDSIGHT: 1, BEST_FIXED: 2}


@dataclass(frozen=True, slots=True)
class PublishedMean:
    """A published mean.

    Args:
        experiment: A name of ``EXPERIMENTS``.
        problem: As in a cell.
        cost: As in a cell.
        lam: Lambda of the rule.
        acquisition: A name of ``ACQUISITIONS``, or ``any``.
        rule: A name of ``RULES`` or of a baseline.
        value: Cost-adjusted regret, the initial design free.
        se: Its standard error; nan where none was published.
        reading: Uncertainty of a value that was read from a plot.
        remark: ``about``, or ``never stops``.
    """

    experiment: str
    problem: str
    cost: str
    lam: float
    acquisition: str
    rule: str
    value: float
    se: float
    reading: float
    remark: str


@dataclass(frozen=True, slots=True)
class PublishedCount:
    """A published count: data sets on which a pair is top k, or runs that were never stopped."""

    table: str
    problem: str
    lam: float
    acquisition: str
    rule: str
    count: int
    of: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """One of our means beside the published one.

    Args:
        number: The published mean.
        ours: Our mean.
        ours_se: Its standard error.
        departed: Our mean with the published code's departures switched on.
        departed_se: Its standard error.
        theirs_se: The published standard error; where none was published, that of our runs at
            their number of seeds.
        assumed: Whether ``theirs_se`` is from our runs.
        seeds: Number of our seeds.
        non_stops: Number of our runs that were never stopped.
    """

    number: PublishedMean
    ours: float
    ours_se: float
    departed: float
    departed_se: float
    theirs_se: float
    assumed: bool
    seeds: int
    non_stops: int

    @property
    def combined(self) -> float:
        """Both standard errors and the uncertainty of the reading, combined."""
        return self._combined(self.ours_se)

    @property
    def distance(self) -> float:
        """Ours minus theirs, in combined standard errors: negative is better."""
        return (self.ours - self.number.value) / self.combined

    @property
    def departed_distance(self) -> float:
        """``distance`` with the departures switched on."""
        return (self.departed - self.number.value) / self._combined(self.departed_se)

    @property
    def verdict(self) -> str:
        """``agrees``, ``better`` or ``worse``; ``unknown`` where there is no standard error."""
        return _verdict(self.distance)

    @property
    def departed_verdict(self) -> str:
        """``verdict`` with the departures switched on."""
        return _verdict(self.departed_distance)

    def _combined(self, se: float) -> float:
        return math.sqrt(se**2 + self.theirs_se**2 + self.number.reading**2)


def published_means() -> list[PublishedMean]:
    """The published means, from the table that comes with this package."""
    return [
        PublishedMean(
            row["experiment"],
            row["problem"],
            row["cost"],
            float(row["lam"]),
            row["acquisition"],
            row["rule"],
            float(row["value"]),
            float(row["se"] or math.nan),
            float(row["reading"]),
            row["remark"],
        )
        for row in _read("published.csv")
    ]


def published_counts() -> list[PublishedCount]:
    """The published ranking and non-stop tables."""
    return [
        PublishedCount(
            row["table"],
            row["problem"],
            float(row["lam"]),
            row["acquisition"],
            row["rule"],
            int(row["count"]),
            int(row["of"]),
        )
        for row in _read("published_counts.csv")
    ]


def compare(
    ours: Iterable[Mean],
    departed: Iterable[Mean],
    published: Iterable[PublishedMean] | None = None,
) -> list[Comparison]:
    """Our means beside the published ones, baselines first.

    Args:
        ours: Means of a replay.
        departed: Means of a replay with the published code's departures.
        published: The published means; all of this package if left out.
    """
    plain = {_key(mean): mean for mean in ours}
    with_departures = {_key(mean): mean for mean in departed}
    comparisons: list[Comparison] = []
    for number in published_means() if published is None else published:
        key = _matching(number, plain)
        if key is None:
            continue
        mean, other = plain[key], with_departures.get(key)
        assumed = math.isnan(number.se)
        spread = mean.adjusted_se * math.sqrt(mean.seeds / PUBLISHED_SEEDS)
        comparisons.append(
            Comparison(
                number,
                mean.adjusted,
                mean.adjusted_se,
                other.adjusted if other else math.nan,
                other.adjusted_se if other else math.nan,
                spread if assumed else number.se,
                assumed,
                mean.seeds,
                mean.non_stops,
            )
        )
    order = {number: i for i, number in enumerate(c.number for c in comparisons)}
    return sorted(comparisons, key=lambda c: (_FIRST.get(c.number.rule, 3), order[c.number]))


def as_records(comparisons: Iterable[Comparison]) -> Iterator[dict[str, object]]:
    """Flat dictionaries, for a CSV file."""
    for item in comparisons:
        number = item.number
        yield {
            "experiment": number.experiment,
            "problem": number.problem,
            "cost": number.cost,
            "lam": number.lam,
            "acquisition": number.acquisition,
            "rule": number.rule,
            "ours": item.ours,
            "ours_se": item.ours_se,
            "theirs": number.value,
            "theirs_se": item.theirs_se,
            "theirs_se_assumed": item.assumed,
            "combined_se": item.combined,
            "distance": item.distance,
            "agrees": item.verdict,
            "with_departures": item.departed,
            "with_departures_se": item.departed_se,
            "with_departures_distance": item.departed_distance,
            "with_departures_agrees": item.departed_verdict,
            "seeds": item.seeds,
            "non_stops": item.non_stops,
            "remark": number.remark,
        }


def _verdict(distance: float) -> str:
    if math.isnan(distance):
        return "unknown"
    if abs(distance) <= 2.0:
        return "agrees"
    return "better" if distance < 0.0 else "worse"


_Key = tuple[str, str, str, float, str, str]


def _key(mean: Mean) -> _Key:
    pair = mean.pair
    return (pair.experiment, pair.problem, pair.cost, pair.lam, pair.acquisition, pair.rule)


def _matching(number: PublishedMean, plain: dict[_Key, Mean]) -> _Key | None:
    """The key of our mean; the acquisition ``any`` is matched by the first there is."""
    where = (number.experiment, number.problem, number.cost, number.lam)
    if number.acquisition != "any":
        key = (*where, number.acquisition, number.rule)
        return key if key in plain else None
    return next((k for k in plain if k[:4] == where and k[5] == number.rule), None)


def _read(name: str) -> list[dict[str, str]]:
    text = (files("stopwise_paper") / "data" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
