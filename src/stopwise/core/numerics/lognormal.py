# SPDX-License-Identifier: Apache-2.0
"""Moments of a log-normal cost, in logs: the only module that writes exp(mu +- s^2/2).

ln c is normal with mean mu and deviation s; s is predictive, with the noise included, because the
noise is paid too. Decisions use E[c]; 1/E[1/c] is for LogEIPC-inv alone. The two differ by a
factor exp(s^2), so multiplying by E[1/c] is not the same as dividing by E[c]. A mean may be
beyond the range of costs (``limits``), as that of a very uncertain one: see ``within_range``.
"""

from __future__ import annotations

import math

import numpy as np

from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.limits import LARGEST_AMOUNT, LEAST_AMOUNT

_LOWEST, _HIGHEST = math.log(LEAST_AMOUNT), math.log(LARGEST_AMOUNT)


def log_mean(mu: Array, std: Array) -> Array:
    """Log E[c] = mu + s^2/2 (Eq. "lnEc" of Xie et al. 2026); its derivative in s is s."""
    return mu + 0.5 * std * std


def log_harmonic_mean(mu: Array, std: Array) -> Array:
    """Log 1/E[1/c] = mu - s^2/2 (Astudillo et al. 2021, Prop. 2); its derivative in s is -s."""
    return mu - 0.5 * std * std


def within_range(log_cost: Array) -> Array:
    """Logs of costs, none beyond the range of costs."""
    # np.clip takes several times as long on few points.
    return np.minimum(np.maximum(log_cost, _LOWEST), _HIGHEST)
