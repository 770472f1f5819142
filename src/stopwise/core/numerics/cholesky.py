# SPDX-License-Identifier: Apache-2.0
"""Lower Cholesky factors: jitter where it is needed, solves, inverses, and growth by a row.

Factors are Fortran-ordered, so that LAPACK takes them as they are.
"""

from __future__ import annotations

import numpy as np

from stopwise.core.numerics import scipy_parts
from stopwise.core.numerics.arrays import Array
from stopwise.errors import NumericsError

_JITTERS = [10.0**exponent for exponent in range(-12, -1)]  # relative to the mean diagonal
_SMALL = 64  # rows from which on a triangle is inverted in halves


def factorise(matrix: Array) -> tuple[Array, float]:
    """Factor a symmetric matrix, of which the lower triangle is read, as L L^T.

    Returns:
        ``(L, jitter)``: jitter is what was added to the diagonal, 0.0 as a rule. Jitter is tried
        only after a failure, from 1e-12 to 1e-2 of the mean diagonal, tenfold each time.

    Raises:
        NumericsError: An entry is not finite, or the matrix is too far from positive definite.
    """
    n = len(matrix)
    if n == 0:
        return np.empty((0, 0), order="F"), 0.0
    lower = _factor(matrix)
    if lower is not None:
        return lower, 0.0
    unusable = matrix.size - np.count_nonzero(np.isfinite(matrix))
    if unusable:
        message = (
            f"{unusable} of {matrix.size} entries of a {n} x {n} covariance are not finite."
            " All must be: check the data for values that are nan, infinite or huge."
        )
        raise NumericsError(message)
    scale = float(np.mean(np.diag(matrix)))
    for relative in _JITTERS:
        lower = _factor(matrix + relative * scale * np.eye(n))
        if lower is not None:
            return lower, relative * scale
    message = (
        f"a {n} x {n} covariance could not be factorised, even with {_JITTERS[-1]:g} of its mean"
        " diagonal added. It must be symmetric and positive semidefinite: check that the kernel"
        " is one."
    )
    raise NumericsError(message)


def _factor(matrix: Array) -> Array | None:
    lower, info = scipy_parts.lapack.dpotrf(matrix, lower=1, clean=1)
    # Some LAPACKs pass nan and inf on without an error; the diagonal always shows them.
    return lower if info == 0 and np.isfinite(np.diag(lower)).all() else None


def solve_lower(lower: Array, rhs: Array) -> Array:
    """L^-1 B for a lower factor, B with as many rows as L (none is allowed)."""
    if not rhs.size:
        return rhs
    return np.asarray(scipy_parts.blas.dtrsm(1.0, lower, rhs, lower=1))


def solve_upper(lower: Array, rhs: Array) -> Array:
    """L^-T B for a lower factor, B with as many rows as L (none is allowed)."""
    if not rhs.size:
        return rhs
    return np.asarray(scipy_parts.blas.dtrsm(1.0, lower, rhs, lower=1, trans_a=1))


def log_determinant(lower: Array) -> float:
    """Log |L L^T|."""
    return 2.0 * float(np.log(np.diag(lower)).sum())


def inverse_factor(lower: Array) -> Array:
    """L^-1, a lower triangle again; in halves, which takes half as long as LAPACK's columns."""
    n = len(lower)
    if n <= _SMALL:
        small, _ = scipy_parts.lapack.dtrtri(lower, lower=1) if n else (lower, 0)
        return np.asarray(small)
    half = n // 2
    inverse = np.zeros((n, n), order="F")
    inverse[:half, :half] = first = inverse_factor(lower[:half, :half])
    inverse[half:, half:] = second = inverse_factor(lower[half:, half:])
    below = scipy_parts.blas.dtrmm(-1.0, second, lower[half:, :half], lower=1)
    inverse[half:, :half] = scipy_parts.blas.dtrmm(
        1.0, first, below, lower=1, side=1, overwrite_b=1
    )
    return inverse


def inverse(lower: Array) -> Array:
    """The lower triangle of (L L^T)^-1; zeros above it."""
    product, _ = scipy_parts.lapack.dlauum(inverse_factor(lower), lower=1, overwrite_c=1)
    return np.asarray(product)


def times_lower(lower: Array, rhs: Array, *, in_place: bool = False) -> Array:
    """L B for a lower triangle; with L^-1 in place of L it solves, twice as fast as a solve.

    In place, B is not to be used afterwards: a copy of it costs as much as some products.
    """
    if not rhs.size:
        return rhs
    return np.asarray(scipy_parts.blas.dtrmm(1.0, lower, rhs, lower=1, overwrite_b=in_place))


def times_upper(lower: Array, rhs: Array, *, in_place: bool = False) -> Array:
    """L^T B for a lower triangle; in place, as ``times_lower``."""
    if not rhs.size:
        return rhs
    return np.asarray(
        scipy_parts.blas.dtrmm(1.0, lower, rhs, lower=1, trans_a=1, overwrite_b=in_place)
    )


def append_row(lower: Array, row: Array, pivot: float) -> Array:
    """The factor of the matrix grown by one: ``row`` = L^-1 k, ``pivot`` the new diagonal."""
    n = lower.shape[0]
    grown = np.zeros((n + 1, n + 1), order="F")
    grown[:n, :n] = lower
    grown[n, :n] = row
    grown[n, n] = pivot
    return grown
