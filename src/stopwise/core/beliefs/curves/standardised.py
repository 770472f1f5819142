# SPDX-License-Identifier: Apache-2.0
"""Reports as the model of curves sees them: bad values compressed stage by stage, then scaled."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stopwise.core.beliefs.curves.data import CurveData
from stopwise.core.beliefs.models.plain import bounded
from stopwise.core.beliefs.standardiser import Standardiser
from stopwise.core.beliefs.warps import DEFAULT_WARP, SoftWarp, Warp
from stopwise.core.numerics.arrays import Array

_ENOUGH = 3  # values of a stage before its bad ones are compressed


@dataclass(frozen=True, slots=True)
class StageScales:
    """The maps between values and standardised ones: a warp for each stage, one scale for all.

    Args:
        warps: How values of each stage are compressed; those better than the stage's median are
            not, so that gains stay in the user's units.
        standardiser: Of the compressed values of the first stage.
    """

    warps: tuple[Warp, ...]
    standardiser: Standardiser

    @classmethod
    def of(cls, data: CurveData, bounds: tuple[float, float]) -> StageScales:
        """The maps that follow from some reports."""
        by_stage = [data.y[data.stage == i] for i in range(data.times.size)]
        warps = [_compressing(y[np.isfinite(y)]) for y in by_stage]
        warps[-1] = bounded(warps[-1], bounds)
        first = next(i for i, y in enumerate(by_stage) if np.isfinite(y).any())
        y = warps[first].forward(by_stage[first][np.isfinite(by_stage[first])])
        standardiser = Standardiser(float(np.median(y)), Standardiser.of(y).scale)
        return cls(tuple(warps), standardiser)

    def forward(self, data: CurveData) -> Array:
        """Standardised values; one that has diverged is as bad as the worst of its stage."""
        z = np.empty(len(data))
        for i, warp in enumerate(self.warps):
            rows = data.stage == i
            finite = rows & np.isfinite(data.y)
            z[finite] = self.standardiser.forward(warp.forward(data.y[finite]))
            z[rows & ~finite] = z[finite].max(initial=-math.inf)
        worst = z[np.isfinite(z)].max()
        return np.where(np.isfinite(z), z, worst)  # where nothing has a value at the stage


def _compressing(y: Array) -> Warp:
    """The warp that compresses values worse than the median; none of few, or of equal ones."""
    if y.size < _ENOUGH:
        return DEFAULT_WARP
    knee = float(np.median(y))
    tau = knee - float(y.min())
    return SoftWarp(knee, tau) if 0.0 < tau < math.inf else DEFAULT_WARP
