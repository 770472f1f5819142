# SPDX-License-Identifier: Apache-2.0
"""Bounds around a mixture: components that are clipped alike are one mixture, clipped.

Below the upper bound and above the lower one both have the same cdf, and at the bounds the same
jumps; so each quantile of the mixture of clipped laws is the quantile of the mixture of those
inside, clipped. The latter has no jumps, and normals
inside are asked together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stopwise.core.beliefs.laws.bounded import Bounded
from stopwise.core.beliefs.laws.law import Law
from stopwise.core.numerics.arrays import Array


def bounds_around(
    weights: Array, laws: Sequence[Law], mixed: Callable[[Array, Sequence[Law]], Law]
) -> Bounded | None:
    """The clipped mixture that a mixture of laws is; None if they are not clipped alike.

    Args:
        weights: Of the laws.
        laws: The components.
        mixed: Makes a mixture of those inside.
    """
    first = laws[0]
    if not isinstance(first, Bounded):
        return None
    inside = [law.law for law in laws if isinstance(law, Bounded) and _alike(law, first)]
    if len(inside) < len(laws):
        return None
    return Bounded(mixed(weights, inside), first.low, first.high)


def _alike(law: Bounded, other: Bounded) -> bool:
    """Whether both have the same bounds at all points; those of stacked laws are not compared."""
    bounds = (law.low, law.high, other.low, other.high)
    numbers = [bound for bound in bounds if isinstance(bound, float | int)]
    return len(numbers) == len(bounds) and numbers[:2] == numbers[2:]
