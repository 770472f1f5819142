# SPDX-License-Identifier: Apache-2.0
"""Optuna's distributions as parameters of ours, and values both ways."""

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
    return {name: found for name, found in shared.items() if not found.single()}


def in_order(trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """Trials by the time of completion; those that run come last."""

    def completed(trial: FrozenTrial) -> tuple[float, int]:
        ended = trial.datetime_complete
        return (math.inf if ended is None else ended.timestamp(), trial.number)

    return sorted(trials, key=completed)


@dataclass(frozen=True, eq=False)
class Axes:
    """A search space of Optuna's. Where there is a step, we count the steps.

    Args:
        distributions: The distribution of each parameter.
    """

    distributions: Distributions

    @property
    def space(self) -> dict[str, Parameter]:
        """The space that a study of ours searches."""
        return {name: _parameter(name, found) for name, found in self.distributions.items()}

    def inward(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Values of Optuna's as our space knows them."""
        return {n: _inward(found, params[n]) for n, found in self.distributions.items()}

    def outward(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Values of ours as Optuna knows them."""
        return {n: _outward(found, params[n]) for n, found in self.distributions.items()}

    def internal(self, params: Mapping[str, Any]) -> dict[str, float]:
        """Values of Optuna's as numbers, whatever they are: what can be stored anywhere."""
        return {n: float(d.to_internal_repr(params[n])) for n, d in self.distributions.items()}

    def external(self, numbers: Mapping[str, float]) -> dict[str, Any]:
        """Values of Optuna's from the numbers that stand for them."""
        return {n: d.to_external_repr(numbers[n]) for n, d in self.distributions.items()}

    def holds(self, trial: FrozenTrial) -> bool:
        """Whether a trial has a value for every parameter, within its bounds."""
        return all(
            name in trial.params and found._contains(found.to_internal_repr(trial.params[name]))  # noqa: SLF001
            for name, found in self.distributions.items()
        )


def _parameter(name: str, found: BaseDistribution) -> Parameter:
    if isinstance(found, CategoricalDistribution):
        return Categorical(found.choices)
    step = _step(found)
    if isinstance(found, FloatDistribution | IntDistribution) and step is not None:
        return Integer(0, round((found.high - found.low) / step))
    if isinstance(found, IntDistribution):
        return Integer(found.low, found.high, log=found.log)
    if isinstance(found, FloatDistribution):
        return Real(found.low, found.high, log=found.log)
    message = (
        f"parameter {name!r} has the distribution {found!r}, which stopwise does not know; allowed"
        " are floats, integers and categories (suggest_float, suggest_int, suggest_categorical)."
    )
    raise InputTypeError(message)


def _step(found: BaseDistribution) -> float | None:
    """The step, where values are counted by it; None for every whole or every real number."""
    if isinstance(found, FloatDistribution):
        return found.step
    if isinstance(found, IntDistribution) and found.step != 1:
        return found.step
    return None


def _inward(found: BaseDistribution, value: Any) -> Any:  # noqa: ANN401  whatever they choose from
    step = _step(found)
    if isinstance(found, FloatDistribution | IntDistribution) and step is not None:
        return round((value - found.low) / step)
    return value


def _outward(found: BaseDistribution, value: Any) -> Any:  # noqa: ANN401
    step = _step(found)
    if isinstance(found, FloatDistribution | IntDistribution) and step is not None:
        return min(found.low + value * step, found.high)
    return value
