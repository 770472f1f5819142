# SPDX-License-Identifier: Apache-2.0
"""What every pair of inputs differs by, parameter by parameter: worked out once for a whole fit.

Pairs are in the order (1, 2), (1, 3), ..., (2, 3), ...; a fit asks for their distances at ever new
length scales, and then they are one product with what is kept here. Where that would be too much
to keep, it is worked out every time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stopwise.core.beliefs.kernel import from_pairs, pair_square_distances
from stopwise.core.numerics.arrays import Array, Indices

_MOST_KEPT = 2_000_000  # numbers, 16 MB


@dataclass(frozen=True, eq=False)  # no slots: the table is cached
class Pairs:
    """Pairs of the rows of X; groups maps its columns to parameters."""

    X: Array
    groups: Indices

    def square_distances(self, lengthscales: Array) -> Array:
        """Of every pair, in length scales."""
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
        """Squared differences, (pairs, parameters); None if they are too many."""
        (n, width), parameters = self.X.shape, np.arange(self.groups.max() + 1)
        if n * (n - 1) // 2 * width > _MOST_KEPT:
            return None
        first, second = np.triu_indices(n, 1)
        squares = self.X.take(first, axis=0)
        squares -= self.X.take(second, axis=0)
        squares *= squares
        if width == parameters.size:
            return squares
        return np.asarray(squares @ (self.groups[:, None] == parameters).astype(np.float64))
