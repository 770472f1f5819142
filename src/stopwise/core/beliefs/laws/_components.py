# SPDX-License-Identifier: Apache-2.0
"""Questions to the components of a mixture; normals are asked together, which is faster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stopwise.core.beliefs.laws._roots import Rates, rates
from stopwise.core.beliefs.laws.law import Law, WithSlopes
from stopwise.core.beliefs.laws.normal import Normal
from stopwise.core.beliefs.laws.soft_warped import SoftWarped
from stopwise.core.numerics.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """Laws at the same points, of which the normal ones are stacked.

    Attributes:
        groups: Laws, the numbers of their components, and the weights. A law of several components
            answers with arrays whose first axis is the component.
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
        normals = tuple(i for i, law in enumerate(laws) if isinstance(law, Normal))
        groups: list[tuple[Law, tuple[int, ...], Array]] = [
            (law, (i,), weights[i : i + 1]) for i, law in enumerate(laws) if i not in normals
        ]
        if normals:
            mean, std = (
                np.array(np.broadcast_arrays(*(laws[i].parameters[j] for i in normals)))
                for j in range(2)
            )
            of_normals = weights[list(normals)].reshape(-1, *[1] * (mean.ndim - 1))
            groups.append((Normal(mean, std), normals, of_normals))
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
            for j, number in enumerate(numbers):
                answers[number] = pick(joint, j) if isinstance(law, Normal) else joint
        return answers


def knee_of(law: Law) -> float:
    """The level up to which a law's improvements are those of a normal; inf if there is none."""
    return law.knee if isinstance(law, SoftWarped) else np.inf


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
