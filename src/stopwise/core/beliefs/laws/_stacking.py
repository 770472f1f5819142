# SPDX-License-Identifier: Apache-2.0
"""Laws of one kind as one law, whose arrays have the law along their first axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from stopwise.core.beliefs.laws.bounded import Bounded
from stopwise.core.beliefs.laws.law import Law
from stopwise.core.beliefs.laws.normal import Normal
from stopwise.core.beliefs.laws.soft_warped import SoftWarped
from stopwise.core.numerics.arrays import Array

Kind = tuple[type, ...]


def kind_of(law: Law) -> Kind | None:
    """Laws of the same kind can be stacked; None for one that cannot."""
    if isinstance(law, Normal | SoftWarped):
        return (type(law),)
    inner = kind_of(law.law) if isinstance(law, Bounded) else None
    return inner and (Bounded, *inner)


def stacked(laws: Sequence[Law]) -> Law:
    """The stack of laws of one kind, which has a warp and bounds for each of them."""
    if isinstance(laws[0], Bounded):
        bounded = cast("Sequence[Bounded]", laws)
        inside = stacked([law.law for law in bounded])
        low, high = [law.low for law in bounded], [law.high for law in bounded]
        like = inside.parameters[0]
        return Bounded(inside, _column(low, like), _column(high, like))
    mean, std = (
        np.array(np.broadcast_arrays(*(law.parameters[j] for law in laws))) for j in range(2)
    )
    if isinstance(laws[0], SoftWarped):
        warped = cast("Sequence[SoftWarped]", laws)
        knee, tau = ([law.knee for law in warped], [law.tau for law in warped])
        return SoftWarped(Normal(mean, std), _column(knee, mean), _column(tau, mean))
    return Normal(mean, std)


def _column(values: Sequence[Array | float], like: Array) -> Array:
    return np.array(values).reshape(-1, *[1] * (like.ndim - 1))
