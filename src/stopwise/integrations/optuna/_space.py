# SPDX-License-Identifier: Apache-2.0
"""The translation of Optuna's distributions to our parameters, and of values both ways."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial

from stopwise.core.space import Categorical, Integer, Parameter, Real, as_domain
from stopwise.core.space.constraints import Constraint
from stopwise.errors import InputTypeError
from stopwise.integrations.optuna._tree import Tree

Distributions = Mapping[str, BaseDistribution]


def in_order(trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """Trials by the time of completion; those that run come last."""

    def completed(trial: FrozenTrial) -> tuple[float, int]:
        ended = trial.datetime_complete
        return (math.inf if ended is None else ended.timestamp(), trial.number)

    return sorted(trials, key=completed)


@dataclass(frozen=True, eq=False)
class Axes:
    """A search space of Optuna; a parameter with a step is modelled by the number of steps.

    Args:
        distributions: The distribution of each parameter, with conditions if it is a ``Tree``.
        limits: Constraints about params in the form of Optuna.
    """

    distributions: Distributions
    limits: tuple[Constraint, ...] = ()

    @cached_property
    def tree(self) -> Tree:
        """The distributions with their conditions."""
        given = self.distributions
        return given if isinstance(given, Tree) else Tree(given)

    @property
    def space(self) -> dict[str, Parameter]:
        """The space as ``Study`` takes it."""
        tree = self.tree
        plain = {
            n: tree.given[n] if n in tree.given else _parameter(b.outer, b.distribution)
            for n, b in tree.branches.items()
        }
        return {n: replace(p, when=self._when(n)) for n, p in plain.items()}

    @property
    def constraints(self) -> list[Constraint]:
        """The constraints as ``Study`` takes them."""
        return [Constraint(limit.source, self._test(limit)) for limit in self.limits]

    def inward(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Values of Optuna in the form of our space; see ``filled`` for what may be missing."""
        params, tree = self.filled(params, {}), self.tree
        there = {n: b for n, b in tree.branches.items() if tree.exists(n, params)}
        return {n: _inward(b.distribution, params[b.outer]) for n, b in there.items()}

    def outward(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Values of our space in the form of Optuna."""
        branches = self.tree.branches.items()
        return {b.outer: _outward(b.distribution, params[n]) for n, b in branches if n in params}

    def internal(self, params: Mapping[str, Any]) -> dict[str, float]:
        """Values of Optuna as floats, which any storage can hold."""
        there = {n: d for n, d in self.distributions.items() if n in params}
        return {n: float(d.to_internal_repr(params[n])) for n, d in there.items()}

    def completed(
        self, params: Mapping[str, Any], draw: Callable[[str, BaseDistribution], Any]
    ) -> dict[str, Any]:
        """Params of Optuna without what does not exist beside them, and with all that does.

        Args:
            params: The params.
            draw: Gives a value of a parameter that is missing, or is not in its range.
        """
        whole: dict[str, Any] = {}
        for ours, (name, distribution) in self.tree.branches.items():
            if not self.tree.exists(ours, whole):
                continue
            fits = name in params and is_among(distribution, params[name])
            whole[name] = params[name] if fits else draw(name, distribution)
        return whole

    def filled(self, params: Mapping[str, Any], proposed: Mapping[str, Any]) -> dict[str, Any]:
        """Params of a trial with values of what is modelled as if it always existed.

        Args:
            params: The params.
            proposed: The params that were chosen for the trial, if that is known; else the middle
                stands for what it lacks.
        """
        lacking = [n for n in self.tree if n in self.tree.unexplained and n not in params]
        values = {n: proposed[n] if n in proposed else self._middle(n) for n in lacking}
        return {**params, **values}

    def _middle(self, name: str) -> Any:  # noqa: ANN401
        """The value in the middle of a parameter, or its first choice."""
        distribution = self.tree[name]
        if isinstance(distribution, CategoricalDistribution):
            return distribution.choices[0]
        [ours] = as_domain({name: _parameter(name, distribution)}).decode(np.array([[0.5]]))
        return _outward(distribution, ours[name])

    def external(self, numbers: Mapping[str, float]) -> dict[str, Any] | None:
        """The reverse of ``internal``; None if these are not the numbers of this space."""
        if not set(numbers) <= set(self.distributions):
            return None
        params = {n: self.distributions[n].to_external_repr(v) for n, v in numbers.items()}
        return params if self._fits(params) else None

    def holds(self, trial: FrozenTrial) -> bool:
        """Whether a trial has a value for every parameter that exists, and for no other.

        One that has ended need not have what is modelled as if it always existed.
        """
        params = self.filled(trial.params, {}) if trial.state.is_finished() else trial.params
        return self._fits(params) and all(
            limit.holds(params, self.distributions) for limit in self.limits
        )

    def _fits(self, params: Mapping[str, Any]) -> bool:
        """Whether params of Optuna are a configuration: complete, and each in its range."""
        tree, branches = self.tree, self.tree.branches
        active = tree.active(params)
        there = {branches[n].outer: branches[n].distribution for n in active}
        return (
            all(n in params and is_among(d, params[n]) for n, d in there.items())
            and len(there) == len(active)
            and all(n in there or n not in params or n in tree.ranges for n in tree)
        )

    def _when(self, name: str) -> dict[str, list[Any]] | None:
        """The condition of a parameter in the form of our space."""
        condition = self.tree.when.get(name, {})
        return {
            parent: [_inward(self.distributions[parent], value) for value in values]
            for parent, values in condition.items()
        } or None

    def _test(self, limit: Constraint) -> Callable[[Mapping[str, Any]], bool]:
        return lambda params: limit.holds(self.outward(params), self.distributions)


def is_among(distribution: BaseDistribution, value: Any) -> bool:  # noqa: ANN401
    """Whether a distribution has a value, of whatever kind."""
    try:
        number = distribution.to_internal_repr(value)
    except (TypeError, ValueError):
        return False
    return bool(distribution._contains(number))  # noqa: SLF001


def _parameter(name: str, distribution: BaseDistribution) -> Parameter:
    if isinstance(distribution, CategoricalDistribution):
        return Categorical(distribution.choices)
    step = _step(distribution)
    if isinstance(distribution, FloatDistribution | IntDistribution) and step is not None:
        return Integer(0, round((distribution.high - distribution.low) / step))
    if isinstance(distribution, IntDistribution):
        return Integer(distribution.low, distribution.high, log=distribution.log)
    if isinstance(distribution, FloatDistribution):
        return Real(distribution.low, distribution.high, log=distribution.log)
    message = (
        f"parameter {name!r} has the distribution {distribution!r}, which stopwise does not know;"
        " allowed are floats, integers and categories (suggest_float, suggest_int,"
        " suggest_categorical)."
    )
    raise InputTypeError(message)


def _step(distribution: BaseDistribution) -> float | None:
    """The step, where values are counted by it; None for every whole or every real number."""
    if isinstance(distribution, FloatDistribution):
        return distribution.step
    if isinstance(distribution, IntDistribution) and distribution.step != 1:
        return distribution.step
    return None


def _inward(distribution: BaseDistribution, value: Any) -> Any:  # noqa: ANN401  whatever they choose from
    step = _step(distribution)
    if isinstance(distribution, FloatDistribution | IntDistribution) and step is not None:
        return round((value - distribution.low) / step)
    return value


def _outward(distribution: BaseDistribution, value: Any) -> Any:  # noqa: ANN401
    step = _step(distribution)
    if isinstance(distribution, FloatDistribution | IntDistribution) and step is not None:
        return min(distribution.low + value * step, distribution.high)
    return value
