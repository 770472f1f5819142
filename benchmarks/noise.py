# SPDX-License-Identifier: Apache-2.0
"""Noise of 5 % of the range: the true regret of what is reported, noise learned or ignored.

Means over seeds with their standard errors, not timings; "saved" is paired. Where the noise is
ignored, the lowest observation is reported.
"""

import numpy as np
from numpy.typing import NDArray

from benchmarks import Row
from tests.support import noisy


def run(*, quick: bool) -> list[Row]:
    return [_row(name, range(2 if quick else 20)) for name in noisy.AFTER]


def _row(name: str, seeds: range) -> Row:
    learned, ignored = noisy.compared(name, seeds)
    return {
        "function": name,
        "evaluations": noisy.AFTER[name],
        "learned": _mean(learned),
        "ignored": _mean(ignored),
        "saved": _mean(ignored - learned),
    }


def _mean(values: NDArray[np.float64]) -> str:
    return f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}"
