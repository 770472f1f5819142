# SPDX-License-Identifier: Apache-2.0
"""Standardised outputs: the affine map between the units of the data and those of the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stopwise.core.beliefs.observations import reject_non_finite
from stopwise.core.numerics.arrays import Array

_ROUNDING = 1e-13  # spread of y below this fraction of |y| is rounding, not signal
_NO_SPREAD = 1e-10  # of |y|: what counts as a deviation of values that have none


@dataclass(frozen=True, slots=True)
class Standardiser:
    """The affine map to standardised values, z = (y - shift)/scale.

    Example:
        >>> Standardiser.of(np.array([1.0, 2.0, 3.0]))
        Standardiser(shift=2.0, scale=1.0)
    """

    shift: float = 0.0
    scale: float = 1.0

    @classmethod
    def of(cls, y: Array) -> Standardiser:
        """The map that gives y mean 0 and deviation 1.

        One value says nothing of the unit and keeps it (scale 1). Several without any spread say
        that next to nothing varies: their scale is tiny beside them, so that nothing is expected
        to be gained.
        """
        reject_non_finite(y)
        if not y.size:
            return cls()
        largest = float(np.max(np.abs(y))) or 1.0
        scaled = y / largest  # so that squares neither over- nor underflow
        shift = float(np.mean(scaled)) * largest
        if y.size == 1:
            return cls(shift)
        spread = float(np.std(scaled, ddof=1))
        return cls(shift, (spread if spread > _ROUNDING else _NO_SPREAD) * largest)

    def forward(self, y: Array) -> Array:
        """Values in standardised units."""
        reject_non_finite(y)
        return (y - self.shift) / self.scale

    def inverse(self, z: Array) -> Array:
        """Standardised values in the units of the data."""
        return z * self.scale + self.shift
