# SPDX-License-Identifier: Apache-2.0
"""The reports that a model of curves is fitted to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stopwise.core.numerics.arrays import Array, Indices

_UNIT = math.log(3.0)  # stages that are a factor of 3 apart are one unit of time apart


def stage_times(steps: Sequence[int]) -> Array:
    """The times of stages: logarithms of their steps, from 0 on."""
    logs = np.log(np.asarray(steps, dtype=np.float64))
    return np.asarray((logs - logs[0]) / _UNIT)


@dataclass(frozen=True, slots=True, eq=False)
class CurveData:
    """Reports of evaluations at some of their stages, one a row, in the order of telling.

    Args:
        X: The encoded configuration of each report, (n, width).
        trial: Which trial it is of, (n,).
        stage: Which stage it is of, (n,), from 0 on.
        y: The value, to be minimised, (n,); nan where the evaluation has diverged.
        times: When each stage is, (stages,); see ``stage_times``.
        groups: Column -> parameter.
    """

    X: Array
    trial: Indices
    stage: Indices
    y: Array
    times: Array
    groups: Indices

    def __len__(self) -> int:
        """Number of reports."""
        return int(self.y.size)

    @property
    def last(self) -> int:
        """The stage of final values."""
        return int(self.times.size) - 1

    @property
    def same_trial(self) -> Array:
        """One for two reports of the same trial, else zero, (n, n)."""
        return np.asarray(self.trial[:, None] == self.trial[None, :], dtype=np.float64)

    def with_(self, X: Array, trial: Indices, stage: Indices) -> CurveData:
        """With further reports, of which the values are not known."""
        return CurveData(
            np.vstack([self.X, X]),
            np.append(self.trial, trial),
            np.append(self.stage, stage),
            np.append(self.y, np.full(len(X), np.nan)),
            self.times,
            self.groups,
        )

    def first(self, size: int) -> CurveData:
        """The first so many reports."""
        rows = slice(0, size)
        return CurveData(
            self.X[rows], self.trial[rows], self.stage[rows], self.y[rows], self.times, self.groups
        )
