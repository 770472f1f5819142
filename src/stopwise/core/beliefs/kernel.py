# SPDX-License-Identifier: Apache-2.0
r"""The Matern-5/2 kernel with one length scale per parameter.

:math:`k(r) = (1 + \sqrt5 r + \tfrac53 r^2)\,e^{-\sqrt5 r}` with
:math:`r^2 = \sum_i (x_i - x'_i)^2/\ell_i^2`. Its derivatives need no division by r:
:math:`\partial k/\partial x_i = -g(r)\,(x_i - x'_i)/\ell_i^2` and
:math:`\partial k/\partial\log\ell_i = g(r)\,(x_i - x'_i)^2/\ell_i^2` with the slope
:math:`g(r) = \tfrac53 (1 + \sqrt5 r)\,e^{-\sqrt5 r}`.

A parameter may own several encoded columns (a category is one-hot); they share its length
scale. ``groups`` maps columns to parameters.
"""

from __future__ import annotations

import math

import numpy as np

from stopwise.core.numerics.arrays import Array

_SQRT_5 = math.sqrt(5.0)


def scaled_square_distances(A: Array, B: Array) -> Array:
    """Squared distances between rows, from differences: exact zeros for equal rows."""
    from scipy.spatial.distance import cdist  # heavy; at first use

    return np.asarray(cdist(A, B, "sqeuclidean"))


def pair_square_distances(A: Array) -> Array:
    """Squared distances of rows, every pair once: (1, 2), (1, 3), ..., (2, 3), ..."""
    from scipy.spatial.distance import pdist  # heavy; at first use

    return np.asarray(pdist(A, "sqeuclidean"))


def from_pairs(values: Array, n: int) -> Array:
    """The symmetric matrix of what every pair of n has; its diagonal is zero."""
    from scipy.spatial.distance import squareform  # heavy; at first use

    return np.asarray(squareform(values, checks=False)) if n > 1 else np.zeros((n, n))


def to_pairs(matrix: Array) -> Array:
    """What is above the diagonal, in the order of ``pair_square_distances``."""
    from scipy.spatial.distance import squareform  # heavy; at first use

    return np.asarray(squareform(matrix, checks=False)) if len(matrix) > 1 else np.empty(0)


def matern52(square_distances: Array) -> Array:
    """Kernel values of unit variance at squared scaled distances."""
    root = np.sqrt(square_distances)
    root *= _SQRT_5
    value = np.exp(-root)
    root += 1.0
    root += (5.0 / 3.0) * square_distances
    value *= root
    return value


def matern52_and_slope(square_distances: Array) -> tuple[Array, Array]:
    """Kernel values and slopes g(r) (see the module) from one exponential."""
    root = np.sqrt(square_distances)
    root *= _SQRT_5
    decay = np.exp(-root)
    root += 1.0
    slope = (5.0 / 3.0) * decay
    slope *= root
    root += (5.0 / 3.0) * square_distances
    decay *= root
    return decay, slope


def chebyshev_distances(A: Array, B: Array) -> Array:
    """Largest difference in any column, between rows."""
    from scipy.spatial.distance import cdist  # heavy; at first use

    return np.asarray(cdist(A, B, "chebyshev"))
