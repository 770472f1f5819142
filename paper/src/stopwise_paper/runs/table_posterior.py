# SPDX-License-Identifier: Apache-2.0
r"""A posterior over a table that keeps the whitened covariances of all candidates.

Marginals of N candidates given n observations need :math:`u = L^{-1}k(X, x)` and, where the data
are exact, the squared norm of :math:`w = K^{-1}k(X, x)`: O(n^2 N) from scratch. Here u and w are
kept. At unchanged hyper-parameters one more observation is one more row of u and a rank-one
change of w, O(n N). The posterior without the last observation takes O(n N) in any case: with
:math:`w_x = K_{n-1}^{-1}k(X, x_n)` and r the last row of w, :math:`w_{n-1} = w_{:-1} + w_x r`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

import stopwise as sw
from stopwise_paper.arrays import Array
from stopwise_paper.runs.triangular import solve_lower, solve_upper


class Projection:
    """u, and squared norms of u and w, of all points of a table given the latest data.

    It is a cache, and it changes inside: whoever asks brings the posterior, and what depends on
    another kernel or other data is computed anew.

    Args:
        points: The candidates, (N, width).
        capacity: The largest number of observations.
    """

    def __init__(self, points: Array, capacity: int) -> None:
        self.points = points
        self._capacity = capacity
        self._kernel: object = None
        self._X = np.empty((0, points.shape[1]))
        self._norms: dict[int, tuple[Array, Array | float]] = {}  # by number of observations

    def marginals(self, posterior: sw.beliefs.Posterior) -> sw.beliefs.Normal:
        """Means and deviations of all points under a posterior of points of the table."""
        n = len(posterior)
        if not self._has(posterior):
            if self._is_one_behind(posterior):
                self._extend(posterior)
            else:
                self._restart(posterior)
        u_square, w_square = self._norms[n]
        hyper, standardiser = posterior.hyper, posterior.standardiser
        variance = hyper.outputscale - u_square - posterior.nugget * w_square
        mean = hyper.mean + posterior.residual @ self._u[:n]
        return sw.beliefs.Normal(
            mean * standardiser.scale + standardiser.shift,
            np.sqrt(np.maximum(variance, 0.0)) * standardiser.scale,
        )

    def _has(self, posterior: sw.beliefs.Posterior) -> bool:
        n = len(posterior)
        same = n in self._norms and self._kernel == _kernel(posterior)
        return same and np.array_equal(self._X[:n], posterior.X)

    def _is_one_behind(self, posterior: sw.beliefs.Posterior) -> bool:
        n = len(self._X)
        same = len(posterior) == n + 1 and self._kernel == _kernel(posterior)
        return same and n > 0 and np.array_equal(self._X, posterior.X[:n])

    def _restart(self, posterior: sw.beliefs.Posterior) -> None:
        """Compute everything from scratch: O(n^2 N)."""
        n, points = len(posterior), len(self.points)
        if self._kernel is None:
            self._u = np.empty((self._capacity, points))
            self._w = np.empty((self._capacity, points))
        self._kernel, self._X = _kernel(posterior), posterior.X
        u = solve_lower(posterior.lower, posterior.cross_covariance(self.points))
        self._u[:n] = u
        squares = np.einsum("ij,ij->j", self._u[:n], self._u[:n])
        self._norms = {n: (squares, 0.0)}
        if n > 1:
            self._norms[n - 1] = (squares - self._u[n - 1] ** 2, 0.0)
        if not posterior.interpolate:
            return
        self._w[:n] = solve_upper(posterior.lower, u)
        w_squares = np.einsum("ij,ij->j", self._w[:n], self._w[:n])
        self._norms[n] = (squares, w_squares)
        if n > 1:
            w_x, last = _weights_of_last(posterior), self._w[n - 1]
            without = w_squares - last**2  # norm of w[:-1]
            without += 2.0 * last * (w_x @ self._w[: n - 1]) + float(w_x @ w_x) * last**2
            self._norms[n - 1] = (self._norms[n - 1][0], without)

    def _extend(self, posterior: sw.beliefs.Posterior) -> None:
        """Add one observation: O(n N)."""
        n = len(posterior)
        row, pivot = posterior.lower[n - 1, : n - 1], float(posterior.lower[n - 1, n - 1])
        k = _covariance_with(posterior, posterior.X[n - 1 :], self.points)
        new = (k - row @ self._u[: n - 1]) / pivot
        squares, w_squares = self._norms[n - 1]
        self._u[n - 1] = new
        added = squares + new**2
        self._norms = {n - 1: (squares, w_squares), n: (added, 0.0)}
        self._X = posterior.X
        if posterior.interpolate:
            w_x, last = _weights_of_last(posterior), new / pivot
            w_new = w_squares - 2.0 * last * (w_x @ self._w[: n - 1])
            w_new += (float(w_x @ w_x) + 1.0) * last**2
            self._w[: n - 1] -= np.multiply.outer(w_x, last)
            self._w[n - 1] = last
            self._norms[n] = (added, w_new)


def _kernel(posterior: sw.beliefs.Posterior) -> tuple[sw.beliefs.Hyperparameters, float]:
    """Everything that u and w depend on, except the data."""
    return replace(posterior.hyper, mean=0.0), posterior.jitter


def _covariance_with(posterior: sw.beliefs.Posterior, x: Array, points: Array) -> Array:
    """Prior covariance of one point with all points."""
    return np.asarray(replace(posterior, X=x).cross_covariance(points)[0])


def _weights_of_last(posterior: sw.beliefs.Posterior) -> Array:
    """K^-1 k of the last observation given those before it."""
    n = len(posterior)
    before = np.asfortranarray(posterior.lower[: n - 1, : n - 1])
    return solve_upper(before, posterior.lower[n - 1, : n - 1, None])[:, 0]


@dataclass(frozen=True, eq=False)
class TablePosterior(sw.beliefs.Posterior):
    """A posterior whose marginals over all candidates come from a projection."""

    projection: Projection

    @classmethod
    def of(cls, posterior: sw.beliefs.Posterior, projection: Projection) -> TablePosterior:
        """The same posterior, with a projection."""
        parts = {f.name: getattr(posterior, f.name) for f in fields(sw.beliefs.Posterior)}
        return cls(**parts, projection=projection)

    def __call__(self, X: Array) -> sw.beliefs.Normal:
        """Marginals at the rows of X."""
        if X is self.projection.points and len(self):
            return self.projection.marginals(self)
        return super().__call__(X)
