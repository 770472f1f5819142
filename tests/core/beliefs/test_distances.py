# SPDX-License-Identifier: Apache-2.0
"""Distances between rows against sums of squares, and every pair once."""

import numpy as np
import pytest

from stopwise.core.beliefs.distances import (
    chebyshev_distances,
    from_pairs,
    pair_square_distances,
    square_distances,
    to_pairs,
)


@pytest.mark.parametrize(
    ("distances", "reduce"),
    [
        (square_distances, lambda step: float(step @ step)),
        (chebyshev_distances, lambda step: float(np.abs(step).max())),
    ],
    ids=["square", "chebyshev"],
)
def test_distances_between_rows(distances, reduce):
    rng = np.random.default_rng(2)
    A, B = rng.random((5, 3)), rng.random((4, 3))
    naive = np.array([[reduce(a - b) for b in B] for a in A])
    np.testing.assert_allclose(distances(A, B), naive, rtol=1e-14)
    assert distances(A[:0], B).shape == (0, 4)


def test_equal_rows_are_exactly_at_distance_zero_and_the_matrix_is_exactly_symmetric():
    X = 1e3 * np.random.default_rng(3).random((20, 5))
    squares = square_distances(X, X.copy())
    assert np.all(np.diag(squares) == 0.0)
    assert np.array_equal(squares, squares.T)


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_every_pair_once_is_half_of_the_matrix(n):
    X = np.random.default_rng(0).random((n, 3))
    full = square_distances(X, X)
    pairs = pair_square_distances(X) if n else np.empty(0)
    assert pairs.size == n * (n - 1) // 2
    np.testing.assert_allclose(from_pairs(pairs, n), full, rtol=1e-15)
    np.testing.assert_array_equal(to_pairs(np.triu(from_pairs(pairs, n))), pairs)
