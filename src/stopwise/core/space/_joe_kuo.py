# SPDX-License-Identifier: Apache-2.0
"""The primitive polynomials and first direction numbers of Sobol sequences.

Those that scipy has, for the first dimensions after the first, whose direction numbers are all 1:
so that few dimensions do not need scipy.stats, which takes half a second to load.

References:
    Joe & Kuo (2008), Constructing Sobol Sequences with Better Two-Dimensional Projections; their
        file new-joe-kuo-6.21201.
    Bratley & Fox (1988), Algorithm 659: the recurrence.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BITS = 30

# Of each dimension the polynomial, its coefficients as bits, and as many numbers as its degree.
_TABLE: tuple[tuple[int, tuple[int, ...]], ...] = (
    (3, (1,)),
    (7, (1, 3)),
    (11, (1, 3, 1)),
    (13, (1, 1, 1)),
    (19, (1, 1, 3, 3)),
    (25, (1, 3, 5, 13)),
    (37, (1, 1, 5, 5, 17)),
    (41, (1, 1, 5, 5, 5)),
    (47, (1, 1, 7, 11, 19)),
    (55, (1, 1, 5, 1, 1)),
    (59, (1, 1, 1, 3, 11)),
    (61, (1, 3, 5, 5, 31)),
    (67, (1, 3, 3, 9, 7, 49)),
    (91, (1, 1, 1, 15, 21, 21)),
    (97, (1, 3, 1, 13, 27, 49)),
    (103, (1, 1, 1, 15, 7, 5)),
    (109, (1, 3, 1, 15, 13, 25)),
    (115, (1, 1, 5, 5, 19, 61)),
    (131, (1, 3, 7, 11, 23, 15, 103)),
    (137, (1, 3, 7, 13, 13, 15, 69)),
    (143, (1, 1, 3, 13, 7, 35, 63)),
    (145, (1, 3, 5, 9, 1, 25, 53)),
    (157, (1, 3, 1, 13, 9, 35, 107)),
    (167, (1, 3, 1, 5, 27, 61, 31)),
    (171, (1, 1, 5, 11, 19, 41, 61)),
    (185, (1, 3, 5, 3, 3, 13, 69)),
    (191, (1, 1, 7, 13, 1, 19, 1)),
    (193, (1, 3, 7, 5, 13, 19, 59)),
    (203, (1, 1, 3, 9, 25, 29, 41)),
    (211, (1, 3, 5, 13, 23, 1, 55)),
    (213, (1, 3, 7, 3, 13, 59, 17)),
    (229, (1, 3, 1, 3, 5, 53, 69)),
    (239, (1, 1, 5, 5, 23, 33, 13)),
    (241, (1, 1, 7, 7, 1, 61, 123)),
    (247, (1, 1, 7, 9, 13, 61, 49)),
    (253, (1, 3, 3, 5, 3, 55, 33)),
    (285, (1, 3, 1, 15, 31, 13, 49, 245)),
    (299, (1, 3, 5, 15, 31, 59, 63, 97)),
    (301, (1, 3, 1, 11, 11, 11, 77, 249)),
)
DIMENSIONS = 1 + len(_TABLE)


def direction_numbers(d: int, m: int) -> NDArray[np.uint32]:
    """The first m direction numbers of each of d dimensions, (d, m), in words of 30 bits."""
    rows = [[1] * m, *(_row(*entry, m) for entry in _TABLE[: d - 1])]
    shifts = np.arange(_BITS - 1, _BITS - 1 - m, -1)
    return np.array(rows, dtype=np.uint32).reshape(d, m) << shifts.astype(np.uint32)


def _row(polynomial: int, first: tuple[int, ...], m: int) -> list[int]:
    """The numbers of one dimension, each from those before it."""
    degree, numbers = len(first), list(first)
    for j in range(degree, m):
        number = numbers[j - degree]
        for k in range(1, degree + 1):
            if polynomial >> (degree - k) & 1:
                number ^= numbers[j - k] << k
        numbers.append(number)
    return numbers[:m]
