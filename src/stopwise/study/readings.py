# SPDX-License-Identifier: Apache-2.0
"""The readings of values: the warps of a study's model, their weights, and the trust in promises.

The default model reads bad values in several ways and weighs these readings by whether their
promises came (``stopwise.core.beliefs.foresight``). This module puts the outcome into words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stopwise.core.beliefs.ensemble import Ensemble
from stopwise.core.beliefs.surrogate import Surrogate
from stopwise.core.quantity import percent
from stopwise.study.context import StudyContext


class WeighedReading(NamedTuple):
    """A reading of the values, in words, and its weight."""

    words: str
    weight: float


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings of a model, and the trust in what it promises.

    Args:
        entries: Readings with their weights, whose sum is 1; equal ones are listed once.
        trust: The share of foreseen gains that is believed; what is left of them is promised.
        kept: Number of choices that were as good as the model had foreseen, before that discount.
        judged: Number of choices of which that is known.
        expected: How many of them should have been, by the chances that the readings gave them: a
            foreseen gain is often a small chance of a large one.
        partly: Number of choices that were not, and brought what was promised all the same.

    Example:
        >>> as_they_are = WeighedReading("values as they are", 0.38)
        >>> compressed = WeighedReading("values above 7.1 are compressed", 0.62)
        >>> Readings((as_they_are, compressed), trust=0.34, kept=3, judged=20, expected=6.4).words
        'values as they are, weight 38 %; values above 7.1 are compressed, weight 62 %'
    """

    entries: tuple[WeighedReading, ...]
    trust: float
    kept: int
    judged: int
    expected: float
    partly: int = 0

    @property
    def words(self) -> str:
        """The readings and their weights, as a clause."""
        return "; ".join(f"{words}, weight {percent(weight)}" for words, weight in self.entries)

    @property
    def trust_words(self) -> str:
        """The trust and where it comes from, as a clause."""
        share = percent(self.trust)
        in_full = self.trust == 1.0 or share == percent(1.0)
        believed = f"foreseen gains are believed {'in full' if in_full else f'at {share}'}"
        if not self.judged:
            return f"{believed}, since no choice has shown yet whether they come"
        choices = "1 choice was" if self.judged == 1 else f"{self.judged} choices were"
        words = (
            f"{believed}: {self.kept} of {choices} as good as the model had foreseen, and"
            f" {self.expected:.1f} should have been by the chances that it gave"
        )
        if not self.partly:
            return words
        were = "1 was" if self.partly == 1 else f"{self.partly} were"
        still = "less good and still brought what was promised"
        return f"{words}; {were} {still}, which does not lower the trust"

    @property
    def unproved(self) -> tuple[str, ...]:
        """The assumptions of the paper's theorem that such a model does not satisfy, in words."""
        reasons = []
        if len(self.entries) > 1:
            reasons = [
                f"several readings of the values are modelled, not one ({self.words})",
                "the weights of these readings follow the data",
            ]
        if self.trust < 1.0:
            share = percent(self.trust)
            none_now = share == percent(1.0)
            to = "by what came of earlier ones" if none_now else f"to {share}"
            reasons.append(f"foreseen gains are discounted, {to}")
        return tuple(reasons)


def readings_of(context: StudyContext, objective: Surrogate) -> Readings | None:
    """The readings of a model; None if it is not an ensemble."""
    if not isinstance(objective, Ensemble):
        return None
    sign = context.options.sign
    weights: dict[str, float] = {}
    for component, weight in zip(objective.components, objective.weights.tolist(), strict=True):
        words = component.hyper.warp.words(sign)
        weights[words] = weights.get(words, 0.0) + weight
    seen = context.model.seen(context.state)
    chances = [np.dot(objective.weights, each.foresight.chances) for each in seen]
    return Readings(
        tuple(WeighedReading(*item) for item in weights.items()),
        objective.trust,
        sum(each.came for each in seen),
        len(seen),
        float(sum(chances)),
        sum(not each.tells for each in seen),
    )
