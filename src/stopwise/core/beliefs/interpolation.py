# SPDX-License-Identifier: Apache-2.0
r"""The variance of an interpolating posterior of many observations, with half the products.

Where observations are exact, the data take :math:`u^T u + \nu\,w^T w` off the variance, with the
nugget :math:`\nu`, :math:`u = W k`, :math:`w = W^T u` and the inverse W of the factor. Value and
gradient take four products with a triangle. But all of it is one quadratic form of k,

.. math:: W^T W + \nu\,(W^T W)^2 = C^T C, \quad C = G W, \quad G^T G = I + \nu\,W W^T

and if G is a lower triangle, C is one. Then :math:`|Ck|^2` is taken off, with the gradient
:math:`2\,C^T C k`: two products. The nugget is part of K, so the eigenvalues of :math:`G^T G` are
between 1 and 2, and C is as accurate as W.

C is that of the first observations, to which hyper-parameters were fitted. With the rows R of W
that were added since, :math:`z = R k` and :math:`E = W^T W R_0^T`, where :math:`k_0` and
:math:`R_0` are the first columns,

.. math:: |C k_0|^2 + z^T (I + \nu R R^T)\,z + 2\nu\,z^T E^T k_0
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from stopwise.core.numerics import cholesky, scipy_parts
from stopwise.core.numerics.arrays import Array

MANY = 200  # observations from which on it is worth while


class Reduction(NamedTuple):
    """What the data take off the variance at covariances k, and half its gradient in k."""

    value: Array
    pull: Array


@dataclass(frozen=True, eq=False)  # no slots: what derives from the fields is cached
class Interpolation:
    """The quadratic form that is taken off a variance. Immutable.

    Args:
        nugget: The variance on the diagonal of K.
        triangle: C, of the first observations.
        rows: R, the rows of W since, (m, n).
        crossed: The transpose of E, (m, first).
    """

    nugget: float
    triangle: Array
    rows: Array
    crossed: Array

    @classmethod
    def of(cls, whitener: Array, nugget: float) -> Interpolation:
        """That of observations which were factorised together; W is the whitener."""
        n = len(whitener)
        return cls(nugget, _triangle(whitener, nugget), np.empty((0, n)), np.empty((0, n)))

    def grown(self, whitener: Array, row: Array, last: float) -> Interpolation:
        """With one observation more.

        Args:
            whitener: W before it.
            row: The new row of W but for its last entry.
            last: That entry.
        """
        first, n = len(self.triangle), len(whitener)
        padded = np.zeros((n, 1), order="F")
        padded[:first, 0] = row[:first]
        product = cholesky.times_lower(whitener, padded)
        product[first:] = 0.0
        column = cholesky.times_upper(whitener, product)[:first, 0]
        rows = np.zeros((len(self.rows) + 1, n + 1))
        rows[:-1, :-1], rows[-1, :-1], rows[-1, -1] = self.rows, row, last
        return Interpolation(self.nugget, self.triangle, rows, np.vstack([self.crossed, column]))

    def reduction(self, k: Array) -> Array:
        """What is taken off at covariances with the data, (n, points)."""
        return self._products(k)[0]

    def reduction_with_pull(self, k: Array) -> Reduction:
        """The same with half its gradient in k."""
        value, c, sides = self._products(k)
        pull = cholesky.times_upper(self.triangle, c, in_place=True)
        if sides is None:
            return Reduction(value, pull)
        added = self._sides.T @ sides
        added[: len(pull)] += pull
        return Reduction(value, added)

    def _products(self, k: Array) -> tuple[Array, Array, Array | None]:
        """The form, C k_0, and what the rows since bring to the gradient, if there are any."""
        c = cholesky.times_lower(self.triangle, k[: len(self.triangle)])
        value = np.vecdot(c.T, c.T)
        m = len(self.rows)
        if not m:
            return value, c, None
        sides = self._sides @ k
        z, e = sides[:m], sides[m:]
        by_z = self._inner @ z
        by_z += e
        value += np.vecdot(z.T, (by_z + e).T)
        sides[m:], sides[:m] = z, by_z
        return value, c, sides

    @cached_property
    def _sides(self) -> Array:
        """R above the transpose of nu E, which is zero at the rows since."""
        sides = np.zeros((2 * len(self.rows), self.rows.shape[1]))
        sides[: len(self.rows)] = self.rows
        sides[len(self.rows) :, : len(self.triangle)] = self.nugget * self.crossed
        return sides

    @cached_property
    def _inner(self) -> Array:
        """I + nu R R^T."""
        return np.asarray(np.eye(len(self.rows)) + self.nugget * (self.rows @ self.rows.T))


def _triangle(whitener: Array, nugget: float) -> Array:
    """C; G comes from a factorisation that begins at the last row: all is turned round for it."""
    turned = np.asfortranarray(whitener.T[::-1, ::-1])
    gram, _ = scipy_parts.lapack.dlauum(turned, lower=1)
    gram *= nugget
    gram[np.diag_indices_from(gram)] += 1.0
    # In place: several matrices at once would be the most that a large study has in memory.
    factor, _ = scipy_parts.lapack.dpotrf(gram, lower=1, clean=1, overwrite_a=1)
    product = scipy_parts.blas.dtrmm(1.0, turned, factor, lower=1, overwrite_b=1)
    del turned
    triangle = np.asfortranarray(product.T[::-1, ::-1])
    triangle.flags.writeable = False
    return triangle
