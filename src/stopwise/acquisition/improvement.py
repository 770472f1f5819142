# SPDX-License-Identifier: Apache-2.0
"""The probability that a point is better by a margin, which PRB looks at before it samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stopwise.acquisition._pointwise import Partials, PointwiseScore
from stopwise.core.beliefs.laws import Law
from stopwise.core.numerics.arrays import Array
from stopwise.core.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class ImprovementBy:
    r"""Score z with :math:`\Phi(z) = P(f(x) \le y^* - \epsilon)`, which does not underflow.

    For a normal law :math:`z = (y^* - \epsilon - \mu)/\sigma`.

    Args:
        margin: The improvement that counts, epsilon, in objective units.
    """

    margin: float

    def __call__(self, law: Law, log_price: Array, best: float) -> Partials:  # noqa: ARG002
        """Score and partial derivatives."""
        z, slopes = law.z_score(best - self.margin)
        return Partials(z, slopes, np.zeros_like(z))

    def bind(self, snapshot: Snapshot) -> PointwiseScore:
        """The score on a snapshot."""
        return PointwiseScore(self, snapshot, exclude=False, from_incumbent=True)
