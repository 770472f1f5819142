# SPDX-License-Identifier: Apache-2.0
r"""Moments at all candidates of a table, brought up to date as a posterior grows by a row.

At n observations the deviations at N candidates cost :math:`n^2 N`. From one observation to the
next, at the same hyper-parameters, only a row is new. With the new row :math:`(l, p)` of the
factor and :math:`(r, 1/p)` of its inverse W,

.. math:: u_{n+1} = (k_{n+1} - l^T U)/p, \quad
          |w'|^2 = |w|^2 + 2\,u_{n+1}\,(W r)^T U + u_{n+1}^2\,(|r|^2 + p^{-2})

where the columns of U are the whitened covariances :math:`u(x)` of the candidates, and
:math:`w = W^T u`. That costs n N. What is kept of a number of observations does not depend on who
asked before, or when.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stopwise.core.numerics import cholesky
from stopwise.core.numerics.arrays import Array

if TYPE_CHECKING:
    from stopwise.core.beliefs.gp import Posterior

_MANY = 4096  # candidates from which on it is worth while
_MOST = 32_000_000  # numbers that are kept, 256 MB
_BLOCK = 512  # candidates per pass


class _Squares(NamedTuple):
    """At each candidate, the squares of u and of w."""

    of_u: Array
    of_w: Array


class FollowedTable:
    """The moments of a posterior of the first observations, and of those that extend it.

    Args:
        first: The number of the first observations.
        is_broken: Whether the factor was computed anew since, so that nothing can be followed.
    """

    def __init__(self, first: int, *, is_broken: bool = False) -> None:
        self.is_broken = is_broken
        self._first = first
        self._points: Array | None = None
        self._U = np.empty((0, 0))
        self._squares: dict[int, _Squares] = {}  # by number of observations

    def is_at(self, X: Array, n: int) -> bool:
        """Whether X is the table, of a posterior with n observations; the first large one is.

        A table is an array that nobody changes: it is known by its identity.
        """
        if self.is_broken or n * len(X) > _MOST:
            return False
        if self._points is None and not X.flags.writeable and len(X) >= _MANY:
            self._points = X
        return X is self._points

    def moments(self, posterior: Posterior, X: Array) -> tuple[Array, Array]:
        """Mean, without its constant, and variance at the table X, standardised."""
        n = len(posterior)
        if not self._squares:
            self._begin(posterior.prefix(self._first), X)
        for m in range(max(self._squares), n):
            self._add(posterior, m, X)
        squares = self._squares[n]
        variance = posterior.hyper.outputscale - squares.of_u
        if posterior.interpolate:
            variance -= posterior.nugget * squares.of_w
        return np.asarray(posterior.residual @ self._U[:n]), variance

    def _begin(self, posterior: Posterior, X: Array) -> None:
        n = len(posterior)
        self._U = np.empty((n + n // 10 + 1, len(X)))
        squares = _Squares(np.empty(len(X)), np.empty(len(X)))
        for start in range(0, len(X), _BLOCK):
            rows = slice(start, start + _BLOCK)
            u = cholesky.times_lower(posterior.whitener, posterior.cross_covariance(X[rows]))
            w = cholesky.times_upper(posterior.whitener, u)
            self._U[:n, rows] = u
            squares.of_u[rows] = np.einsum("ij,ij->j", u, u)
            squares.of_w[rows] = np.einsum("ij,ij->j", w, w)
        self._squares[n] = squares

    def _add(self, posterior: Posterior, m: int, X: Array) -> None:
        """Add what observation m, counted from 0, brings."""
        lower, whitener = posterior.lower, posterior.whitener
        row, pivot = whitener[m, :m], float(lower[m, m])
        about = posterior.kernels_about(posterior.X[m : m + 1])
        covariance = posterior.hyper.outputscale * about.values(posterior.scaled(X))[:, 0]
        both = np.stack([lower[m, :m], whitener[:m, :m] @ row]) @ self._U[:m]
        u = (covariance - both[0]) / pivot
        before = self._squares[m]
        of_w = before.of_w + 2.0 * u * both[1] + u * u * (float(row @ row) + pivot**-2)
        self._squares[m + 1] = _Squares(before.of_u + u * u, of_w)
        if m == len(self._U):
            self._U = np.vstack([self._U, np.empty_like(self._U)])
        self._U[m] = u
