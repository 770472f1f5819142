# SPDX-License-Identifier: Apache-2.0
"""Clopper-Pearson bounds: exact confidence bounds of a probability from a count.

References:
    Clopper and Pearson (1934).
"""

from __future__ import annotations

from functools import cache

from stopwise.core.numerics import scipy_parts


def upper_bound(count: int, samples: int, risk: float) -> float:
    """One-sided upper bound of a probability, wrong with probability ``risk`` at most."""
    if count >= samples:
        return 1.0
    return float(scipy_parts.special.betaincinv(count + 1, samples - count, 1.0 - risk))


def lower_bound(count: int, samples: int, risk: float) -> float:
    """One-sided lower bound of a probability, wrong with probability ``risk`` at most."""
    if count == 0:
        return 0.0
    return float(scipy_parts.special.betaincinv(count, samples - count + 1, risk))


@cache
def acceptance_number(samples: int, risk: float, level: float) -> int:
    """The largest count whose upper bound is at most a level; -1 if that of 0 is above it.

    The name is that of acceptance sampling, where a lot with no more defects is accepted.
    """
    number = -1
    while number < samples and upper_bound(number + 1, samples, risk) <= level:
        number += 1
    return number
