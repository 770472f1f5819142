# SPDX-License-Identifier: Apache-2.0
"""Data sets on which stopping at once is better, beyond what chance explains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.stats import ttest_1samp

from stopwise_paper.arrays import Array

LEVEL = 0.05  # the chance that any data set is counted wrongly


def surely_worse(excesses: Iterable[Sequence[float]]) -> float:
    """The number of data sets whose excess is above 0, by one-sided t-tests corrected by Holm.

    Args:
        excesses: For each data set, regret minus that of stopping at once, one for each seed.

    Returns:
        The number; nan if a data set has a single seed, which no test can judge.

    Example:
        >>> surely_worse([[1.0, 1.1, 0.9], [0.1, -0.1, 0.0], [-1.0, -0.9, -1.1]])
        1.0
    """
    groups = [np.asarray(each, dtype=np.float64) for each in excesses]
    if min(map(len, groups), default=0) < 2:
        return np.nan
    return float(holm_rejected(np.array([_chance(each) for each in groups])))


def holm_rejected(chances: Array) -> int:
    """How many hypotheses are rejected by the procedure of Holm (1979)."""
    ordered = np.sort(chances)
    passed = ordered <= LEVEL / np.arange(len(ordered), 0, -1)
    return len(ordered) if passed.all() else int(np.argmin(passed))


def _chance(excess: Array) -> float:
    """The chance of a mean as large as this if there is no excess."""
    if np.ptp(excess) == 0.0:
        return 0.0 if excess[0] > 0.0 else 1.0
    return float(ttest_1samp(excess, 0.0, alternative="greater").pvalue)
