# SPDX-License-Identifier: Apache-2.0
"""Components of a mixture that are normals up to a knee, asked together.

Most of a step is spent on these. Up to its knee a softly warped normal is a normal, and the levels
that matter are below the knees, as a rule. EI increases, so where the root of the normals' EI is
below the knees it is that of the mixture's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stopwise.core.beliefs.laws._components import knee_of, normal_below_knee
from stopwise.core.beliefs.laws.law import FairValue, Law, WithSlopes
from stopwise.core.beliefs.laws.normal import Normal
from stopwise.core.numerics import normal_mixture
from stopwise.core.numerics.arrays import Array, Mask


class NormalStack(NamedTuple):
    """Means and deviations, (components, points), weights, and the lowest knee."""

    weights: Array
    mean: Array
    std: Array
    knee: float

    @classmethod
    def of(cls, weights: Array, laws: Sequence[Law]) -> NormalStack | None:
        """The stack of a mixture; None if a component is no normal, or certain, or unweighted."""
        normals = [law for law in map(normal_below_knee, laws) if isinstance(law, Normal)]
        if len(normals) < len(laws) or len({law.mean.shape for law in normals}) > 1:
            return None
        mean, std = np.array([law.mean for law in normals]), np.array([law.std for law in normals])
        if mean.ndim != 2 or mean.shape != std.shape or not weights.min() > 0.0:
            return None
        if not (std.min(initial=np.inf) > 0.0 and np.isfinite(std.sum() + mean.sum())):
            return None
        return cls(weights, mean, std, min(map(knee_of, laws)))

    def log_ei(self, level: Array | float) -> WithSlopes:
        """Log EI at a level up to the knees."""
        at = normal_mixture.improvement(self.weights, self.mean, self.std, level)
        return WithSlopes(at.log_ei, _in_order(-at.d_mean, at.d_std))

    def fair_value(self, price: Array | float) -> tuple[FairValue, Mask]:
        """Fair values, and where they are not those of the mixture."""
        prices = np.broadcast_to(np.asarray(price, dtype=np.float64), self.mean.shape[1:])
        fair = normal_mixture.fair_value(self.weights, self.mean, self.std, prices)
        slopes = _in_order(fair.d_mean, fair.d_std)
        return FairValue(fair.value, slopes, fair.d_log_price), ~(fair.value <= self.knee)


def _in_order(d_mean: Array, d_std: Array) -> tuple[Array, ...]:
    """The slopes of one component after the other."""
    return tuple(slope for both in zip(d_mean, d_std, strict=True) for slope in both)
