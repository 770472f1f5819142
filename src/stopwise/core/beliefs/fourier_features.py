# SPDX-License-Identifier: Apache-2.0
r"""Random Fourier features: draws of a stationary process as sums of waves.

With frequencies :math:`\omega_j` from the kernel's spectrum and normal weights,
:math:`g(x) = \sum_j a_j\cos\omega_j^T x + b_j\sin\omega_j^T x` has covariance k, but for an error
of about :math:`1/\sqrt M` with M frequencies. Inputs are scaled: warped and in length scales.

References:
    Rahimi and Recht (2007).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stopwise.core.numerics.arrays import Array, Indices

Floats = NDArray[Any]  # in double or single precision


@dataclass(frozen=True, slots=True, eq=False)
class FourierFeatures:
    """n sums of waves that share their frequencies.

    Args:
        frequencies: (width, M).
        weights: (2 M, n), of cosines then sines.
    """

    frequencies: Floats
    weights: Floats

    def __len__(self) -> int:
        """Number of sums."""
        return int(self.weights.shape[1])

    def __call__(self, scaled: Array) -> Floats:
        """All sums at scaled inputs, (rows, n), in the precision of the weights."""
        angles = scaled.astype(self.frequencies.dtype, copy=False) @ self.frequencies
        of_cosine, of_sine = np.split(self.weights, 2)
        values: Floats = np.cos(angles) @ of_cosine + np.sin(angles) @ of_sine
        return values

    def with_gradient(self, scaled: Array, which: Indices) -> tuple[Array, Array]:
        """Row i of the scaled inputs in sum ``which[i]``: values and gradients in the inputs."""
        angles, weights = scaled @ self.frequencies, self.weights[:, which].T
        of_cosine, of_sine = weights[:, : angles.shape[1]], weights[:, angles.shape[1] :]
        cosine, sine = np.cos(angles), np.sin(angles)
        values = np.einsum("ij,ij->i", cosine, of_cosine) + np.einsum("ij,ij->i", sine, of_sine)
        cosine *= of_sine
        sine *= of_cosine
        cosine -= sine
        return values, cosine @ self.frequencies.T
