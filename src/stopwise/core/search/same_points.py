# SPDX-License-Identifier: Apache-2.0
"""Same points: which rows are, but for rounding, among some points of the encoded cube."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stopwise.core.beliefs.distances import chebyshev_distances
from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.space.domain import SAME

_SAME_SUM = 2.0 * SAME  # per column; twice, so that rounding does not matter


class SamePoints(NamedTuple):
    """Some points, and the sums of their columns: equal points have equal sums, and few others."""

    points: Array
    sums: Array

    @classmethod
    def of(cls, points: Array) -> SamePoints:
        """The points with their sums in order, and nan, which is not below anything, last."""
        return cls(points, np.append(np.sort(points.sum(axis=1)), np.nan))

    def among(self, X: Array) -> Mask:
        """Which rows of X are among them; sums are compared first."""
        lowest = X.sum(axis=1) - _SAME_SUM * X.shape[1]
        highest = lowest + 2.0 * _SAME_SUM * X.shape[1]
        perhaps: Mask = self.sums[self.sums.searchsorted(lowest)] <= highest
        if perhaps.any():
            distances = chebyshev_distances(X[perhaps], self.points)
            perhaps[perhaps] = (distances <= SAME).any(axis=1)
        return perhaps
