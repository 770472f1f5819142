# SPDX-License-Identifier: Apache-2.0
"""The scale of a number: from its bounds to the unit interval, linear or logarithmic.

Both directions map the bounds exactly and never leave the interval. Each works on fresh
contiguous arrays, so that a value is encoded to the same bits alone and among others.
"""

from __future__ import annotations

import numpy as np

from stopwise.core.numerics.arrays import Array


def to_unit(values: Array, low: float, high: float, *, log: bool) -> Array:
    """Map [low, high] to [0, 1], the bounds exactly."""
    if log:
        start, stop = np.log(low), np.log(high)
        u = (np.log(np.clip(values, low, high)) - start) / (stop - start)
    else:
        u = (values - low) / (high - low)
    # np.log of an array and of a scalar may differ in the last bit, hence at the bounds too.
    return np.where(values <= low, 0.0, np.where(values >= high, 1.0, np.clip(u, 0.0, 1.0)))


def from_unit(u: Array, low: float, high: float, *, log: bool) -> Array:
    """Map [0, 1] to [low, high], the bounds exactly; values outside go to a bound."""
    u = np.clip(u, 0.0, 1.0)
    if log:
        start, stop = np.log(low), np.log(high)
        values = np.exp(start + u * (stop - start))
    else:
        values = low + u * (high - low)
    return np.where(u <= 0.0, low, np.where(u >= 1.0, high, np.clip(values, low, high)))
