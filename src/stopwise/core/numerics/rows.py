# SPDX-License-Identifier: Apache-2.0
"""Different rows of a matrix.

numpy's ``unique`` with an axis compares structured arrays, for which it imports a part of itself
when it is first used; an interrupt that arrives just then leaves it as a TypeError.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from stopwise.core.numerics.arrays import Indices

_Scalar = TypeVar("_Scalar", bound=np.generic)


def unique_rows(X: npt.NDArray[_Scalar]) -> tuple[npt.NDArray[_Scalar], Indices]:
    """Different rows, in the order of their first columns, and which of them each row is.

    Args:
        X: At least one column, (n, d).
    """
    order = np.lexsort(X.T[::-1])
    ordered = np.ascontiguousarray(X)[order]
    begins = np.ones(len(X), dtype=bool)
    begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    which = np.empty(len(X), dtype=np.intp)
    which[order] = np.cumsum(begins) - 1
    return ordered[begins], which
