# SPDX-License-Identifier: Apache-2.0
"""Distances between the rows of matrices, and matrices of every pair once."""

from __future__ import annotations

import numpy as np

from stopwise.core.numerics import scipy_parts
from stopwise.core.numerics.arrays import Array


def square_distances(A: Array, B: Array) -> Array:
    """Squared distances between rows, from differences: exact zeros for equal rows."""
    return np.asarray(scipy_parts.distance.cdist(A, B, "sqeuclidean"))


def pair_square_distances(A: Array) -> Array:
    """Squared distances of rows, every pair once: (1, 2), (1, 3), ..., (2, 3), ..."""
    return np.asarray(scipy_parts.distance.pdist(A, "sqeuclidean"))


def from_pairs(values: Array, n: int) -> Array:
    """The symmetric matrix of one value for every pair of n; its diagonal is zero."""
    return (
        np.asarray(scipy_parts.distance.squareform(values, checks=False))
        if n > 1
        else np.zeros((n, n))
    )


def to_pairs(matrix: Array) -> Array:
    """The values above the diagonal, in the order of ``pair_square_distances``."""
    return (
        np.asarray(scipy_parts.distance.squareform(matrix, checks=False))
        if len(matrix) > 1
        else np.empty(0)
    )


def chebyshev_distances(A: Array, B: Array) -> Array:
    """Largest difference in any column, between rows."""
    return np.asarray(scipy_parts.distance.cdist(A, B, "chebyshev"))
