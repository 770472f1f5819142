# SPDX-License-Identifier: Apache-2.0
"""The scores of the field: what users of each contender pay, and what they find.

The sum paid is regret plus lambda times all that was spent, initial points included, in units of
the problem's gap (the median value minus the best). Seeds are averaged within a problem, and every
problem counts alike. Where contenders have played different problems or seeds, they are compared
with stopwise on those that both have played.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stopwise_paper.arrays import Array
from stopwise_paper.runs.field.contenders import CONTENDERS
from stopwise_paper.runs.field.record import FieldRun

BEST_COUNT, BEST_COUNTS, OWN_RULE = "best count", "best count of each problem", "own rule"
OWN_STOP = "stops itself"
OURS, OURS_UNPRICED = "stopwise", "stopwise-unpriced"

Problem = tuple[str, str]  # the problem and its price


@dataclass(frozen=True, slots=True)
class FieldScore:
    """What a contender comes to when it is stopped in one way.

    Args:
        contender: Its name.
        when: ``"50 trials"``, ``"own rule"``, ...
        evaluations: The price: median evaluations that the gap is worth.
        paid: The sum paid, in gaps.
        error: Its standard error over problems.
        regret: The part of it that is regret.
        trials: Evaluations.
        spent: What was spent, in median evaluations.
        unstopped: Of those that stop by themselves, the runs that were ended by the cap.
        paid_on: The sum paid on each problem, by seed.
    """

    contender: str
    when: str
    evaluations: int
    paid: float
    error: float
    regret: float
    trials: float
    spent: float
    unstopped: int
    paid_on: Mapping[Problem, Mapping[int, float]]

    @property
    def seeds(self) -> int:
        """How many seeds there are of the problem that has the fewest."""
        return min(len(by_seed) for by_seed in self.paid_on.values())

    def more_than(self, other: FieldScore) -> tuple[float, float]:
        """How much more is paid than by another, and its standard error over problems.

        Problems and seeds that both have played are compared: the first points of a search are
        drawn, and luck with them must not be luck against somebody else's.
        """
        more = []
        for problem, own in self.paid_on.items():
            others = other.paid_on.get(problem, {})
            differences = [own[seed] - others[seed] for seed in own if seed in others]
            if differences:
                more.append(np.mean(differences))
        return (float(np.mean(more)) if more else math.nan), _standard_error(np.array(more))

    def record(self) -> dict[str, Any]:
        """A row of a table."""
        return {
            "contender": CONTENDERS[self.contender].title,
            "stopped": self.when,
            "gap worth": self.evaluations,
            "paid": round(self.paid, 4),
            "error": round(self.error, 4),
            "regret": round(self.regret, 4),
            "trials": round(self.trials, 1),
            "spent": round(self.spent, 2),
            "problems": len(self.paid_on),
            "seeds": self.seeds,
            "not stopped": self.unstopped,
        }


def by_problem(runs: Iterable[FieldRun]) -> dict[Problem, list[FieldRun]]:
    """Runs of each problem, one for each seed."""
    grouped: dict[Problem, list[FieldRun]] = defaultdict(list)
    for run in runs:
        grouped[run.cell.problem, run.cell.cost].append(run)
    return grouped


def from_the_lowest(runs: Sequence[FieldRun]) -> list[FieldRun]:
    """Runs whose regret counts from the lowest value that anybody found, where one is lower.

    The best of a reference sample stands for the optimum of an objective that is trained, and a
    run may find a better value. Then all runs of that problem have as much more regret; the gap,
    and with it the price, stays that of the sample.
    """
    lowest = {
        problem: min(0.0, *(float(run.regret.min()) for run in found))
        for problem, found in by_problem(runs).items()
    }
    return [
        replace(run, regret=run.regret - lowest[run.cell.problem, run.cell.cost]) for run in runs
    ]


def scores(runs: Sequence[FieldRun], evaluations: int) -> list[FieldScore]:
    """All scores at one price, the lowest sum first within a contender's order."""
    found = []
    for name, contender in CONTENDERS.items():
        own = [run for run in runs if run.contender == name]
        if contender.priced:
            own = [run for run in own if run.cell.option("evaluations") == evaluations]
        problems = by_problem(own)
        if not problems:
            continue
        if contender.priced:
            found.append(_score(name, OWN_STOP, evaluations, problems, _ends(problems)))
            continue
        longest = min(len(run.cost) for run in own)
        for count in (count for count in contender.counts if count <= longest):
            stops = {problem: [count] * len(rs) for problem, rs in problems.items()}
            found.append(_score(name, f"{count} trials", evaluations, problems, stops))
        asked = by_problem(run for run in own if run.rule_seconds is not None)
        if contender.has_rule and asked:
            stops = {p: [r.stopped_at or len(r.cost) for r in rs] for p, rs in asked.items()}
            found.append(_score(name, OWN_RULE, evaluations, asked, stops))
        found += _hindsight(name, evaluations, problems)
    return found


def compared(found: Sequence[FieldScore]) -> list[dict[str, Any]]:
    """Rows of scores at one price, each with what is paid more than with stopwise."""
    ours = next((score for score in found if score.contender == OURS), None)
    rows = []
    for score in found:
        row = score.record()
        if ours is not None and score is not ours:
            more, error = score.more_than(ours)
            row |= {"more than stopwise": round(more, 4), "its error": round(error, 4)}
        rows.append(row)
    return rows


