# SPDX-License-Identifier: Apache-2.0
"""Answers of which some points are answered otherwise."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from stopwise.core.beliefs.laws.law import FairValue, WithSlopes
from stopwise.core.numerics.arrays import Array, Mask

Answer = TypeVar("Answer", WithSlopes, FairValue)


def at(given: Array | float, where: Mask) -> Array | float:
    """What is given for all points, or for each, at some of them."""
    return given if isinstance(given, float) else np.broadcast_to(given, where.shape)[where]


def patched(answer: Answer, where: Mask, there: Answer) -> Answer:
    """An answer with that of some points replaced."""
    value, slopes, *rest = answer
    other, other_slopes, *other_rest = there
    pairs = zip(slopes, other_slopes, strict=True)
    return type(answer)(
        _replaced(value, where, other),
        tuple(_replaced(slope, where, new) for slope, new in pairs),
        *(_replaced(old, where, new) for old, new in zip(rest, other_rest, strict=True)),
    )


def merged(where: Mask, there: Answer, elsewhere: Answer) -> Answer:
    """The answer at all points from those at some of them and at the others."""

    def joined(one: Array, other: Array) -> Array:
        both = np.empty(where.shape)
        both[where], both[~where] = one, other
        return both

    value, slopes, *rest = there
    other, other_slopes, *other_rest = elsewhere
    return type(there)(
        joined(value, other),
        tuple(map(joined, slopes, other_slopes)),
        *map(joined, rest, other_rest),
    )


def _replaced(array: Array, where: Mask, values: Array) -> Array:
    copy = np.array(array)
    copy[where] = values
    return copy
