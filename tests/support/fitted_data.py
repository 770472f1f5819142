# SPDX-License-Identifier: Apache-2.0
"""Data and hyper-parameters that tests of the likelihood and of fits have in common."""

import math

import numpy as np

from stopwise.core.beliefs import Hyperparameters

UNGROUPED = np.arange(3)
GROUPS = np.array([0, 1, 1, 2])
HYPER = Hyperparameters([0.4, 0.9, 1.5], outputscale=1.3, noise=0.02, mean=0.2)


def some_data(rng, n=25, width=3, noise=0.05):
    """Standardised observations of a smooth function in which the last column is idle."""
    X = rng.random((n, width))
    y = np.sin(5.0 * X[:, :-1]).sum(axis=1) + noise * rng.standard_normal(n)
    return X, (y - y.mean()) / y.std(ddof=1)


def moved(hyper, theta):
    """Hyper-parameters moved by theta: logs of length scales, output scale, noise; the mean."""
    d = hyper.lengthscales.size
    return Hyperparameters(
        hyper.lengthscales * np.exp(theta[:d]),
        hyper.outputscale * math.exp(theta[d]),
        hyper.noise * math.exp(theta[d + 1]),
        hyper.mean + theta[d + 2],
    )
