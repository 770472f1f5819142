# SPDX-License-Identifier: Apache-2.0
"""Checks of observations: inputs and values that belong together, and values that are finite."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.numerics.arrays import Array
from stopwise.errors import InputError


def as_data(X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Inputs (n, width) and observations (n,) as float64, or an error that says what they are."""
    inputs, values = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if inputs.ndim != 2 or values.shape != inputs.shape[:1]:
        message = (
            f"X has shape {inputs.shape} and y has shape {values.shape}: give one row of X per"
            " value of y, (n, width) and (n,)."
        )
        raise InputError(message)
    return inputs, values


def reject_non_finite(y: Array) -> None:
    """An InputError that names the first observation that is nan or infinite."""
    bad = np.flatnonzero(~np.isfinite(y))
    if bad.size:
        message = (
            f"observations must be finite: observation {bad[0]} is {float(y.flat[bad[0]])!r}"
            f" ({bad.size} of {y.size} are not finite). Report a failed evaluation as failed"
            " instead of giving nan or inf."
        )
        raise InputError(message)
