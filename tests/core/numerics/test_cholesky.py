# SPDX-License-Identifier: Apache-2.0
"""Cholesky factors: what they reconstruct, when jitter is added, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.numerics import cholesky
from stopwise.errors import NumericsError
from tests.support.strategies import spd_matrices

pytestmark = pytest.mark.usefixtures("no_floating_point_errors")

EMPTY = np.empty((0, 0), order="F")


def covariance(size, seed=0):
    a = np.random.default_rng(seed).standard_normal((size, size))
    return a @ a.T + size * np.eye(size)


def with_eigenvalues(*eigenvalues):
    size = len(eigenvalues)
    basis, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((size, size)))
    matrix = (basis * np.array(eigenvalues)) @ basis.T
    return 0.5 * (matrix + matrix.T)


# ------------------------------------------------------------------------------- factorising


@given(spd_matrices())
def test_a_factor_reconstructs_its_matrix_without_jitter(matrix):
    lower, jitter = cholesky.factorise(matrix)
    assert jitter == 0.0
    assert isinstance(jitter, float)
    assert lower.flags.f_contiguous
    assert np.array_equal(lower, np.tril(lower))
    assert np.all(np.diag(lower) > 0)
    np.testing.assert_allclose(lower @ lower.T, matrix, rtol=0, atol=1e-14 * matrix.max())


@pytest.mark.parametrize("size", [1, 40, 300])  # below and above the blocks of LAPACK
def test_a_factor_is_numpys(size):
    matrix = covariance(size)
    lower, jitter = cholesky.factorise(matrix)
    assert jitter == 0.0
    np.testing.assert_allclose(lower, np.linalg.cholesky(matrix), rtol=0, atol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_matrix_is_left_alone_even_where_jitter_is_tried(order):
    for matrix in (covariance(5), np.ones((3, 3)), -np.eye(2)):
        given_matrix = np.array(matrix, order=order)
        given_matrix.flags.writeable = False
        try:
            lower, _ = cholesky.factorise(given_matrix)
        except NumericsError:
            assert matrix[0, 0] < 0
        else:
            assert not np.shares_memory(lower, given_matrix)
        assert np.array_equal(given_matrix, matrix)


def test_only_the_lower_triangle_is_read():
    matrix = covariance(4)
    lower, _ = cholesky.factorise(np.tril(matrix))
    np.testing.assert_array_equal(lower, cholesky.factorise(matrix)[0])


@pytest.mark.parametrize(
    ("deficit", "relative"),
    [(3e-11, 1e-10), (3e-9, 1e-8), (3e-6, 1e-5), (3e-4, 1e-3), (3e-3, 1e-2)],
)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_jitter_is_the_smallest_power_of_ten_that_helps_and_is_reported(deficit, relative, scale):
    # The mean of the diagonal is that of the eigenvalues: 1.
    matrix = scale * with_eigenvalues(1.5, 1.5 + deficit, -deficit)
    lower, jitter = cholesky.factorise(matrix)
    assert jitter == pytest.approx(relative * scale, rel=1e-12)
    shifted = matrix + jitter * np.eye(3)
    np.testing.assert_allclose(lower @ lower.T, shifted, rtol=0, atol=1e-14 * scale)


def test_a_point_given_twice_needs_the_smallest_jitter():
    lower, jitter = cholesky.factorise(np.ones((2, 2)))
    assert jitter == 1e-12
    assert lower[1, 1] == pytest.approx(np.sqrt(2e-12), rel=1e-3)


@pytest.mark.parametrize(
    "matrix",
    [
        with_eigenvalues(1.5, 1.52, -0.02),  # short by twice the largest jitter
        -np.eye(3),
        np.zeros((2, 2)),
        np.array([[1.0, 2.0], [2.0, 1.0]]),
    ],
    ids=["indefinite", "negative", "zero", "not a covariance"],
)
def test_what_no_jitter_helps_is_refused(matrix):
    size = len(matrix)
    with pytest.raises(NumericsError, match=rf"a {size} x {size} covariance .* even with 0\.01"):
        cholesky.factorise(matrix)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("size", [1, 5, 150])
def test_entries_that_are_not_finite_are_refused(bad, size):
    """LAPACK may carry them through without complaint, wherever they stand."""
    for i, j in [(0, 0), (size - 1, size - 1), (size - 1, 0), (size // 2, size // 4)]:
        matrix = covariance(size)
        matrix[i, j] = matrix[j, i] = bad
        count = 1 if i == j else 2
        expected = rf"^{count} of {size**2} entries of a {size} x {size} covariance are not finite"
        with pytest.raises(NumericsError, match=expected):
            cholesky.factorise(matrix)


# ----------------------------------------------------------------------- solving, determinants


@given(spd_matrices(), st.integers(1, 4))
def test_solves_undo_the_products(matrix, columns):
    lower, _ = cholesky.factorise(matrix)
    solution = np.random.default_rng(2).standard_normal((len(matrix), columns))
    for order in ("C", "F"):
        forward = np.array(lower @ solution, order=order)
        backward = np.array(lower.T @ solution, order=order)
        np.testing.assert_allclose(
            cholesky.solve_lower(lower, forward), solution, rtol=0, atol=1e-8
        )
        np.testing.assert_allclose(
            cholesky.solve_upper(lower, backward), solution, rtol=0, atol=1e-8
        )


def test_both_solves_make_a_solve_with_the_matrix():
    matrix, rhs = covariance(30), np.random.default_rng(4).standard_normal((30, 3))
    rhs.flags.writeable = False
    kept = rhs.copy()
    lower, _ = cholesky.factorise(matrix)
    lower.flags.writeable = False
    solved = cholesky.solve_upper(lower, cholesky.solve_lower(lower, rhs))
    np.testing.assert_allclose(solved, np.linalg.solve(matrix, rhs), rtol=1e-10, atol=1e-14)
    np.testing.assert_array_equal(rhs, kept)


@given(spd_matrices())
def test_log_determinant_is_numpys(matrix):
    lower, _ = cholesky.factorise(matrix)
    sign, value = np.linalg.slogdet(matrix)
    assert sign == 1.0
    assert cholesky.log_determinant(lower) == pytest.approx(value, rel=1e-8, abs=1e-8)


def test_log_determinant_where_the_determinant_underflows():
    lower, _ = cholesky.factorise(1e-6 * np.eye(200))
    assert cholesky.log_determinant(lower) == pytest.approx(200 * np.log(1e-6), rel=1e-14)


# ------------------------------------------------------------------------------------ growing


def appended(lower, column, corner):
    """Grow a factor by the last column of a matrix, the way a posterior does."""
    row = cholesky.solve_lower(lower, column[:, None])[:, 0]
    return cholesky.append_row(lower, row, float(np.sqrt(corner - row @ row)))


@given(spd_matrices())
def test_growing_row_by_row_equals_factorising_at_once(matrix):
    whole, _ = cholesky.factorise(matrix)
    lower = EMPTY
    for n in range(len(matrix)):
        lower = appended(lower, matrix[:n, n], matrix[n, n])
        assert lower.shape == (n + 1, n + 1)
        assert lower.flags.f_contiguous
    np.testing.assert_allclose(lower, whole, rtol=0, atol=1e-8 * np.abs(whole).max())
    np.testing.assert_allclose(lower @ lower.T, matrix, rtol=0, atol=1e-14 * matrix.max())


def test_growing_leaves_the_old_factor_alone():
    lower, _ = cholesky.factorise(covariance(3))
    lower.flags.writeable = False
    grown = cholesky.append_row(lower, np.ones(3), 2.0)
    np.testing.assert_array_equal(grown[:3, :3], lower)
    np.testing.assert_array_equal(grown[3], [1.0, 1.0, 1.0, 2.0])
    np.testing.assert_array_equal(grown[:3, 3], 0.0)
    assert not np.shares_memory(grown, lower)


# --------------------------------------------------------------------------------- nothing yet


def test_empty_matrices():
    lower, jitter = cholesky.factorise(np.empty((0, 0)))
    assert lower.shape == (0, 0)
    assert jitter == 0.0
    assert cholesky.log_determinant(lower) == 0.0
    assert cholesky.append_row(lower, np.empty(0), 3.0).tolist() == [[3.0]]
    for solve in (cholesky.solve_lower, cholesky.solve_upper):
        assert solve(lower, np.empty((0, 4))).shape == (0, 4)
        assert solve(lower, np.empty((0, 0))).shape == (0, 0)
        assert solve(np.eye(3), np.empty((3, 0))).shape == (3, 0)


# ------------------------------------------------------------------------------- inverses


@pytest.mark.parametrize("size", [0, 1, 5, 64, 65, 131, 300])  # below and above the halving
def test_inverses_are_numpys(size):
    matrix = covariance(size)
    lower, _ = cholesky.factorise(matrix)
    inverse = cholesky.inverse_factor(lower)
    assert inverse.flags.f_contiguous
    np.testing.assert_allclose(inverse, np.linalg.inv(np.tril(lower)), rtol=0, atol=1e-13)
    assert np.array_equal(inverse, np.tril(inverse))
    if size:
        expected = np.tril(np.linalg.inv(matrix))
        np.testing.assert_allclose(cholesky.inverse(lower), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("columns", [0, 1, 7])
def test_products_with_a_triangle(columns):
    lower, _ = cholesky.factorise(covariance(9))
    rhs = np.random.default_rng(2).standard_normal((9, columns))
    np.testing.assert_allclose(cholesky.times_lower(lower, rhs), lower @ rhs, rtol=1e-13)
    np.testing.assert_allclose(cholesky.times_upper(lower, rhs), lower.T @ rhs, rtol=1e-13)
    assert cholesky.times_upper(EMPTY, rhs[:0]).shape == (0, columns)
