# SPDX-License-Identifier: Apache-2.0
"""Distances between all pairs of inputs at ever new length scales, as a fit asks for them.

Pairs are in the order (1, 2), (1, 3), ..., (2, 3), ... Their squared differences, parameter by
parameter, are computed once, so that distances are one product with a table. Where the table would
be too large, they are computed every time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stopwise.core.beliefs.distances import from_pairs, pair_square_distances
from stopwise.core.numerics.arrays import Array, Indices

_LARGEST_TABLE = 2_000_000  # numbers, 16 MB


@dataclass(frozen=True, eq=False)  # no slots: the table is cached
class PairwiseDistances:
    """Pairs of the rows of X, warped inputs; groups maps its columns to parameters."""

    X: Array
    groups: Indices

    def square_distances(self, lengthscales: Array) -> Array:
        """The squared distance of every pair, in length scales."""
        if self._table is None:
            return pair_square_distances(self.X / lengthscales[self.groups])
        return np.asarray(self._table @ lengthscales**-2)

    def square_differences(self, weights: Array) -> Array:
        """For each parameter, the sum over pairs of weight times squared difference."""
        if self._table is not None:
            return np.asarray(weights @ self._table)
        # (x - x')^2 is expanded, so that BLAS does the sums.
        X, full = self.X, from_pairs(weights, len(self.X))
        by_column = full.sum(axis=0) @ (X * X) - np.einsum("ij,ij->j", X, full @ X)
        return np.asarray(np.bincount(self.groups, by_column), dtype=np.float64)

    @cached_property
    def _table(self) -> Array | None:
        """Squared differences, (pairs, parameters); None if there are too many."""
        (n, width), parameters = self.X.shape, np.arange(self.groups.max() + 1)
        if n * (n - 1) // 2 * width > _LARGEST_TABLE:
            return None
        first, second = np.triu_indices(n, 1)
        squares = self.X.take(first, axis=0)
        squares -= self.X.take(second, axis=0)
        squares *= squares
        if width == parameters.size:
            return squares
        return np.asarray(squares @ (self.groups[:, None] == parameters).astype(np.float64))
