# SPDX-License-Identifier: Apache-2.0
"""The tree of a define-by-run objective: which parameters exist for which values of others.

A user may say it beforehand, with parameters of ours that have conditions; else it is learned from
complete trials (``_learning.py``). A parameter that has another range for other values of those
before it is several of ours, its branches: one for each range, each with its condition.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from stopwise.core.space import Categorical, Integer, Mixed, Ordinal, Parameter

When = Mapping[str, tuple[Any, ...]]

_MOST_VALUES = 1000  # of a whole number that others depend on


class Branch(NamedTuple):
    """A parameter of ours: one of Optuna's, or one of its ranges.

    Args:
        outer: The name that Optuna knows.
        distribution: Its values there.
    """

    outer: str
    distribution: BaseDistribution


class Tree(dict[str, BaseDistribution]):
    """Distributions by name, as Optuna hands them on, with the conditions of those that have one.

    Of a parameter with several ranges it holds one distribution that contains them all.

    Attributes:
        when: By name of ours, the values that others must have, as Optuna knows them.
        given: Parameters of ours, by name, where the user gave them.
        seen: The names that trials have had, where it is learned from them; None where the user
            gave it, so that no others can come.
        ranges: The branches of parameters with several ranges, by the name of the parameter, then
            by our name of the branch.
        unexplained: Names of parameters that exist, or have their range, for no reason that was
            found. They are modelled as if they always existed.
    """

    def __init__(
        self,
        distributions: Mapping[str, BaseDistribution],
        when: Mapping[str, When] | None = None,
        given: Mapping[str, Parameter] | None = None,
        seen: Collection[str] | None = None,
        *,
        ranges: Mapping[str, Mapping[str, BaseDistribution]] | None = None,
        unexplained: Collection[str] = (),
    ) -> None:
        super().__init__(distributions)
        self.when = dict(when or {})
        self.given = dict(given or {})
        self.seen = None if seen is None else frozenset(seen)
        self.ranges = dict(ranges or {})
        self.unexplained = frozenset(unexplained)

    @property
    def branches(self) -> dict[str, Branch]:
        """The parameters of ours by name, each after those that it depends on."""
        return {
            ours: Branch(name, d)
            for name, whole in self.items()
            for ours, d in self.ranges.get(name, {name: whole}).items()
        }

    def may_get(self, name: str) -> bool:
        """Whether a parameter may be added later: trials had it, or it may depend on a choice."""
        if self.seen is None:
            return False
        return name in self.seen or any(map(can_decide, self.values()))

    def active(self, params: Mapping[str, Any]) -> set[str]:
        """Our names of what exists beside params of Optuna."""
        return {name for name in self.branches if self.exists(name, params)}

    def exists(self, name: str, params: Mapping[str, Any]) -> bool:
        """Whether a parameter of ours exists beside params of Optuna."""
        return all(
            parent in params and params[parent] in values and self.exists(parent, params)
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


def can_decide(distribution: BaseDistribution) -> bool:
    """Whether others may depend on a parameter: it has few values."""
    if isinstance(distribution, IntDistribution):
        return distribution.high - distribution.low < _MOST_VALUES
    return isinstance(distribution, CategoricalDistribution)
