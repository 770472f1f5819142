# SPDX-License-Identifier: Apache-2.0
r"""Kernels about some centres as basis functions: weighted sums of them and their gradients.

Means, covariances with a point and sample paths of a Gaussian process are all sums
:math:`s(x) = \sum_j w_j\,\sigma^2 k(x, c_j)`. Inputs are scaled here: warped by the kernel and in
length scales. With the kernel's slope g the gradient in a scaled input is

.. math:: \nabla s(x) = \sigma^2\sum_j w_j\,g(r_j)\,(c_j - x)

It is written here, once; ``Posterior.in_x`` makes a gradient in the encoded input of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from stopwise.core.beliefs.distances import square_distances
from stopwise.core.beliefs.kernels import Kernel
from stopwise.core.numerics.arrays import Array


@dataclass(frozen=True, eq=False)  # no slots: what derives from the fields is cached
class KernelBasis:
    """Kernels about centres.

    Args:
        kernel: The correlation function.
        centres: Scaled points, (n, width).
        variance: Factor of every kernel.
    """

    kernel: Kernel
    centres: Array
    variance: float = 1.0

    def values(self, scaled: Array) -> Array:
        """Kernels at scaled points, (rows, n)."""
        values = self.kernel.value(square_distances(scaled, self.centres))
        values *= self.variance
        return values

    def at(self, scaled: Array) -> KernelsAt:
        """Kernels and their slopes at scaled points."""
        squares = square_distances(scaled, self.centres)
        values, slopes = self.kernel.value_and_slope(squares)
        values *= self.variance
        slopes *= self.variance
        return KernelsAt(self, scaled, values, slopes)

    @cached_property
    def centres_and_one(self) -> Array:
        """The centres and a column of ones, with which a product sums."""
        return np.hstack([self.centres, np.ones((len(self.centres), 1))])


class KernelsAt(NamedTuple):
    """The kernels of a basis at scaled points: values and slopes, (rows, n)."""

    basis: KernelBasis
    scaled: Array
    values: Array
    slopes: Array

    def gradients(self, *weights: Array) -> Array:
        """Gradients of weighted sums in the scaled points, (sums, rows, width).

        Args:
            weights: Of each sum: (n,), the same at every point, or (rows, n).
        """
        (rows, n), sums = self.slopes.shape, len(weights)
        weighted = np.empty((sums, rows, n))
        for product, weight in zip(weighted, weights, strict=True):
            np.multiply(self.slopes, weight, out=product)
        # Several sums are one product, whose last column sums the weights; one sum is added up by
        # itself. The two differ in the last bit, and recorded studies rest on both.
        if sums == 1:
            moments, totals = weighted @ self.basis.centres, weighted.sum(axis=2, keepdims=True)
        else:
            product = weighted.reshape(sums * rows, n) @ self.basis.centres_and_one
            product = product.reshape(sums, rows, -1)
            moments, totals = product[:, :, :-1], product[:, :, -1:]
        return np.asarray(moments - self.scaled * totals)
