# SPDX-License-Identifier: Apache-2.0
r"""A posterior that remembers how all candidates of a table look through its data.

Marginals of N candidates given n observations need :math:`u = L^{-1}k(X, x)` and, where the data
are exact, the squared norm of :math:`w = K^{-1}k(X, x)`: O(n^2 N) from scratch. Here u and w are
kept. With unchanged hyper-parameters one more observation is one more row of u and a rank-one
change of w, O(n N); the posterior without the last observation is had for O(n N) in any case:
with :math:`w_x = K_{n-1}^{-1}k(X, x_n)` and r the last row of w,
:math:`w_{n-1} = w_{:-1} + w_x r`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from stopwise.core.beliefs.gp import Normal, Posterior
from stopwise.core.numerics import cholesky as chol
from stopwise_paper.arrays import Array


class Projection:
    """u, and norms of u and w, of all points through the data seen last. It changes inside."""

    def __init__(self, points: Array, most: int) -> None:
        """For at most so many observations of these points."""
        self.points = points
        self._most = most
        self._kernel: tuple[Any, ...] | None = None
        self._X = np.empty((0, points.shape[1]))
        self._norms: dict[int, tuple[Array, Array | float]] = {}  # by number of observations

    def marginals(self, posterior: Posterior) -> Normal:
        """Of all points, under a posterior of points of the table."""
        n = len(posterior)
        if not self._is_here(posterior):
            if self._is_one_ahead(posterior):
                self._extend(posterior)
            else:
                self._restart(posterior)
        u_square, w_square = self._norms[n]
        hyper, standardiser = posterior.hyper, posterior.standardiser
        variance = hyper.outputscale - u_square - posterior.nugget * w_square
        mean = hyper.mean + posterior.residual @ self._u[:n]
        return Normal(
            mean * standardiser.scale + standardiser.shift,
            np.sqrt(np.maximum(variance, 0.0)) * standardiser.scale,
        )

    def _is_here(self, posterior: Posterior) -> bool:
        n = len(posterior)
        known = n in self._norms and self._kernel == _kernel(posterior)
        return known and np.array_equal(self._X[:n], posterior.X)

    def _is_one_ahead(self, posterior: Posterior) -> bool:
        n = len(self._X)
        same = len(posterior) == n + 1 and self._kernel == _kernel(posterior)
        return same and n > 0 and np.array_equal(self._X, posterior.X[:n])

    def _restart(self, posterior: Posterior) -> None:
        """From nothing: O(n^2 N)."""
        n, points = len(posterior), len(self.points)
        if self._kernel is None:
            self._u = np.empty((self._most, points))
            self._w = np.empty((self._most, points))
        self._kernel, self._X = _kernel(posterior), posterior.X
        u = chol.solve_lower(posterior.lower, posterior.cross_covariance(self.points))
        self._u[:n] = u
        squares = np.einsum("ij,ij->j", self._u[:n], self._u[:n])
        self._norms = {n: (squares, 0.0)}
        if n > 1:
            self._norms[n - 1] = (squares - self._u[n - 1] ** 2, 0.0)
        if not posterior.interpolate:
            return
        self._w[:n] = chol.solve_upper(posterior.lower, u)
        w_squares = np.einsum("ij,ij->j", self._w[:n], self._w[:n])
        self._norms[n] = (squares, w_squares)
        if n > 1:
            pull, last = _weights_of_last(posterior), self._w[n - 1]
            without = w_squares - last**2  # norm of w[:-1]
            without += 2.0 * last * (pull @ self._w[: n - 1]) + float(pull @ pull) * last**2
            self._norms[n - 1] = (self._norms[n - 1][0], without)

    def _extend(self, posterior: Posterior) -> None:
        """By one observation: O(n N)."""
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
            pull, last = _weights_of_last(posterior), new / pivot
            w_new = w_squares - 2.0 * last * (pull @ self._w[: n - 1])
            w_new += (float(pull @ pull) + 1.0) * last**2
            self._w[: n - 1] -= np.multiply.outer(pull, last)
            self._w[n - 1] = last
            self._norms[n] = (added, w_new)


def _kernel(posterior: Posterior) -> tuple[Any, ...]:
    """What u and w depend on, the data apart."""
    hyper = posterior.hyper
    return (hyper.lengthscales.tobytes(), hyper.outputscale, hyper.noise, posterior.jitter)


def _covariance_with(posterior: Posterior, x: Array, points: Array) -> Array:
    """Prior covariance of one point with all."""
    return np.asarray(replace(posterior, X=x).cross_covariance(points)[0])


def _weights_of_last(posterior: Posterior) -> Array:
    """K^-1 k of the last observation through those before it."""
    n = len(posterior)
    before = np.asfortranarray(posterior.lower[: n - 1, : n - 1])
    return chol.solve_upper(before, posterior.lower[n - 1, : n - 1, None])[:, 0]


@dataclass(frozen=True, eq=False)
class TabulatedPosterior(Posterior):
    """A posterior whose marginals over all candidates come from a projection."""

    projection: Projection

    @classmethod
    def of(cls, posterior: Posterior, projection: Projection) -> TabulatedPosterior:
        """The same posterior, remembering."""
        own = {f.name: getattr(posterior, f.name) for f in fields(Posterior)}
        return cls(**own, projection=projection)

    def __call__(self, X: Array) -> Normal:
        """Marginals at the rows of X."""
        if X is self.projection.points and len(self):
            return self.projection.marginals(self)
        return super().__call__(X)
