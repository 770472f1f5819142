# SPDX-License-Identifier: Apache-2.0
r"""The synthetic costs of the paper's appendix, on the unit cube, each with mean about 1.

- uniform: 1
- linear: :math:`(1 + 20\,\bar x)/11`
- periodic: :math:`\exp(\tfrac\alpha d\sum_i\cos 2\pi\beta(x_i - x^*_i))/I_0(\alpha/d)^d`, with
  alpha = beta = 2: highest at the optimum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import i0

import stopwise as sw
from stopwise.errors import InputError
from stopwise_paper.arrays import Array

Kind = Literal["uniform", "linear", "periodic"]
KINDS: tuple[Kind, ...] = ("uniform", "linear", "periodic")

ALPHA = 2.0
BETA = 2.0


@dataclass(frozen=True, eq=False, slots=True)
class SyntheticCost:
    """One of the three costs: a cost model, and its own price, with exact gradients.

    Args:
        kind: ``"uniform"``, ``"linear"`` or ``"periodic"``.
        optimum: Where the objective is lowest, (d,); the periodic cost is highest there.
    """

    kind: Kind
    optimum: Array

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            message = f"the synthetic costs are {', '.join(KINDS)}, not {self.kind!r}."
            raise InputError(message)

    def price(
        self,
        domain: sw.space.Domain,  # noqa: ARG002  one interface for all
        X: Array,  # noqa: ARG002
        costs: Array,  # noqa: ARG002
        start: sw.beliefs.Hyperparameters | None = None,  # noqa: ARG002
    ) -> SyntheticCost:
        """The cost itself: it is known and does not change."""
        return self

    def __call__(self, X: Array) -> Array:
        """The cost at the rows of X."""
        return np.exp(self.log_cost(X).mean)

    def log_cost(self, X: Array) -> sw.beliefs.Normal:
        """ln c; its deviation is zero."""
        return sw.beliefs.Normal(self._log(X)[0], np.zeros(len(X)))

    def log_cost_with_gradient(self, X: Array) -> tuple[sw.beliefs.Normal, Array, Array]:
        """The same with gradients in x."""
        log, gradient = self._log(X)
        return sw.beliefs.Normal(log, np.zeros(len(X))), gradient, np.zeros(X.shape)

    def _log(self, X: Array) -> tuple[Array, Array]:
        d = X.shape[1]
        if self.kind == "uniform":
            return np.zeros(len(X)), np.zeros(X.shape)
        if self.kind == "linear":
            total = 1.0 + 20.0 * X.mean(axis=1)
            return np.log(total / 11.0), np.repeat(20.0 / d / total[:, None], d, axis=1)
        angle = 2.0 * math.pi * BETA * (X - self.optimum)
        log = ALPHA / d * np.cos(angle).sum(axis=1) - d * math.log(i0(ALPHA / d))
        return log, -ALPHA / d * 2.0 * math.pi * BETA * np.sin(angle)
