# SPDX-License-Identifier: Apache-2.0
"""Triangular systems: solves with a lower Cholesky factor and with its transpose."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from stopwise_paper.arrays import Array


def solve_lower(lower: Array, rhs: Array) -> Array:
    """L^-1 B for a lower factor L and a matrix B."""
    return np.asarray(blas.dtrsm(1.0, lower, rhs, lower=1)) if rhs.size else rhs


def solve_upper(lower: Array, rhs: Array) -> Array:
    """L^-T B for a lower factor L and a matrix B."""
    return np.asarray(blas.dtrsm(1.0, lower, rhs, lower=1, trans_a=1)) if rhs.size else rhs
