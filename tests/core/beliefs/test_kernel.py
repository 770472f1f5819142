# SPDX-License-Identifier: Apache-2.0
"""The Matern-5/2 kernel against its Bessel form, and its derivatives against differences."""

import mpmath as mp
import numpy as np
import pytest

from stopwise.core.beliefs.kernel import (
    chebyshev_distances,
    from_pairs,
    matern52,
    matern52_and_slope,
    pair_square_distances,
    scaled_square_distances,
    to_pairs,
)

RADII = [1e-12, 1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 200.0]


def bessel_form(r):
    """The Matern kernel of smoothness 5/2 as it is defined."""
    nu, x = mp.mpf(5) / 2, mp.sqrt(5) * mp.mpf(r)
    return 2 ** (1 - nu) / mp.gamma(nu) * x**nu * mp.besselk(nu, x)


@pytest.mark.parametrize("r", RADII)
def test_the_kernel_is_the_matern_of_smoothness_five_halves(r):
    square = np.array([[r * r]])
    with mp.workdps(80):
        expected = float(bessel_form(r))
    assert matern52(square)[0, 0] == pytest.approx(expected, rel=1e-12)
    assert matern52_and_slope(square)[0][0, 0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("r", RADII)
def test_the_slope_is_minus_the_derivative_over_the_distance(r):
    with mp.workdps(80):
        slope = float(-mp.diff(bessel_form, mp.mpf(r)) / r)
    assert matern52_and_slope(np.array([[r * r]]))[1][0, 0] == pytest.approx(slope, rel=1e-12)


def test_nothing_is_lost_at_distance_zero_or_beyond_reach():
    squares = np.array([[0.0, 1e12]])
    value, slope = matern52_and_slope(squares)
    assert value.tolist() == [[1.0, 0.0]]
    assert slope.tolist() == [[5.0 / 3.0, 0.0]]
    assert matern52(squares).tolist() == [[1.0, 0.0]]
    assert squares.tolist() == [[0.0, 1e12]]  # nothing is overwritten


def test_the_gradients_of_the_module_docstring():
    rng = np.random.default_rng(1)
    x, z = rng.random(4), rng.random(4)
    scales = rng.uniform(0.2, 2.0, 4)

    def kernel(x, log_scales):
        inverse = np.exp(-log_scales)
        return matern52(scaled_square_distances((x * inverse)[None], (z * inverse)[None]))[0, 0]

    scaled = scaled_square_distances((x / scales)[None], (z / scales)[None])
    g = matern52_and_slope(scaled)[1][0, 0]
    for i, step in enumerate(1e-6 * np.eye(4)):
        d_x = (kernel(x + step, np.log(scales)) - kernel(x - step, np.log(scales))) / 2e-6
        d_log = (kernel(x, np.log(scales) + step) - kernel(x, np.log(scales) - step)) / 2e-6
        assert d_x == pytest.approx(-g * (x[i] - z[i]) / scales[i] ** 2, abs=1e-9)
        assert d_log == pytest.approx(g * (x[i] - z[i]) ** 2 / scales[i] ** 2, abs=1e-9)


@pytest.mark.parametrize(
    ("distances", "reduce"),
    [
        (scaled_square_distances, lambda step: float(step @ step)),
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


def test_equal_rows_are_exactly_at_distance_zero_and_their_kernel_is_exactly_symmetric():
    X = 1e3 * np.random.default_rng(3).random((20, 5))
    squares = scaled_square_distances(X, X.copy())
    assert np.all(np.diag(squares) == 0.0)
    assert np.array_equal(squares, squares.T)


def test_the_kernel_is_positive_definite():
    X = np.random.default_rng(4).random((40, 2))
    assert np.linalg.eigvalsh(matern52(scaled_square_distances(X, X))).min() > 0


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_every_pair_once_is_half_of_the_matrix(n):
    X = np.random.default_rng(0).random((n, 3))
    full = scaled_square_distances(X, X)
    pairs = pair_square_distances(X) if n else np.empty(0)
    assert pairs.size == n * (n - 1) // 2
    np.testing.assert_allclose(from_pairs(pairs, n), full, rtol=1e-15)
    np.testing.assert_array_equal(to_pairs(np.triu(from_pairs(pairs, n))), pairs)
