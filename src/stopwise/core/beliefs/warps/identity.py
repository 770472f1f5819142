# SPDX-License-Identifier: Apache-2.0
"""The identity: outputs are modelled as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.core.beliefs.laws import Normal
from stopwise.core.numerics.arrays import Array


@dataclass(frozen=True, slots=True)
class Identity:
    r"""No warp, :math:`w(y) = y`: the law of f is the model's normal.

    Assumes that values are as a Gaussian process has them: without a few that are beyond measure.

    References:
        Rasmussen and Williams (2006), Section 2.2.
    """

    name: ClassVar[str] = "identity"

    def words(self, sign: float = 1.0) -> str:  # noqa: ARG002  one interface for all
        """What it does to values."""
        return "values as they are"

    def forward(self, y: Array) -> Array:
        """The values."""
        return y

    def inverse(self, g: Array) -> Array:
        """The values."""
        return g

    def inverse_slope(self, g: Array) -> Array:
        """One."""
        return np.ones_like(g)

    def law(self, normal: Normal) -> Normal:
        """The normal."""
        return normal
