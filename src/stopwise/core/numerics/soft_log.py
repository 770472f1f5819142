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
    return np.where(over > 0.0, knee + tau * _log_growth(over, tau), y)


def log_slope_of_soft_log(y: Array | float, knee: Array | float, tau: Array | float) -> Array:
    """The log of its derivative."""
    return -_log_growth(np.maximum(np.asarray(y) - knee, 0.0), tau)


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


def _log_growth(over: Array, tau: Array | float) -> Array:
    """log(1 + over/tau), also where the ratio is larger than any number."""
    with np.errstate(over="ignore"):
        growth: Array = np.log1p(over / tau)
    beyond = np.isposinf(growth)
    if beyond.any():
        with np.errstate(divide="ignore"):  # where nothing is over
            growth = np.where(beyond, np.log(over) - np.log(tau), growth)
    return growth
