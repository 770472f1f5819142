# SPDX-License-Identifier: Apache-2.0
"""The translation of Optuna's distributions to our parameters, and of values both ways."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.search_space import intersection_search_space
from optuna.trial import FrozenTrial, TrialState

from stopwise.core.space import Categorical, Integer, Parameter, Real
from stopwise.errors import InputTypeError

Distributions = Mapping[str, BaseDistribution]


def common(trials: Sequence[FrozenTrial]) -> dict[str, BaseDistribution]:
    """The distributions that all complete trials share, without those of a single value.

    A trial may be pruned before it has suggested everything; it counts only if none is complete.
    """
    complete = any(trial.state == TrialState.COMPLETE for trial in trials)
    begun = [trial for trial in trials if trial.params]
    shared = intersection_search_space(begun, include_pruned=not complete)
    return {name: d for name, d in shared.items() if not d.single()}


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
        distributions: The distribution of each parameter.
    """

    distributions: Distributions

    @property
    def space(self) -> dict[str, Parameter]:
        """The space as ``Study`` takes it."""
        return {name: _parameter(name, d) for name, d in self.distributions.items()}

    def inward(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Values of Optuna in the form of our space."""
        return {n: _inward(d, params[n]) for n, d in self.distributions.items()}

    def outward(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Values of our space in the form of Optuna."""
        return {n: _outward(d, params[n]) for n, d in self.distributions.items()}

    def internal(self, params: Mapping[str, Any]) -> dict[str, float]:
        """Values of Optuna as floats, which any storage can hold."""
        return {n: float(d.to_internal_repr(params[n])) for n, d in self.distributions.items()}

    def external(self, numbers: Mapping[str, float]) -> dict[str, Any]:
        """The reverse of ``internal``."""
        return {n: d.to_external_repr(numbers[n]) for n, d in self.distributions.items()}

    def holds(self, trial: FrozenTrial) -> bool:
        """Whether a trial has a value for every parameter, within its bounds."""
        return all(
            name in trial.params and d._contains(d.to_internal_repr(trial.params[name]))  # noqa: SLF001
            for name, d in self.distributions.items()
        )


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
