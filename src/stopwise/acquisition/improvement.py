# SPDX-License-Identifier: Apache-2.0
"""How likely a point is to be better by a margin; what PRB looks at before it samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stopwise.acquisition._pointwise import Partials, PointwiseScore
from stopwise.core.numerics.arrays import Array
from stopwise.core.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class ImprovementBy:
    r"""Score :math:`z = (y^* - \epsilon - \mu)/\sigma`; the probability is :math:`\Phi(z)`.

    Args:
        margin: The improvement that counts, epsilon, in objective units.
    """

    margin: float

    def __call__(self, mean: Array, std: Array, log_price: Array, best: float) -> Partials:  # noqa: ARG002
        """Score and partial derivatives."""
        sure = np.maximum(std, 1e-100)  # what is known for certain has no slope to speak of
        z = (best - self.margin - mean) / sure
        return Partials(z, -1.0 / sure, -z / sure, np.zeros_like(z))

    def bind(self, snapshot: Snapshot) -> PointwiseScore:
        """The score on a snapshot."""
        return PointwiseScore(self, snapshot, exclude=False, from_incumbent=True)
