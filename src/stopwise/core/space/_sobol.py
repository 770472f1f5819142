# SPDX-License-Identifier: Apache-2.0
"""Scrambled Sobol points, bit for bit those of scipy, without rebuilding its sequence.

A screen of 512 points is drawn at every step. scipy spends most of its time on 30 direction
numbers for each dimension, of which such a block uses 9.

References:
    Matousek (1998), On the L2-discrepancy for Anchored Boxes: the linear scramble with a shift.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from stopwise.core.numerics.arrays import Array, Indices
from stopwise.core.space._joe_kuo import DIMENSIONS, direction_numbers

Words = NDArray[np.uint32]

_BITS = 30
_POWERS = 2 ** np.arange(_BITS, dtype=np.uint32)


def sobol_block(d: int, m: int, rng: np.random.Generator) -> Array:
    """The first 2^m points of a sequence scrambled by random matrices and a shift, (2^m, d)."""
    directions, turns = _plain_sequence(d, m)
    [rng] = rng.spawn(1)  # as scipy does, so that the points are the same
    shift = rng.integers(2, size=(d, _BITS), dtype=np.uint32) @ _POWERS
    matrices = np.tril(rng.integers(2, size=(d, _BITS, _BITS), dtype=np.uint32))
    matrices[:, np.arange(_BITS), np.arange(_BITS)] = 1
    rows = matrices @ _POWERS[::-1]
    # Each bit of a binary matrix times a vector is the parity of the bits that both have.
    bits = np.bitwise_count(rows[:, :, None] & directions[:, None, :]) & 1
    scrambled = (bits * _POWERS[::-1, None]).sum(axis=1, dtype=np.uint32)
    flips = np.vstack([shift, scrambled.T[turns]])
    return np.asarray(np.bitwise_xor.accumulate(flips, axis=0) * 2.0**-_BITS)


@cache
def _plain_sequence(d: int, m: int) -> tuple[Words, Indices]:
    """Direction numbers without scrambling, (d, m), and which of them gives each next point."""
    steps = np.arange(1, 2**m)
    turns = np.bitwise_count((steps & -steps) - 1).astype(np.intp)  # trailing zeros of each step
    return direction_numbers(d, m) if d <= DIMENSIONS else _directions_of_scipy(d, m), turns


def _directions_of_scipy(d: int, m: int) -> Words:
    """Direction numbers from scipy's points: it has more dimensions."""
    from scipy.stats import qmc  # which takes half a second to load

    points = (qmc.Sobol(d, scramble=False).random_base2(m) * 2.0**_BITS).astype(np.uint32)
    # The points come in the order of a Gray code, in which 2^k is at 2^(k + 1) - 1.
    return np.asarray(points[2 ** np.arange(1, m + 1) - 1].T, dtype=np.uint32)
