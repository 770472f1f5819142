# SPDX-License-Identifier: Apache-2.0
"""The smooth parts of a law: the components of a mixture, and where their cdf has a bend."""

from __future__ import annotations

import numpy as np

from stopwise.core.beliefs.laws.bounded import Bounded
from stopwise.core.beliefs.laws.law import Law
from stopwise.core.beliefs.laws.mixture import Mixture
from stopwise.core.beliefs.laws.shifted import Shifted
from stopwise.core.beliefs.laws.soft_warped import SoftWarped
from stopwise.core.numerics.arrays import Array


def components(law: Law) -> tuple[Array, list[Law]]:
    """The weights and laws of a mixture, clipped or moved as the mixture is."""
    if isinstance(law, Mixture):
        return law.weights, list(law.laws)
    if isinstance(law, Bounded):
        weights, laws = components(law.law)
        return weights, [Bounded(part, law.low, law.high) for part in laws]
    if isinstance(law, Shifted):
        weights, laws = components(law.law)
        return weights, [Shifted(part, law.by) for part in laws]
    return np.ones(1), [law]


def bends_of(law: Law) -> list[float]:
    """Values at which the cdf of a component is not smooth: the knee of a soft logarithm."""
    if isinstance(law, SoftWarped):
        return [float(law.knee)]
    if isinstance(law, Bounded):
        return [float(law.low), float(law.high), *bends_of(law.law)]
    if isinstance(law, Shifted):
        return [bend + law.by for bend in bends_of(law.law)]
    return []
