# SPDX-License-Identifier: Apache-2.0
"""Arguments of elementwise functions: broadcast, flattened and checked."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.numerics.arrays import Array
from stopwise.errors import InputError

Numbers: TypeAlias = Any  # an array, or a float64 where all arguments are scalars


def as_arrays(*values: ArrayLike) -> tuple[list[Array], tuple[int, ...]]:
    """Arguments broadcast against each other and flattened, and the shape of the results."""
    arrays = [np.asarray(v, dtype=np.float64) for v in values]
    # np.broadcast_arrays has ten times the overhead, and batches are small.
    shape = arrays[0].shape
    if {a.shape for a in arrays} - {shape, ()}:
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
    return [(a if a.shape == shape else _stretched(a, shape)).reshape(-1) for a in arrays], shape


def _stretched(array: Array, shape: tuple[int, ...]) -> Array:
    stretched = np.empty(shape)
    stretched[...] = array
    return stretched


def refuse_negative(name: str, argument: ArrayLike) -> None:
    """Refuse an argument with a negative element."""
    values = np.asarray(argument, dtype=np.float64).reshape(-1)
    below = values < 0
    if below.any():
        negative = np.flatnonzero(below)
        first = negative[0]
        message = (
            f"{name} must not be negative: got {float(values[first])!r} at position {first}"
            f" ({negative.size} of {values.size} values). Give {name} >= 0."
        )
        raise InputError(message)
