# SPDX-License-Identifier: Apache-2.0
"""Moments of a log-normal price: the only place where exp(mu +- s^2/2) is written.

ln c is normal with mean mu and deviation s (predictive: noise included, because that is what
is paid). E[c] prices every decision; 1/E[1/c] exists for LogEIPC-inv alone. The two differ by
a factor exp(s^2): multiplying by E[1/c] where dividing by E[c] was meant is a known slip.
"""

from __future__ import annotations

from stopwise.core.numerics.arrays import Array


def log_mean(mu: Array, std: Array) -> Array:
    """Log E[c] = mu + s^2/2 (Eq. "lnEc" of Xie et al. 2026); its derivative in s is s."""
    return mu + 0.5 * std * std


def log_harmonic_mean(mu: Array, std: Array) -> Array:
    """Log 1/E[1/c] = mu - s^2/2 (Astudillo et al. 2021, Prop. 2); its derivative in s is -s."""
    return mu - 0.5 * std * std
