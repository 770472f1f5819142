# SPDX-License-Identifier: Apache-2.0
"""Smooth noiseless functions on the unit cube, to be minimised, with their minima."""

import numpy as np

_HARTMANN_A = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
_HARTMANN_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
_HARTMANN_ALPHA = np.array([1.0, 1.2, 3.0, 3.2])


def wave(X):
    """One dimension: a sine on a parabola."""
    return np.sin(5 * X[:, 0]) + 3 * (X[:, 0] - 0.4) ** 2


def branin(X):
    """Two dimensions, three minima."""
    x, y = 15 * X[:, 0] - 5, 15 * X[:, 1]
    bowl = (y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6) ** 2
    return bowl + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10


def hartmann6(X):
    """Six dimensions, six minima."""
    squares = ((X[:, None] - _HARTMANN_P) ** 2 * _HARTMANN_A).sum(axis=2)
    return -np.exp(-squares) @ _HARTMANN_ALPHA


# name -> (function, dimensions, evaluations after the design, minimum)
SMOOTH = {
    "wave": (wave, 1, 12, -0.2914196987),
    "branin": (branin, 2, 42, 0.3978873577),
    "hartmann6": (hartmann6, 6, 48, -3.3223680115),
}
