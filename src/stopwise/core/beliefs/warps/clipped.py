# SPDX-License-Identifier: Apache-2.0
"""Bounds on the values of f, on top of a warp: f is clipped to what is possible."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from stopwise.core.beliefs.laws import Bounded, Law, Normal
from stopwise.core.beliefs.warps.identity import Identity
from stopwise.core.beliefs.warps.warp import Warp
from stopwise.core.numerics.arrays import Array


@dataclass(frozen=True, slots=True)
class Clipped:
    r"""A warp with bounds: what the model expects beyond them is expected at them.

    The law of :math:`\min(\max(w^{-1}(z), \ell), u)`. Assumes that the bounds are known; they
    change no data, only what is expected.

    Args:
        low: The lowest possible value, or -inf.
        high: The highest possible value, or inf.
        of: The warp within the bounds.

    References:
        Decision 23.
    """

    low: float
    high: float
    of: Warp = field(default_factory=Identity)
    name: ClassVar[str] = "clipped"

    def forward(self, y: Array) -> Array:
        """As the warp within; observed values are within the bounds."""
        return self.of.forward(y)

    def inverse(self, g: Array) -> Array:
        """The value, clipped."""
        return np.clip(self.of.inverse(g), self.low, self.high)

    def inverse_slope(self, g: Array) -> Array:
        """That of the warp, and 0 where the value is clipped."""
        value = self.of.inverse(g)
        inside = (value >= self.low) & (value <= self.high)
        return np.where(inside, self.of.inverse_slope(g), 0.0)

    def law(self, normal: Normal) -> Law:
        """The clipped law."""
        return Bounded(self.of.law(normal), self.low, self.high)

    def words(self, sign: float = 1.0) -> str:
        """Those of the warp within; the bounds are the user's own words."""
        return self.of.words(sign)
