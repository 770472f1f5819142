# SPDX-License-Identifier: Apache-2.0
"""Questions to the components of a mixture; many of one kind are asked together: it is faster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stopwise.core.beliefs.laws._roots import Rates, rates
from stopwise.core.beliefs.laws._stacking import kind_of, stacked
from stopwise.core.beliefs.laws.law import Law, WithSlopes
from stopwise.core.beliefs.laws.normal import Normal
from stopwise.core.beliefs.laws.soft_warped import SoftWarped
from stopwise.core.numerics.arrays import Array

_FEW = 3  # laws of one kind that are asked one by one, unless they are normal


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """Laws at the same points, of which the normal ones, and many of one kind, are stacked.

    Attributes:
        groups: Laws, the numbers of their components, and the weights. A stack answers with
            arrays whose first axis is the component.
        count: The number of components.
    """

    groups: tuple[tuple[Law, tuple[int, ...], Array], ...]
    count: int

    @classmethod
    def up_to(cls, level: Array | float, weights: Array, laws: Sequence[Law]) -> Components:
        """The same for questions about EI up to a level; up to its knee a law is a normal."""
        highest = np.max(level, initial=-np.inf)
        alike = [normal_below_knee(law) if highest <= knee_of(law) else law for law in laws]
        return cls.of(weights, alike)

    @classmethod
    def of(cls, weights: Array, laws: Sequence[Law]) -> Components:
        """The components of a mixture."""
        kinds: dict[object, list[int]] = {}
        for i, law in enumerate(laws):
            kinds.setdefault(kind_of(law) or i, []).append(i)
        groups: list[tuple[Law, tuple[int, ...], Array]] = []
        for numbers in kinds.values():
            alike = [laws[i] for i in numbers]
            if _together(alike):
                stack = stacked(alike)
                column = weights[numbers].reshape(-1, *[1] * (stack.parameters[0].ndim - 1))
                groups.append((stack, tuple(numbers), column))
            else:
                groups += [(laws[i], (i,), weights[i : i + 1]) for i in numbers]
        return cls(tuple(groups), len(laws))

    def values(self, answer: Callable[[Law, Array], Array]) -> Array:
        """One array for each component, stacked; ``answer`` takes a law and its weights."""
        return np.array(np.broadcast_arrays(*self._in_order(answer, lambda value, j: value[j])))

    def with_slopes(self, answer: Callable[[Law, Array], WithSlopes]) -> list[WithSlopes]:
        """An answer with slopes for each component."""
        return self._in_order(answer, _of)

    def rates(self, level: Array) -> list[Rates]:
        """Log EI and its rates for each component."""
        return self._in_order(
            lambda law, _: (
                _normal_rates(law, level) if isinstance(law, Normal) else rates(law, level)
            ),
            lambda at, j: Rates(_of(at.log_ei, j), at.rate[j], at.bend[j]),
        )

    def _in_order(
        self, answer: Callable[[Law, Array], Any], pick: Callable[[Any, int], Any]
    ) -> list[Any]:
        answers: list[Any] = [None] * self.count
        for law, numbers, weights in self.groups:
            joint = answer(law, weights)
            stack = len(numbers) > 1 or isinstance(law, Normal)
            for j, number in enumerate(numbers):
                answers[number] = pick(joint, j) if stack else joint
        return answers


def _together(alike: list[Law]) -> bool:
    return isinstance(alike[0], Normal) or len(alike) > _FEW


def knee_of(law: Law) -> float:
    """The level up to which a law's improvements are those of a normal; inf if there is none."""
    if not isinstance(law, SoftWarped):
        return np.inf
    return law.knee if isinstance(law.knee, float) else float(np.min(law.knee))


def normal_below_knee(law: Law) -> Law:
    """The normal of a softly warped law; any other law itself."""
    return law.normal if isinstance(law, SoftWarped) else law


def _of(part: WithSlopes, j: int) -> WithSlopes:
    return WithSlopes(part.value[j], tuple(slope[j] for slope in part.slopes))


def _normal_rates(law: Normal, level: Array) -> Rates:
    """Of a normal, F/EI is minus the slope in the mean, and f/EI that in the deviation over s."""
    log_ei = law.log_ei(level)
    d_mean, d_std = log_ei.slopes
    with np.errstate(divide="ignore", invalid="ignore"):
        bend = np.where(law.std > 0.0, d_std / law.std, 0.0)
    return Rates(log_ei, -d_mean, bend)
