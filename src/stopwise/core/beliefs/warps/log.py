# SPDX-License-Identifier: Apache-2.0
"""The log warp: the logarithm of the distance to a lower bound is modelled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.core.beliefs.laws import LogWarped, Normal
from stopwise.core.numerics.arrays import Array
from stopwise.core.quantity import quantity
from stopwise.errors import InputError


@dataclass(frozen=True, slots=True)
class LogWarp:
    r""":math:`w(y) = \log(y - \ell)`: f is never at or below the bound.

    Assumes that values differ by factors: an error rate of 0.02 is to 0.01 as 0.2 is to 0.1.

    Args:
        low: The bound, below all values.

    References:
        Snelson et al. (2004).

    Example:
        >>> LogWarp(low=0.0).forward(np.array([1.0, np.e]))
        array([0., 1.])
    """

    low: float
    name: ClassVar[str] = "log"

    def __post_init__(self) -> None:
        if not math.isfinite(self.low):
            message = f"a log warp with low={self.low!r}: give a finite bound below all values."
            raise InputError(message)

    def words(self, sign: float = 1.0) -> str:
        """What it does to values."""
        return f"the logarithm of the distance to {quantity(sign * self.low + 0.0)} is modelled"

    def forward(self, y: Array) -> Array:
        """The logarithms.

        Raises:
            InputError: A value is not above the bound.
        """
        values = np.asarray(y, dtype=np.float64)
        least = np.min(values, initial=np.inf)
        if not least > self.low:
            message = (
                f"a value of {least:g} cannot be warped: the log warp takes values above"
                f" {self.low:g}. Give a lower bound that is below all values, or another warp."
            )
            raise InputError(message)
        warped: Array = np.log(values - self.low)
        return warped

    def inverse(self, g: Array) -> Array:
        """Back; infinite where that overflows."""
        return self.low + self.inverse_slope(g)

    def inverse_slope(self, g: Array) -> Array:
        """The exponential."""
        with np.errstate(over="ignore"):
            slope: Array = np.exp(g)
        return slope

    def law(self, normal: Normal) -> LogWarped:
        """A shifted log-normal."""
        return LogWarped(normal, self.low)
