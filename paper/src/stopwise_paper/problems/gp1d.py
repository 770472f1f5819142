# SPDX-License-Identifier: Apache-2.0
"""Functions drawn from a Gaussian process on a grid of the unit interval, exactly."""

from __future__ import annotations

import numpy as np

from stopwise.core.beliefs import KERNELS
from stopwise.core.numerics.seeds import stream
from stopwise.core.space import Finite, Real
from stopwise.core.space.domain import Mixed
from stopwise.errors import InputError
from stopwise_paper.arrays import Array
from stopwise_paper.problems.box import sobol_points
from stopwise_paper.problems.costs import KINDS, SyntheticCost
from stopwise_paper.problems.problem import Table

GRID = 10_001
LENGTHSCALE = 0.1
EPSILON = 0.1  # of the probabilistic regret bound, for all synthetic problems
_AROUND = 4  # a circle so many times as long: stationary draws on it are exact, by one FFT
_THIN = 16


class GP1D(Table):
    """One draw on the grid; the initial design is a Sobol sequence, snapped to the grid."""

    def initial(self, seed: int, n: int | None = None) -> Array:
        """2(d + 1) = 4 points, or n."""
        unit = sobol_points(1, n or 4, seed)
        rows = np.rint(unit[:, 0] * (len(self.domain) - 1)).astype(np.intp)
        return np.asarray(self.domain.points[rows])

    def thin(self, X: Array) -> Finite:
        """Every 16th point of the grid, and those of X: enough to see the minimum of a path.

        The deviation of f'' is 5/lengthscale^2 = 500, so between two of them, 8e-4 from the nearer
        one, a path dips by some 2e-4 and hardly by 1e-3; the regret that does not matter is 0.1.
        """
        coarse = self.domain.points[::_THIN]
        own = X[~np.isin(X[:, 0], coarse[:, 0])]
        return Finite(self.domain.codec, np.vstack([coarse, own]))


def gp1d(seed: int, *, grid: int = GRID, lengthscale: float = LENGTHSCALE) -> GP1D:
    """The problem of one seed: the function, and the three costs."""
    points = np.linspace(0.0, 1.0, grid)[:, None]
    y = draw(seed, grid, lengthscale)
    domain = Finite(Mixed.of({"x": Real(0.0, 1.0)}), points)
    best = points[np.argmin(y)]
    costs: dict[str, Array] = {kind: SyntheticCost(kind, best)(points) for kind in KINDS}
    return GP1D(domain, y, y, costs, costs, EPSILON, "known", lengthscale)


def draw(seed: int, grid: int, lengthscale: float) -> Array:
    """An exact draw of a Matern-5/2 process on an even grid of [0, 1], by circulant embedding."""
    step = 1.0 / (grid - 1)
    size = 1 << int(np.ceil(np.log2(_AROUND * grid)))
    around = np.minimum(np.arange(size), size - np.arange(size)) * step / lengthscale
    spectrum = np.fft.rfft(KERNELS["matern52"]().value(around**2)).real
    if spectrum.min() < -1e-8 * spectrum.max():
        message = f"length scale {lengthscale} is too long for an exact draw on {grid} points."
        raise InputError(message)
    white = stream(seed, "objective").standard_normal(size)
    path = np.fft.irfft(np.fft.rfft(white) * np.sqrt(np.maximum(spectrum, 0.0)), size)
    return np.asarray(path[:grid])
