# SPDX-License-Identifier: Apache-2.0
"""The Matern kernel of smoothness 5/2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.core.beliefs.kernels.kernel import Kernel
from stopwise.core.numerics.arrays import Array

_SQRT_5 = math.sqrt(5.0)


@dataclass(frozen=True, slots=True)
class Matern52(Kernel):
    r"""Matern-5/2, :math:`k(r) = (1 + \sqrt5 r + \tfrac53 r^2)\,e^{-\sqrt5 r}`.

    Its slope is :math:`g(r) = \tfrac53 (1 + \sqrt5 r)\,e^{-\sqrt5 r}`; its spectrum is a
    multivariate t distribution with 5 degrees of freedom, twice the smoothness. Assumes that f is
    twice differentiable and no smoother, and as rough everywhere.

    References:
        Rasmussen and Williams (2006), Section 4.2.1.
    """

    name: ClassVar[str] = "matern52"
    smoothness: ClassVar[float | None] = 2.5

    def value(self, square_distances: Array) -> Array:
        """k(r)."""
        root = np.sqrt(square_distances)
        root *= _SQRT_5
        value = np.exp(-root)
        root += 1.0
        root += (5.0 / 3.0) * square_distances
        value *= root
        return value

    def value_and_slope(self, square_distances: Array) -> tuple[Array, Array]:
        """k(r) and g(r), from one exponential."""
        root = np.sqrt(square_distances)
        root *= _SQRT_5
        decay = np.exp(-root)
        root += 1.0
        slope = (5.0 / 3.0) * decay
        slope *= root
        root += (5.0 / 3.0) * square_distances
        decay *= root
        return decay, slope

    def frequencies(self, rng: np.random.Generator, width: int, count: int) -> Array:
        """Draws of the t distribution: a normal over the root of a mean chi-square."""
        normal = rng.standard_normal((width, count))
        return np.asarray(normal / np.sqrt(rng.chisquare(5.0, count) / 5.0))
