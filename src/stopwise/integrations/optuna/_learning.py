# SPDX-License-Identifier: Apache-2.0
"""Learning the tree of a define-by-run objective from its complete trials.

A parameter that not all trials have, or not with the same range, has a range when another one,
suggested before it, has the values that it had in the trials with that range and in none of the
others. Of several such parameters the one that was suggested last before it is taken. If none
explains it alone, two together may. What nothing explains is modelled as if it always existed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.search_space import intersection_search_space
from optuna.trial import FrozenTrial, TrialState

from stopwise.integrations.optuna._tree import Tree, When, can_decide

_MOST_LISTED = 20  # values of a whole number of which any may explain others, not only intervals
_MOST_RANGES = 30  # of one parameter; with more, the range is taken to depend on a real number


def learned(trials: Sequence[FrozenTrial]) -> Tree:
    """What complete trials share, and what some of them have with the reason for it.

    Parameters of a single value are left out. A trial may be pruned before it has suggested
    everything; it counts only if none is complete.
    """
    complete = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    begun = [trial for trial in trials if trial.params]
    shared = intersection_search_space(begun, include_pruned=not complete)
    found = {name: d for name, d in shared.items() if not d.single()}
    deciding = {name: d for name, d in found.items() if can_decide(d)}
    when: dict[str, When] = {}
    ranges: dict[str, Mapping[str, BaseDistribution]] = {}
    unexplained: list[str] = []
    for name, distributions in _partly(complete):
        conditions = _explained(name, distributions, complete, deciding)
        found[name] = _whole(distributions)
        if conditions is None:
            unexplained.append(name)
        elif len(distributions) == 1:
            [when[name]] = conditions
            deciding |= {name: found[name]} if can_decide(found[name]) else {}
        else:
            called = [f"{name} [{i}]" for i in range(len(distributions))]
            when |= dict(zip(called, conditions, strict=True))
            several = zip(called, distributions, strict=True)
            ranges[name] = {n: d for n, d in several if not d.single()}
    seen = {name for trial in trials for name in trial.distributions}
    return Tree(found, when, seen=seen, ranges=ranges, unexplained=unexplained)


def _partly(trials: Sequence[FrozenTrial]) -> Iterator[tuple[str, list[BaseDistribution]]]:
    """Parameters that not all trials have with one range, in the order of suggestion.

    Yields:
        The name, and its ranges in the order in which they were first seen.
    """
    seen: dict[str, list[BaseDistribution]] = {}
    for trial in trials:
        for name, distribution in trial.distributions.items():
            seen.setdefault(name, []).append(distribution)
    rank = {name: max(_place(t, name) for t in trials if name in t.params) for name in seen}
    for name in sorted(seen, key=rank.__getitem__):
        several = list(dict.fromkeys(seen[name]))
        partly = len(seen[name]) < len(trials) or len(several) > 1
        if partly and not all(d.single() for d in several):
            yield name, several


def _explained(
    name: str,
    distributions: Sequence[BaseDistribution],
    trials: Sequence[FrozenTrial],
    deciding: Mapping[str, BaseDistribution],
) -> list[When] | None:
    """The condition of each range of a parameter; None if nothing explains all of them."""
    if len(distributions) > _MOST_RANGES:
        return None
    having = [trial for trial in trials if name in trial.params]
    before = [
        p
        for p in deciding
        if all(p in t.params and _place(t, p) < _place(t, name) for t in having)
    ]
    before.sort(key=lambda p: max(_place(t, p) for t in having), reverse=True)
    for parents in (*((p,) for p in before), *combinations(before, 2)):
        known = {p: deciding[p] for p in parents}
        if any(map(_has_many, known.values())) and len(distributions) > 1 + len(having) // 2:
            continue  # it may have another value in each trial, and explain another range
        conditions = [_condition(name, d, trials, known) for d in distributions]
        sure = [condition for condition in conditions if condition is not None]
        if len(sure) == len(conditions) and all(
            _exclude(one, other) for one, other in combinations(sure, 2)
        ):
            return sure
    return None


def _condition(
    name: str,
    distribution: BaseDistribution,
    trials: Sequence[FrozenTrial],
    parents: Mapping[str, BaseDistribution],
) -> When | None:
    """The values of some parents with which a parameter has a range; None if not only then."""
    having = [trial for trial in trials if trial.distributions.get(name) == distribution]
    lacking = [trial for trial in trials if trial.distributions.get(name) != distribution]
    condition = {p: _values(p, d, having, lacking) for p, d in parents.items()}
    if not all(condition.values()):
        return None
    fits = not any(_holds(condition, trial) for trial in lacking)
    # A parameter that is there whenever the other one is explains nothing.
    decides = all(any(p in t.params for t in lacking) for p in parents)
    return condition if fits and decides else None


def _exclude(one: When, other: When) -> bool:
    """Whether two conditions on the same parameters can never hold together."""
    return any(not set(map(repr, one[p])) & set(map(repr, other[p])) for p in one)


def _place(trial: FrozenTrial, name: str) -> int:
    return list(trial.params).index(name)


def _holds(condition: When, trial: FrozenTrial) -> bool:
    return all(p in trial.params and trial.params[p] in values for p, values in condition.items())


def _values(
    parent: str,
    distribution: BaseDistribution,
    having: Sequence[FrozenTrial],
    lacking: Sequence[FrozenTrial],
) -> tuple[Any, ...]:
    """The values that a parent had with the child; of whole numbers also those beyond.

    Of a number with many values only an interval explains anything: a list of those that were seen
    would explain whatever happened, and foretell nothing. None are returned if there is no such.
    """
    there = list(dict.fromkeys(trial.params[parent] for trial in having))
    if not isinstance(distribution, IntDistribution):
        return tuple(there)
    absent = [trial.params[parent] for trial in lacking if parent in trial.params]
    every = _every(distribution)
    low, high = min(there), max(there)
    if absent and max(absent) < low:  # as layers: the third exists if there are 3 or more
        return tuple(v for v in every if v >= low)
    if absent and min(absent) > high:
        return tuple(v for v in every if v <= high)
    if _has_many(distribution):
        between = any(low <= v <= high for v in absent)
        return () if between else tuple(v for v in every if low <= v <= high)
    return tuple(sorted(there))


def _has_many(distribution: BaseDistribution) -> bool:
    return isinstance(distribution, IntDistribution) and len(_every(distribution)) > _MOST_LISTED


def _every(distribution: IntDistribution) -> range:
    return range(distribution.low, distribution.high + 1, distribution.step)


def _whole(distributions: Sequence[BaseDistribution]) -> BaseDistribution:
    """A distribution that contains several, which are alike but for their ranges and steps.

    Optuna itself refuses other choices, another kind or another scale under the same name.
    """
    first, *others = distributions
    if not others or not isinstance(first, FloatDistribution | IntDistribution):
        return first
    low = min(d.low for d in distributions)  # type: ignore[attr-defined]
    high = max(d.high for d in distributions)  # type: ignore[attr-defined]
    if isinstance(first, IntDistribution):
        return IntDistribution(low, high, log=first.log)
    return FloatDistribution(low, high, log=first.log)
