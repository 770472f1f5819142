# SPDX-License-Identifier: Apache-2.0
"""LCB: the lower confidence bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.acquisition._pointwise import Partials, PointwiseScore
from stopwise.core.beliefs.laws import Law
from stopwise.core.numerics.arrays import Array
from stopwise.core.snapshot import Snapshot

DELTA = 0.1  # Srinivas et al. 2010; Makarova et al. 2022
SCALED = 0.2  # Makarova et al. 2022 divide beta by 5


def confidence_beta(d: int, n: int, scale: float = SCALED) -> float:
    r""":math:`\beta_n = 2\,\mathrm{scale}\,\log(d n^2 \pi^2/(6\delta))`, delta = 0.1."""
    return 2.0 * scale * math.log(d * n**2 * math.pi**2 / (6.0 * DELTA))


@dataclass(frozen=True, slots=True)
class LowerBound:
    r"""Minus the quantile at :math:`\Phi(-\sqrt\beta)`.

    For a normal law that is :math:`-(\mu - \sqrt\beta\,\sigma)`.

    Args:
        beta: Squared width of the interval, in deviations of a normal.
        exclude: Whether evaluated and pending points are left out.
    """

    beta: float
    exclude: bool = True

    def __call__(self, law: Law, log_price: Array, best: float) -> Partials:  # noqa: ARG002
        """Score and partial derivatives."""
        bound, slopes = law.quantile(-math.sqrt(self.beta))
        return Partials(-bound, tuple(-slope for slope in slopes), np.zeros_like(bound))

    def bind(self, snapshot: Snapshot) -> PointwiseScore:
        """The score on a snapshot."""
        return PointwiseScore(self, snapshot, exclude=self.exclude, in_objective_units=True)


@dataclass(frozen=True, slots=True)
class LCB:
    r"""Lower confidence bound, :math:`\mu(x) - \sqrt{\beta_n}\,\sigma(x)`; blind to costs.

    :math:`\beta_n = \tfrac25\log(d n^2\pi^2/(6\delta))` with n observations in all, d parameters
    and delta = 0.1 (the published code counts cost instead of observations). Assumes that f lies
    within the band of the model at all points, with probability 1 - delta.

    References:
        Srinivas et al. (2010); Makarova et al. (2022).
    """

    name: ClassVar[str] = "lcb"

    def bind(self, snapshot: Snapshot) -> PointwiseScore:
        """The score on a snapshot."""
        return LowerBound(confidence_beta(snapshot.domain.d, snapshot.n)).bind(snapshot)
