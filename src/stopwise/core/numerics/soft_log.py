# SPDX-License-Identifier: Apache-2.0
r"""The soft logarithm: the identity up to a knee, a logarithm beyond it.

.. math:: w(y) = k + \tau\log(1 + (y - k)/\tau) \quad\text{for } y > k, \qquad y \text{ elsewhere.}

It is increasing and concave, with a continuous derivative. Its inverse overflows to infinity,
without a warning.
"""

from __future__ import annotations

import numpy as np

from stopwise.core.numerics.arrays import Array


def soft_log(y: Array | float, knee: Array | float, tau: Array | float) -> Array:
    """The soft logarithm of y."""
    over = np.maximum(np.asarray(y) - knee, 0.0)
    return np.where(over > 0.0, knee + tau * np.log1p(over / tau), y)


def log_slope_of_soft_log(y: Array | float, knee: Array | float, tau: Array | float) -> Array:
    """The log of its derivative."""
    slope: Array = -np.log1p(np.maximum(np.asarray(y) - knee, 0.0) / tau)
    return slope


def soft_exp(v: Array, knee: Array | float, tau: Array | float) -> Array:
    """Its inverse."""
    over = np.maximum(v - knee, 0.0)
    with np.errstate(over="ignore"):
        return np.where(over > 0.0, knee + tau * np.expm1(over / tau), v)


def slope_of_soft_exp(v: Array, knee: Array | float, tau: Array | float) -> Array:
    """The derivative of the inverse."""
    with np.errstate(over="ignore"):
        slope: Array = np.exp(np.maximum(v - knee, 0.0) / tau)
    return slope
