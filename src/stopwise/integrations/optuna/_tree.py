# SPDX-License-Identifier: Apache-2.0
"""The tree of a define-by-run objective: which parameters exist for which values of others.

A user may say it beforehand, with parameters of ours that have conditions. Otherwise it is learned
from complete trials: a parameter that not all of them have exists when another one, suggested
before it, has the values that it had in the trials with it and in none of the others. Of several
such parameters the one that was suggested last before it is taken. If none explains it alone, two
together may; a parameter that nothing explains is left out, and is drawn at random.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.search_space import intersection_search_space
from optuna.trial import FrozenTrial, TrialState

from stopwise.core.space import Categorical, Integer, Mixed, Ordinal, Parameter

When = Mapping[str, tuple[Any, ...]]

_MOST_VALUES = 1000  # of a whole number that others depend on


class Tree(dict[str, BaseDistribution]):
    """Distributions by name, as Optuna hands them on, with the conditions of those that have one.

    Attributes:
        when: By name, the values that others must have, as Optuna knows them.
        given: Parameters of ours, by name, where the user gave them.
        seen: The names that trials have had, where it is learned from them; None where the user
            gave it, so that no others can come.
    """

    def __init__(
        self,
        distributions: Mapping[str, BaseDistribution],
        when: Mapping[str, When] | None = None,
        given: Mapping[str, Parameter] | None = None,
        seen: Collection[str] | None = None,
    ) -> None:
        super().__init__(distributions)
        self.when = dict(when or {})
        self.given = dict(given or {})
        self.seen = None if seen is None else frozenset(seen)

    def may_get(self, name: str) -> bool:
        """Whether a parameter may be added later: trials had it, or it may depend on a choice."""
        if self.seen is None:
            return False
        return name in self.seen or any(map(_can_decide, self.values()))

    def active(self, params: Mapping[str, Any]) -> set[str]:
        """The names that exist beside params of Optuna."""
        return {name for name in self if self._exists(name, params)}

    def _exists(self, name: str, params: Mapping[str, Any]) -> bool:
        return all(
            parent in params and params[parent] in values and self._exists(parent, params)
            for parent, values in self.when.get(name, {}).items()
        )


def as_tree(space: Mapping[str, Any]) -> Tree:
    """A space that the user gave, of Optuna's distributions and of our parameters."""
    ours = {name: p for name, p in space.items() if isinstance(p, Parameter)}
    if ours:
        order = Mixed.of(ours).conditions.order  # refuses conditions that cannot be
        ours = {name: ours[name] for name in (list(ours)[i] for i in order)}
    distributions = {name: d for name, d in space.items() if name not in ours}
    distributions |= {name: _distribution(p) for name, p in ours.items()}
    when = {name: dict(p.when) for name, p in ours.items() if p.when}
    varied = {name: d for name, d in distributions.items() if not d.single() or name in ours}
    return Tree(varied, when, ours)  # type: ignore[arg-type]  # tuples by now


def _distribution(parameter: Parameter) -> BaseDistribution:
    if isinstance(parameter, Categorical):
        return CategoricalDistribution(parameter.choices)
    if isinstance(parameter, Ordinal):
        return CategoricalDistribution(parameter.values)
    if isinstance(parameter, Integer):
        return IntDistribution(parameter.low, parameter.high, log=parameter.log)
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log)


def learned(trials: Sequence[FrozenTrial]) -> Tree:
    """What complete trials share, and what some of them have with the reason for it.

    Parameters of a single value are left out. A trial may be pruned before it has suggested
    everything; it counts only if none is complete.
    """
    complete = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    begun = [trial for trial in trials if trial.params]
    shared = intersection_search_space(begun, include_pruned=not complete)
    found = {name: d for name, d in shared.items() if not d.single()}
    when: dict[str, When] = {}
    for name, distribution in _partly(complete):
        condition = _explained(name, complete, found)
        if condition is not None:
            found[name], when[name] = distribution, condition
    seen = {name for trial in trials for name in trial.distributions}
    return Tree(found, when, seen=seen)


def _partly(trials: Sequence[FrozenTrial]) -> Iterator[tuple[str, BaseDistribution]]:
    """Parameters that some trials lack, in the order in which they are suggested."""
    seen: dict[str, list[BaseDistribution]] = {}
    for trial in trials:
        for name, distribution in trial.distributions.items():
            seen.setdefault(name, []).append(distribution)
    rank = {name: max(_place(t, name) for t in trials if name in t.params) for name in seen}
    for name in sorted(seen, key=rank.__getitem__):
        first, *others = seen[name]
        if (
            len(seen[name]) < len(trials)
            and not first.single()
            and all(d == first for d in others)
        ):
            yield name, first


def _explained(
    name: str, trials: Sequence[FrozenTrial], known: Mapping[str, BaseDistribution]
) -> When | None:
    """The condition of a parameter that some trials have; None if nothing explains it."""
    having = [trial for trial in trials if name in trial.params]
    lacking = [trial for trial in trials if name not in trial.params]
    before = [
        p
        for p, d in known.items()
        if _can_decide(d) and all(p in t.params and _place(t, p) < _place(t, name) for t in having)
    ]
    before.sort(key=lambda p: max(_place(t, p) for t in having), reverse=True)
    for parents in (*((p,) for p in before), *combinations(before, 2)):
        condition = {p: _values(p, known[p], having, lacking) for p in parents}
        fits = not any(_holds(condition, trial) for trial in lacking)
        # A parameter that is there whenever the other one is explains nothing.
        decides = all(any(p in t.params for t in lacking) for p in parents)
        if fits and decides:
            return condition
    return None


def _place(trial: FrozenTrial, name: str) -> int:
    return list(trial.params).index(name)


def _can_decide(distribution: BaseDistribution) -> bool:
    if isinstance(distribution, IntDistribution):
        return distribution.high - distribution.low < _MOST_VALUES
    return isinstance(distribution, CategoricalDistribution)


def _holds(condition: When, trial: FrozenTrial) -> bool:
    return all(p in trial.params and trial.params[p] in values for p, values in condition.items())


def _values(
    parent: str,
    distribution: BaseDistribution,
    having: Sequence[FrozenTrial],
    lacking: Sequence[FrozenTrial],
) -> tuple[Any, ...]:
    """The values that a parent had with the child; of whole numbers also those beyond."""
    there = list(dict.fromkeys(trial.params[parent] for trial in having))
    if not isinstance(distribution, IntDistribution):
        return tuple(there)
    absent = [trial.params[parent] for trial in lacking if parent in trial.params]
    every = range(distribution.low, distribution.high + 1, distribution.step)
    if absent and max(absent) < min(there):  # as layers: the third exists if there are 3 or more
        return tuple(v for v in every if v >= min(there))
    if absent and min(absent) > max(there):
        return tuple(v for v in every if v <= max(there))
    return tuple(sorted(there))
