# SPDX-License-Identifier: Apache-2.0
"""Inverting log h, and fair values, against 100 bisection steps over the same log h.

The bisection gets what makes it fast: it knows a bracket, works on whole arrays, and in the
same blocks as the inverse, so that its temporaries stay in cache. It is handed log(cost/std),
which ``pbgi`` has to compute. (``log_h`` forms its slope on the way; without that the bisection
would be about a tenth faster.)
"""

import numpy as np
from numpy.typing import NDArray

from benchmarks import Row, _wanted
from benchmarks._timing import medians
from stopwise.core.numerics.standard_improvement import BLOCK
from stopwise.math import inv_log_h, log_h, pbgi

Array = NDArray[np.float64]

BRACKET = (-60.0, 60.0)  # log h there: -1810 and 4.1
STEPS = 100


def bisection(t: Array) -> Array:
    """The z with log h(z) = t."""
    out = np.empty_like(t)
    for start in range(0, t.size, BLOCK):
        target = t[start : start + BLOCK]
        low, high = (np.full(target.shape, end) for end in BRACKET)
        for _ in range(STEPS):
            middle = 0.5 * (low + high)
            below = log_h(middle) < target
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        out[start : start + BLOCK] = 0.5 * (low + high)
    return out


def run(*, quick: bool) -> list[Row]:
    points, repeats = (100_000, 3) if quick else (1_000_000, 5)
    rng = np.random.default_rng(0)
    draws = {
        "uniform(-600, 4)": rng.uniform(-600.0, 4.0, points),
        "normal(-5, 3)": np.minimum(rng.normal(-5.0, 3.0, points), 4.0),
    }
    mean, std = rng.normal(size=points), np.exp(rng.normal(size=points))
    return [row for name, t in draws.items() for row in _rows(name, t, mean, std, repeats)]


def _rows(name: str, t: Array, mean: Array, std: Array, repeats: int) -> list[Row]:
    cost = std * np.exp(t)
    roots = bisection(t)
    np.testing.assert_allclose(inv_log_h(t), roots, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(pbgi(mean, std, cost), mean + std * roots, rtol=1e-12, atol=1e-12)
    seconds = medians(
        {
            "inv_log_h": lambda: inv_log_h(t),
            "pbgi": lambda: pbgi(mean, std, cost),
            "bisection": lambda: bisection(t),
        },
        repeats,
    )
    return [
        {
            "log(cost/std)": name,
            "function": function,
            "ns/point": 1e9 * seconds[function] / t.size,
            "bisection": 1e9 * seconds["bisection"] / t.size,
            "times faster": seconds["bisection"] / seconds[function],
            **_wanted.at_least(
                seconds["bisection"] / seconds[function], _wanted.SPECIAL_FUNCTIONS
            ),
        }
        for function in ("inv_log_h", "pbgi")
    ]
