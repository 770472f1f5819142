# SPDX-License-Identifier: Apache-2.0
"""Gradients of scores against central differences."""

import numpy as np


def check_gradient(score, X, *, step=1e-6, tolerance=1e-3):
    """Check that a score has one value by both ways, and the gradient of its differences."""
    values, gradients = score.with_gradient(X)
    np.testing.assert_allclose(values, score(X), rtol=1e-9)
    for i, along in enumerate(step * np.eye(X.shape[1])):
        rise = (score(X + along) - score(X - along)) / (2.0 * step)
        np.testing.assert_allclose(gradients[:, i], rise, rtol=tolerance, atol=tolerance)
