# SPDX-License-Identifier: Apache-2.0
"""Numbers at which formulas are tried, and their error against numbers of 40 digits."""

import math
import sys

import numpy as np

from stopwise.core.numerics import standard_improvement
from tests.support.oracles import mp

LARGEST = sys.float_info.max
SMALLEST_NORMAL = sys.float_info.min
SMALLEST = 5e-324
PHI_0 = 1.0 / math.sqrt(2.0 * math.pi)  # the standard normal density at 0


def both_sides(*edges):
    """Each edge and its two neighbours among the doubles."""
    return [np.nextafter(edge, side) for edge in edges for side in (-np.inf, edge, np.inf)]


def error(got, want, *, per):
    """|got - want| in units of ``per``."""
    return float(abs(mp.mpf(float(got)) - want) / mp.mpf(per))


# Distances in deviations, on all branches of log h.
LEVELS = np.concatenate(
    [
        -np.logspace(-8, 8, 49),
        np.logspace(-8, 8, 25),
        np.linspace(-16.0, 2.0, 37),
        both_sides(
            0.0,
            standard_improvement._FAR,
            -standard_improvement._FAR,
            standard_improvement.CERTAIN,
            -standard_improvement.CERTAIN,
        ),
    ]
)
