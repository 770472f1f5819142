# SPDX-License-Identifier: Apache-2.0
"""Exact draws of a Gaussian process on a grid of the unit interval."""

from __future__ import annotations

import math

import numpy as np

import stopwise as sw
from stopwise.errors import InputError
from stopwise_paper.arrays import Array
from stopwise_paper.problems.box import sobol_points
from stopwise_paper.problems.problem import Table
from stopwise_paper.problems.synthetic_costs import KINDS, SyntheticCost
from stopwise_paper.seeds import stream

GRID = 10_001
LENGTHSCALE = 0.1
EPSILON = 0.1  # of the probabilistic regret bound, for all synthetic problems
_CIRCLE = 4  # circumference of the circle that embeds the grid, in lengths of the grid
_THIN = 16


class GPGrid(Table):
    """One draw on the grid; the initial design is a Sobol sequence, snapped to the grid."""

    def initial(self, seed: int, n: int | None = None) -> Array:
        """2(d + 1) = 4 points, or n."""
        unit = sobol_points(1, n or 4, seed)
        rows = np.rint(unit[:, 0] * (len(self.domain) - 1)).astype(np.intp)
        return np.asarray(self.domain.points[rows])

    def thin(self, X: Array) -> sw.space.Finite:
        """Every 16th point of the grid and the rows of X: enough to see the minimum of a path.

        The standard deviation of f'' is 5/lengthscale^2 = 500, so between two of these points, at
        most 8e-4 from the nearer one, a path dips by about 2e-4 and hardly ever by 1e-3; the
        regret that the probabilistic bound tolerates is 0.1.
        """
        coarse = self.domain.points[::_THIN]
        others = X[~np.isin(X[:, 0], coarse[:, 0])]
        return sw.space.Finite(self.domain.codec, np.vstack([coarse, others]))


def gp_grid(seed: int, *, grid: int = GRID, lengthscale: float = LENGTHSCALE) -> GPGrid:
    """The problem of one seed: the function and the three costs."""
    points = np.linspace(0.0, 1.0, grid)[:, None]
    y = draw(seed, grid, lengthscale)
    domain = sw.space.Finite(sw.space.Mixed.of({"x": sw.Real(0.0, 1.0)}), points)
    best = points[np.argmin(y)]
    costs: dict[str, Array] = {kind: SyntheticCost(kind, best)(points) for kind in KINDS}
    return GPGrid(domain, y, y, costs, costs, EPSILON, "known", lengthscale)


def draw(seed: int, grid: int, lengthscale: float) -> Array:
    """A draw of a Matern-5/2 process on an even grid of [0, 1], by circulant embedding.

    The grid is part of a circle on which the covariance is circulant, so that one FFT
    diagonalises it and the draw is exact (Dietrich and Newsam 1997).
    """
    step = 1.0 / (grid - 1)
    size = 1 << int(np.ceil(np.log2(_CIRCLE * grid)))
    distances = np.minimum(np.arange(size), size - np.arange(size)) * step / lengthscale
    spectrum = np.fft.rfft(matern52(distances)).real
    if spectrum.min() < -1e-8 * spectrum.max():
        message = f"length scale {lengthscale} is too long for an exact draw on {grid} points."
        raise InputError(message)
    white = stream(seed, "objective").standard_normal(size)
    path = np.fft.irfft(np.fft.rfft(white) * np.sqrt(np.maximum(spectrum, 0.0)), size)
    return np.asarray(path[:grid])


def matern52(distances: Array) -> Array:
    """The Matern-5/2 kernel of unit variance at distances in length scales."""
    squares = distances**2
    root = math.sqrt(5.0) * np.sqrt(squares)
    return np.asarray(np.exp(-root) * (root + 1.0 + (5.0 / 3.0) * squares))
