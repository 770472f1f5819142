# SPDX-License-Identifier: Apache-2.0
"""Models of what f is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stopwise.core.beliefs.laws import Law, Loss, valued
from stopwise.core.beliefs.surrogate import Marginals
from stopwise.core.numerics.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class ValuedMarginals:
    """A model of f at points, as a model of its loss."""

    model: Marginals
    loss: Loss

    def law(self, X: Array) -> Law:
        """The law of the loss."""
        return valued(self.model.law(X), self.loss)

    def law_with_gradient(self, X: Array) -> tuple[Law, tuple[Array, ...]]:
        """The law of the loss; its parameters are those of the law of f."""
        law, gradients = self.model.law_with_gradient(X)
        return valued(law, self.loss), gradients


def worth_of_unit(loss: Loss, unit: float, best: float, worst: float) -> float:
    """What a typical difference of values is worth: by the mean slope over what was observed.

    Args:
        loss: Minus what values are worth.
        unit: A typical difference of values.
        best: The best value so far; a little beyond it counts too.
        worst: The worst one.

    Returns:
        A positive number, 1 where all of these are worth the same.
    """
    ends = np.array([best - unit, max(worst, best + unit)])
    below, above = loss(ends).tolist()
    worth = unit * (above - below) / float(ends[1] - ends[0])
    return worth if worth > 0.0 else 1.0
