# SPDX-License-Identifier: Apache-2.0
"""LogEIPC in extended precision: what a snapshot would say without rounding.

Where less is to be gained than a model resolves, the variance of its float64 posterior is rounding
for the most part, and the maximum of the score is the maximum of noise. Here the same posterior is
computed from the same data and hyper-parameters with 64 bits of mantissa.
"""

import itertools

import numpy as np

from stopwise.core.space.domain import SAME
from stopwise.math import log_ei

IS_EXTENDED = np.finfo(np.longdouble).eps < 1e-18
_BLOCK = 2000  # rows at a time


class ExtendedScore:
    """The score of an exactly observed snapshot with a Matern-5/2 kernel."""

    def __init__(self, snapshot):
        posterior = snapshot.belief.objective
        self.snapshot, self.hyper = snapshot, posterior.hyper
        self.lengthscales = posterior.column_lengthscales.astype(np.longdouble)
        self.nugget = np.longdouble(posterior.nugget)
        self.scale = np.longdouble(posterior.standardiser.scale)
        self.X = snapshot.X / self.lengthscales
        covariance = self._kernel(self.X) + self.nugget * np.eye(len(self.X))
        self.whitener = _inverse(_cholesky(covariance))
        # Values relative to the best, so that the mean is what is gained.
        self.prior = np.longdouble(posterior.standardiser.shift) - np.longdouble(snapshot.best)
        self.prior += self.scale * np.longdouble(self.hyper.mean)
        gains = snapshot.y.astype(np.longdouble) - np.longdouble(snapshot.best)
        self.residual = self.whitener @ ((gains - self.prior) / self.scale)

    def __call__(self, X):
        """Scores at the rows of X."""
        values = np.concatenate(
            [self._scores(X[i : i + _BLOCK]) for i in range(0, len(X), _BLOCK)]
        )
        return np.where(self.snapshot.taken(X), -np.inf, values)

    def _scores(self, X):
        u = self.whitener @ self._kernel(X / self.lengthscales).T
        w = self.whitener.T @ u
        variance = self.hyper.outputscale - np.sum(u * u, axis=0)
        variance -= self.nugget * np.sum(w * w, axis=0)
        std = self.scale * np.sqrt(np.maximum(variance, 0.0))
        mean = self.prior + self.scale * (self.residual @ u)
        gain = log_ei(mean.astype(float), std.astype(float), 0.0)
        return gain - self.snapshot.belief.log_price(X)

    def _kernel(self, A):
        squares = sum((A[:, None, j] - self.X[:, j]) ** 2 for j in range(A.shape[1]))
        r = np.sqrt(5 * squares)
        return self.hyper.outputscale * (1 + r + r * r / 3) * np.exp(-r)


def extended_supremum(snapshot, candidates, zoomed=3, rounds=30):
    """The supremum in extended precision: of candidates and of points next to observations."""
    score, d = ExtendedScore(snapshot), snapshot.domain.width
    signs = [np.array(s) for s in itertools.product((-1.0, 0.0, 1.0), repeat=d) if any(s)]
    beside = [np.clip(snapshot.X + SAME * (1.0 + 1e-8) * s, 0.0, 1.0) for s in signs]
    X = np.vstack([candidates, *beside])
    values = score(X)
    star = np.array(list(itertools.product(np.linspace(-1.0, 1.0, 9 if d == 1 else 5), repeat=d)))
    for i in np.argsort(-values)[:zoomed]:
        x = X[i]
        size = 0.5 * np.abs(snapshot.X - x).max(axis=1).min()
        for _ in range(rounds):
            around = np.clip(x + size * star, 0.0, 1.0)
            heights = score(around)
            x, size = around[np.argmax(heights)], 0.5 * size  # x itself is among them
            values = np.append(values, heights.max())
    return float(values.max())


def _cholesky(K):
    lower = np.zeros_like(K)
    for j in range(len(K)):
        lower[j, j] = np.sqrt(K[j, j] - lower[j, :j] @ lower[j, :j])
        lower[j + 1 :, j] = (K[j + 1 :, j] - lower[j + 1 :, :j] @ lower[j, :j]) / lower[j, j]
    return lower


def _inverse(lower):
    inverse = np.zeros_like(lower)
    for i in range(len(lower)):
        inverse[i, i] = 1 / lower[i, i]
        inverse[i, :i] = -lower[i, :i] @ inverse[:i, :i] / lower[i, i]
    return inverse