def _hindsight(
    name: str, evaluations: int, problems: Mapping[Problem, list[FieldRun]]
) -> list[FieldScore]:
    """The one count that is best over all problems, and the best one for each problem."""
    curves = {
        problem: np.mean([run.paid(evaluations) for run in runs], axis=0)
        for problem, runs in problems.items()
    }
    count = int(np.mean(list(curves.values()), axis=0).argmin()) + 1
    one = {problem: [count] * len(runs) for problem, runs in problems.items()}
    each = {p: [int(curves[p].argmin()) + 1] * len(runs) for p, runs in problems.items()}
    return [
        _score(name, BEST_COUNT, evaluations, problems, one),
        _score(name, BEST_COUNTS, evaluations, problems, each),
    ]


def _ends(problems: Mapping[Problem, list[FieldRun]]) -> dict[Problem, list[int]]:
    return {problem: [len(run.cost) for run in runs] for problem, runs in problems.items()}


def _score(
    name: str,
    when: str,
    evaluations: int,
    problems: Mapping[Problem, list[FieldRun]],
    stops: Mapping[Problem, list[int]],
) -> FieldScore:
    rows, paid_on = [], {}
    never = sum(not run.stopped_at for runs in problems.values() for run in runs)
    for problem, runs in problems.items():
        pairs = list(zip(runs, stops[problem], strict=True))
        by_seed = {run.cell.seed: float(run.paid(evaluations)[n - 1]) for run, n in pairs}
        regret = np.mean([run.regret[n - 1] / run.gap for run, n in pairs])
        spent = np.mean([run.cost[:n].sum() / run.median_cost for run, n in pairs])
        rows.append(
            (np.mean(list(by_seed.values())), regret, np.mean([n for _, n in pairs]), spent)
        )
        paid_on[problem] = by_seed
    paid, regret, trials, spent = np.mean(rows, axis=0)
    error = _standard_error(np.array(rows)[:, 0])
    unstopped = never if when in {OWN_STOP, OWN_RULE} else 0
    return FieldScore(
        name, when, evaluations, paid, error, regret, trials, spent, unstopped, paid_on
    )


def _standard_error(values: Array) -> float:
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def equal_trials(runs: Sequence[FieldRun]) -> list[dict[str, Any]]:
    """Contenders at equal trials, by dimension: mean rank, and what is left of random's gap.

    What is left is (value - lowest) / (random search's value - lowest) at the last trial, where
    the lowest value is the lowest that any of those compared found on that problem. Contenders
    have played different problems: for each set that somebody has played, those who have played
    all of it are compared on it.
    """
    last = {
        problem: {run.contender: float(run.regret[-1]) for run in found}
        for problem, found in by_problem(runs).items()
    }
    rows = []
    for d in sorted({_dimension(problem) for problem in last}):
        of_d = {problem: values for problem, values in last.items() if _dimension(problem) == d}
        for there in _played_alike(of_d):
            rows += [_at_equal_trials(name, d, there) for name in CONTENDERS if name in there[0]]
    return rows


def _at_equal_trials(name: str, d: int, there: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    ranks = np.array([_rank(values, name) for values in there])
    left = np.array([_left(values, name) for values in there])
    row = {
        "contender": CONTENDERS[name].title,
        "d": d,
        "problems": len(there),
        "of": len(there[0]),
        "rank": round(float(ranks.mean()), 2),
        "rank error": round(_standard_error(ranks), 2),
        "left": round(float(left.mean()), 4),
        "left error": round(_standard_error(left), 4),
    }
    if name != OURS_UNPRICED and OURS_UNPRICED in there[0]:
        more = ranks - np.array([_rank(values, OURS_UNPRICED) for values in there])
        row |= {
            "rank more": round(float(more.mean()), 2),
            "its error": round(_standard_error(more), 2),
        }
    return row


def _played_alike(
    last: Mapping[Problem, Mapping[str, float]],
) -> Iterator[list[dict[str, float]]]:
    """The values of those who can be compared, problem by problem; most problems first."""
    played = {
        name: frozenset(problem for problem, values in last.items() if name in values)
        for name in {name for values in last.values() for name in values}
    }
    for problems in sorted(set(played.values()), key=len, reverse=True):
        names = [name for name, of_name in played.items() if problems <= of_name]
        if len(names) > 1:
            yield [{n: last[problem][n] for n in names} for problem in last if problem in problems]


def optimiser_seconds(runs: Iterable[FieldRun]) -> list[dict[str, Any]]:
    """Processor seconds a trial of each contender, and those of a rule that was only recorded.

    Runs in which such a rule was asked and not timed apart are left out.
    """
    found: dict[str, list[FieldRun]] = defaultdict(list)
    for run in runs:
        if not CONTENDERS[run.contender].has_rule or run.rule_seconds != 0.0:
            found[run.contender].append(run)
    rows: list[dict[str, Any]] = []
    for name in (name for name in CONTENDERS if name in found):
        trials = sum(len(run.cost) for run in found[name])
        asked = [run for run in found[name] if run.rule_seconds]
        rule = sum(run.rule_seconds or 0.0 for run in asked)
        rows.append(
            {
                "contender": CONTENDERS[name].title,
                "runs": len(found[name]),
                "trials": trials,
                "seconds a trial": sum(run.seconds for run in found[name]) / trials,
                "its rule": rule / max(1, sum(len(run.cost) for run in asked)),
                "seconds in all": sum(run.seconds for run in found[name]) + rule,
            }
        )
    return rows


def _dimension(problem: Problem) -> int:
    return int(problem[0].rpartition("_d")[2])


def _rank(values: Mapping[str, float], name: str) -> float:
    """The rank from 1 on; equal values share the mean of their ranks."""
    others = np.array(list(values.values()))
    return float((others < values[name]).sum() + ((others == values[name]).sum() + 1) / 2)


def _left(values: Mapping[str, float], name: str) -> float:
    distance = values[name] - min(values.values())
    if distance <= 0.0:
        return 0.0
    span = values.get("random", max(values.values())) - min(values.values())
    return min(distance / span, 1.0) if span > 0.0 else 1.0
