# SPDX-License-Identifier: Apache-2.0
"""Encoded points: matrices of floats, one point a row."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stopwise.core.numerics.arrays import Array
from stopwise.errors import InputError

AnyArray = TypeVar("AnyArray", bound=NDArray[Any])


def as_points(X: ArrayLike, width: int) -> Array:
    """Return X as a matrix of floats, after checking its shape."""
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != width:
        raise InputError(
            f"points have the shape {X.shape}; it must be (m, {width}), one encoded point per row"
        )
    return X


def row_bytes(X: Array) -> list[bytes]:
    """Return the bytes of each row; equal rows have equal bytes."""
    X = np.ascontiguousarray(X + 0.0)  # -0.0 + 0.0 is 0.0
    whole_rows = X.view(np.dtype((np.void, X.itemsize * X.shape[1])))
    return cast("list[bytes]", whole_rows.ravel().tolist())


def read_only(array: AnyArray) -> AnyArray:
    """Make an array read-only, and return it."""
    array.flags.writeable = False
    return array
