# SPDX-License-Identifier: Apache-2.0
"""The soft warp: values beyond a knee are compressed by a logarithm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from stopwise.core.beliefs.laws import Normal, SoftWarped
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.soft_log import (
    slope_of_soft_exp,
    soft_exp,
    soft_log,
)
from stopwise.core.quantity import quantity
from stopwise.errors import InputError


@dataclass(frozen=True, slots=True)
class SoftWarp:
    r""":math:`w(y) = k + \tau\log(1 + (y - k)/\tau)` beyond the knee k, y up to it.

    A few very bad values then no longer inflate scale and length scales, and improvements below
    the knee are modelled in the user's units. Assumes that how bad a bad value is hardly matters.

    Args:
        knee: Where the logarithm begins.
        tau: Its scale, > 0; the smaller, the stronger the compression.

    References:
        Snelson et al. (2004); decision 32.

    Example:
        >>> SoftWarp(knee=7.1, tau=0.5).words()
        'values above 7.1 are compressed'
    """

    knee: float
    tau: float
    name: ClassVar[str] = "soft"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.knee) and math.isfinite(self.tau) and self.tau > 0.0):
            message = (
                f"a soft warp with knee={self.knee!r} and tau={self.tau!r}: give a finite knee and"
                " a finite tau > 0."
            )
            raise InputError(message)

    def words(self, sign: float = 1.0) -> str:
        """What it does to values."""
        side = "above" if sign > 0 else "below"
        return f"values {side} {quantity(sign * self.knee + 0.0)} are compressed"

    def forward(self, y: Array) -> Array:
        """The values, those beyond the knee compressed."""
        return soft_log(y, self.knee, self.tau)

    def inverse(self, g: Array) -> Array:
        """Back; infinite where that overflows."""
        return soft_exp(g, self.knee, self.tau)

    def inverse_slope(self, g: Array) -> Array:
        """One up to the knee, an exponential beyond."""
        return slope_of_soft_exp(g, self.knee, self.tau)

    def law(self, normal: Normal) -> SoftWarped:
        """Normal up to the knee, log-normal beyond."""
        return SoftWarped(normal, self.knee, self.tau)
