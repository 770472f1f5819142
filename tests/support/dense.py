# SPDX-License-Identifier: Apache-2.0
"""Gaussian-process regression as in a textbook: dense inverses, nothing shared, nothing fast."""

import numpy as np


class DenseGP:
    """The posterior of a constant-mean GP with a Matern-5/2 kernel, in the units of y."""

    def __init__(self, X, y, hyper, *, groups=None, shift=None, scale=None):
        self.X, self.hyper = X, hyper
        self.scales = hyper.lengthscales if groups is None else hyper.lengthscales[groups]
        self.shift = np.mean(y) if shift is None else shift
        self.scale = np.std(y, ddof=1) if scale is None else scale
        self.centred = (y - self.shift) / self.scale - hyper.mean
        self.K0 = self.kernel(X, X)
        self.K = self.K0 + hyper.noise * np.eye(len(X))

    def kernel(self, A, B):
        """Prior covariance, standardised."""
        r = np.sqrt(np.sum(((A[:, None, :] - B[None, :, :]) / self.scales) ** 2, axis=2))
        shape = 1 + np.sqrt(5) * r + 5 * r**2 / 3
        return self.hyper.outputscale * shape * np.exp(-np.sqrt(5) * r)

    def weights(self, Q):
        """The linear predictor: mean = prior mean + weights^T (y - prior mean)."""
        return np.linalg.solve(self.K, self.kernel(self.X, Q))

    def mean(self, Q):
        return self.shift + self.scale * (self.hyper.mean + self.weights(Q).T @ self.centred)

    def covariance(self, A, B, *, exact_data=False):
        """Posterior covariance or, for data without noise, E[error(a) error(b)] of the mean."""
        if exact_data:
            w_a, w_b = self.weights(A), self.weights(B)
            value = self.kernel(A, B) - w_a.T @ self.kernel(self.X, B)
            value += -self.kernel(A, self.X) @ w_b + w_a.T @ self.K0 @ w_b
        else:
            value = self.kernel(A, B) - self.kernel(A, self.X) @ self.weights(B)
        return self.scale**2 * value

    def std(self, Q, *, exact_data=False):
        return np.sqrt(np.diag(self.covariance(Q, Q, exact_data=exact_data)))

    def log_likelihood(self):
        _, log_determinant = np.linalg.slogdet(2 * np.pi * self.K)
        return -0.5 * (self.centred @ np.linalg.solve(self.K, self.centred) + log_determinant)
