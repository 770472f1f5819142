# SPDX-License-Identifier: Apache-2.0
"""Gradients against central differences."""

import numpy as np


def differences(function, X, step=1e-6):
    """Central differences of a function of rows in every column: (rows, columns)."""
    moves = step * np.eye(X.shape[1])
    rises = [(function(X + move) - function(X - move)) / (2.0 * step) for move in moves]
    return np.stack(rises, axis=1)


def check_gradient(score, X, *, step=1e-6, tolerance=1e-3):
    """Check that a score has one value by both ways, and the gradient of its differences."""
    values, gradients = score.with_gradient(X)
    np.testing.assert_allclose(values, score(X), rtol=1e-9)
    rises = differences(score, X, step)
    np.testing.assert_allclose(gradients, rises, rtol=tolerance, atol=tolerance)
