# SPDX-License-Identifier: Apache-2.0
"""LCB: the lower confidence bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.acquisition._pointwise import Partials, PointwiseScore
from stopwise.core.numerics.arrays import Array
from stopwise.core.snapshot import Snapshot

DELTA = 0.1  # Srinivas et al. 2010; Makarova et al. 2022
SCALED = 0.2  # Makarova et al. 2022 divide beta by 5


def confidence_beta(d: int, n: int, scale: float = SCALED) -> float:
    r""":math:`\beta_n = 2\,\mathrm{scale}\,\log(d n^2 \pi^2/(6\delta))`, delta = 0.1."""
    return 2.0 * scale * math.log(d * n**2 * math.pi**2 / (6.0 * DELTA))


@dataclass(frozen=True, slots=True)
class LowerBound:
    r"""Score :math:`-(\mu - \sqrt\beta\,\sigma)` at a given beta.

    Args:
        beta: Squared width of the interval, in deviations.
        exclude: Whether evaluated and pending points are left out.
    """

    beta: float
    exclude: bool = True

    def __call__(self, mean: Array, std: Array, log_price: Array, best: float) -> Partials:  # noqa: ARG002
        """Score and partial derivatives."""
        width = math.sqrt(self.beta)
        ones = np.ones_like(mean)
        return Partials(width * std - mean, -ones, width * ones, 0.0 * ones)

    def bind(self, snapshot: Snapshot) -> PointwiseScore:
        """The score on a snapshot."""
        return PointwiseScore(self, snapshot, exclude=self.exclude, in_objective_units=True)


@dataclass(frozen=True, slots=True)
class LCB:
    r"""Lower confidence bound, :math:`\mu(x) - \sqrt{\beta_n}\,\sigma(x)`; blind to costs.

    :math:`\beta_n = \tfrac25\log(d n^2\pi^2/(6\delta))` with n observations in all, d parameters
    and delta = 0.1 (the published code counts cost instead of observations).

    References:
        Srinivas et al. (2010); Makarova et al. (2022).
    """

    name: ClassVar[str] = "lcb"

    def bind(self, snapshot: Snapshot) -> PointwiseScore:
        """The score on a snapshot."""
        return LowerBound(confidence_beta(snapshot.domain.d, snapshot.n)).bind(snapshot)
