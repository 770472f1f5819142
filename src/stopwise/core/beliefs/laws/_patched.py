# SPDX-License-Identifier: Apache-2.0
"""Answers of which some points are answered otherwise."""

from __future__ import annotations

from functools import partial
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
    both = partial(joined, where)
    value, slopes, *rest = there
    other, other_slopes, *other_rest = elsewhere
    return type(there)(
        both(value, other),
        tuple(map(both, slopes, other_slopes)),
        *map(both, rest, other_rest),
    )


def joined(where: Mask, there: Array, elsewhere: Array) -> Array:
    """One array from its entries at some of the points and at the others."""
    both = np.empty(where.shape)
    both[where], both[~where] = there, elsewhere
    return both


def _replaced(array: Array, where: Mask, values: Array) -> Array:
    copy = np.array(array)
    copy[where] = values
    return copy
