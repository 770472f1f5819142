# SPDX-License-Identifier: Apache-2.0
"""The protocol of kernels."""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np

from stopwise.core.numerics.arrays import Array


class Kernel(Protocol):
    r"""A correlation function k(r) of the distance of two inputs, as a frozen value; k(0) = 1.

    Inputs are rows of the unit cube. They are first warped, column by column, and then divided by
    the length scales: :math:`r^2 = \sum_i (\psi(x_i) - \psi(x'_i))^2/\ell_i^2`. With the slope
    :math:`g(r) = -k'(r)/r` no derivative needs a division by r:
    :math:`\partial k/\partial x_i = -g(r)\,(\psi(x_i) - \psi(x'_i))\,\psi'(x_i)/\ell_i^2` and
    :math:`\partial k/\partial\log\ell_i = g(r)\,(\psi(x_i) - \psi(x'_i))^2/\ell_i^2`.

    A kernel is written as a frozen dataclass that inherits from this class. Its fields are its
    parameters; they are fixed, not fitted, and are written to journals as JSON.

    Attributes:
        name: Its name in ``KERNELS``.
        smoothness: Of a member of the Matern family its nu (infinite for the squared
            exponential); None for other kernels.
    """

    name: ClassVar[str]
    smoothness: ClassVar[float | None]

    def value(self, square_distances: Array) -> Array:
        """k(r) at squared scaled distances, in a new array."""
        ...

    def value_and_slope(self, square_distances: Array) -> tuple[Array, Array]:
        """k(r) and g(r) at squared scaled distances, in new arrays."""
        ...

    def frequencies(self, rng: np.random.Generator, width: int, count: int) -> Array:
        r"""Draws from the spectrum, (width, count): k is the mean of :math:`\cos(\omega^T r)`.

        Bochner's theorem; random Fourier features (Rahimi and Recht 2007) are built of them.
        """
        ...

    def warp(self, X: Array) -> Array:
        """The inputs, warped elementwise before they are scaled; unchanged unless overridden."""
        return X

    def warp_slope(self, X: Array) -> Array:
        """The elementwise derivative of ``warp``."""
        return np.ones(X.shape)
