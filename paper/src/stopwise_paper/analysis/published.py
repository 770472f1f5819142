# SPDX-License-Identifier: Apache-2.0
"""Published numbers, and ours beside them.

Functions and seeds differ, so two means agree if they differ by at most two combined standard
errors; Immediate and Hindsight come first, because they show whether the problems agree at all.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files

from stopwise_paper.regret import BEST_FIXED, HINDSIGHT, IMMEDIATE, Mean

PUBLISHED_SEEDS = 50
_FIRST = {IMMEDIATE: 0, HINDSIGHT: 1, BEST_FIXED: 2}


@dataclass(frozen=True, slots=True)
class Number:
    """A published mean.

    Args:
        experiment: A name of ``EXPERIMENTS``.
        problem: As in a cell.
        cost: As in a cell.
        lam: Of the rule.
        acquisition: A name of ``ACQUISITIONS``, or ``any``.
        rule: A name of ``RULES`` or of a baseline.
        value: Cost-adjusted regret, the initial design free.
        se: Its standard error; nan where none was given.
        reading: How far off the reading of a plot may be.
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
class Count:
    """A published count: a place in the ranking, or runs that were never stopped."""

    table: str
    problem: str
    lam: float
    acquisition: str
    rule: str
    count: int
    of: int


@dataclass(frozen=True, slots=True)
class Compared:
    """One of our means and the published one.

    Args:
        number: The published one.
        ours: Our mean.
        ours_se: Its standard error.
        quirky: Our mean with the published code's departures switched on.
        quirky_se: Its standard error.
        theirs_se: The published standard error; where none was given, that of our runs at their
            number of seeds, and ``assumed`` says so.
        assumed: See above.
        seeds: Of ours.
        non_stops: How many of ours were never stopped.
    """

    number: Number
    ours: float
    ours_se: float
    quirky: float
    quirky_se: float
    theirs_se: float
    assumed: bool
    seeds: int
    non_stops: int

    @property
    def combined(self) -> float:
        """Both standard errors and the reading, together."""
        return self._combined(self.ours_se)

    @property
    def distance(self) -> float:
        """Ours minus theirs, in combined standard errors: negative is better."""
        return (self.ours - self.number.value) / self.combined

    @property
    def quirky_distance(self) -> float:
        """The same with the departures switched on."""
        return (self.quirky - self.number.value) / self._combined(self.quirky_se)

    @property
    def verdict(self) -> str:
        """``agrees``, ``better``, ``worse``; or ``unknown``, where there is no error bar."""
        return _verdict(self.distance)

    @property
    def quirky_verdict(self) -> str:
        """The same with the departures switched on."""
        return _verdict(self.quirky_distance)

    def _combined(self, se: float) -> float:
        return math.sqrt(se**2 + self.theirs_se**2 + self.number.reading**2)


def numbers() -> list[Number]:
    """The published means."""
    return [
        Number(
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


def counts() -> list[Count]:
    """The published ranking and non-stop tables."""
    return [
        Count(
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
    ours: Iterable[Mean], quirky: Iterable[Mean], published: Iterable[Number] | None = None
) -> list[Compared]:
    """Our means beside the published ones, baselines first.

    Args:
        ours: Means of one way to replay.
        quirky: The same with the published code's departures.
        published: The published numbers; those that ship with the package if left out.
    """
    plain = {_key(mean): mean for mean in ours}
    other = {_key(mean): mean for mean in quirky}
    found: list[Compared] = []
    for number in numbers() if published is None else published:
        key = _matching(number, plain)
        if key is None:
            continue
        mean, departed = plain[key], other.get(key)
        assumed = math.isnan(number.se)
        spread = mean.adjusted_se * math.sqrt(mean.seeds / PUBLISHED_SEEDS)
        found.append(
            Compared(
                number,
                mean.adjusted,
                mean.adjusted_se,
                departed.adjusted if departed else math.nan,
                departed.adjusted_se if departed else math.nan,
                spread if assumed else number.se,
                assumed,
                mean.seeds,
                mean.non_stops,
            )
        )
    order = {number: i for i, number in enumerate(c.number for c in found)}
    return sorted(found, key=lambda c: (_FIRST.get(c.number.rule, 3), order[c.number]))


def records(compared: Iterable[Compared]) -> Iterator[dict[str, object]]:
    """Flat dictionaries, for a CSV file."""
    for item in compared:
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
            "with_quirks": item.quirky,
            "with_quirks_se": item.quirky_se,
            "with_quirks_distance": item.quirky_distance,
            "with_quirks_agrees": item.quirky_verdict,
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


def _matching(number: Number, plain: dict[_Key, Mean]) -> _Key | None:
    """The key of our mean; ``any`` acquisition is the first there is."""
    where = (number.experiment, number.problem, number.cost, number.lam)
    if number.acquisition != "any":
        key = (*where, number.acquisition, number.rule)
        return key if key in plain else None
    return next((k for k in plain if k[:4] == where and k[5] == number.rule), None)


def _read(name: str) -> list[dict[str, str]]:
    text = (files("stopwise_paper") / "data" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
