# SPDX-License-Identifier: Apache-2.0
r"""The knowledge gradient of affine functions of one standard normal, exactly.

With :math:`g_i(Z) = a_i + b_i Z` it is :math:`\min_i a_i - E[\min_i g_i(Z)]`, which is at least 0:
what one expects to gain by choosing the lowest function after Z is known instead of before.

References:
    Frazier, Powell and Dayanik (2009), The Knowledge-Gradient Policy for Correlated Normal
    Beliefs, Algorithms 1 and 2 (there for a maximum).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.numerics.standard_improvement import log_h


def knowledge_gradient(intercepts: ArrayLike, slopes: ArrayLike) -> float:
    r"""The expected fall of the lowest of some affine functions, :math:`\min a - E[\min(a + bZ)]`.

    It is :math:`\sum_k (b_k - b_{k+1})\,h(-|c_k|)` over the lines that are lowest somewhere, by
    falling slope, with :math:`c_k` where line k + 1 takes over from line k. No two large numbers
    are subtracted, so a small gain keeps its digits.

    Args:
        intercepts: a, one per function.
        slopes: b, one per function.

    Example:
        >>> round(knowledge_gradient([0.0, 0.0], [0.0, 1.0]), 12)  # E[max(Z, 0)] = 1/sqrt(2 pi)
        0.398942280401
    """
    a, b = np.asarray(intercepts, dtype=np.float64), np.asarray(slopes, dtype=np.float64)
    order = np.lexsort((-a, -b))  # by falling slope; of equal slopes the lowest comes last
    lines: list[tuple[float, float]] = []
    crossings: list[float] = []  # the Z at which each line but the first becomes the lowest
    for here in zip(a[order].tolist(), b[order].tolist(), strict=True):
        # Each pass takes a line away.
        while lines and (lines[-1][1] == here[1] or _hides(lines, crossings, here)):
            lines.pop()
            crossings = crossings[: max(len(lines) - 1, 0)]
        if lines:
            crossings.append(_crossing(lines[-1], here))
        lines.append(here)
    drops = -np.diff([slope for _, slope in lines])
    return float(drops @ np.exp(log_h(-np.abs(np.array(crossings, dtype=np.float64)))))


def _crossing(first: tuple[float, float], second: tuple[float, float]) -> float:
    """The Z at which two lines of different slope meet."""
    return (second[0] - first[0]) / (first[1] - second[1])


def _hides(
    lines: list[tuple[float, float]], crossings: list[float], line: tuple[float, float]
) -> bool:
    """Whether a line of smaller slope leaves no Z at which the last line is the lowest."""
    return bool(crossings) and _crossing(lines[-1], line) <= crossings[-1]
