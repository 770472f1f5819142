# SPDX-License-Identifier: Apache-2.0
"""Scores to be maximised: hills of known height, and scores that note what they are asked."""

import numpy as np
from scipy.optimize import minimize


class Formula:
    """A score from a function X -> (values, gradients), which notes all it is asked."""

    scales = None
    starts = None

    def __init__(self, function, unit=1.0):
        self.function, self.unit, self.seen = function, unit, []

    def __call__(self, X):
        return self.with_gradient(X)[0]

    def with_gradient(self, X):
        self.seen.append(X.copy())
        return self.function(X)


class Watched:
    """A score of ours, which notes all it is asked."""

    def __init__(self, score):
        self.score, self.seen = score, []
        self.scales, self.unit = score.scales, score.unit

    def __call__(self, X):
        self.seen.append(X.copy())
        return self.score(X)

    def with_gradient(self, X):
        self.seen.append(X.copy())
        return self.score.with_gradient(X)


def hill(centre, height=0.0, steepness=10.0):
    """One top, at ``centre``."""

    def function(X):
        return height - steepness * np.sum((X - centre) ** 2, axis=1), -2 * steepness * (
            X - centre
        )

    return function


def hills(*tops):
    """The higher of several hills, everywhere."""

    def function(X):
        values, gradients = zip(*(top(X) for top in tops), strict=True)
        which = np.argmax(values, axis=0)
        return np.max(values, axis=0), np.array(gradients)[which, np.arange(len(X))]

    return function


def polished(score, x, free):
    """The top of the hill that x stands on, along the free columns, by scipy."""
    columns = np.flatnonzero(free)

    def downhill(part):
        full = x.copy()
        full[columns] = part
        values, gradients = score.with_gradient(full[None, :])
        return -values[0], -gradients[0, columns]

    bounds = [(0.0, 1.0)] * len(columns)
    options = {"ftol": 1e-15, "gtol": 1e-10}
    return -minimize(downhill, x[columns], jac=True, bounds=bounds, options=options).fun


def two_hills(X):
    """Of x and a choice of two: the top is 0 at x = 0.2, or 0.5 at x = 0.9, beyond a valley."""
    second = X[:, 2] > 0.5
    centre, height = np.where(second, 0.9, 0.2), np.where(second, 0.5, 0.0)
    gradients = np.zeros_like(X)
    gradients[:, 0] = -20.0 * (X[:, 0] - centre)
    return height - 10.0 * (X[:, 0] - centre) ** 2, gradients
