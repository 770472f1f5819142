# SPDX-License-Identifier: Apache-2.0
"""Timing several contenders fairly on a machine that does other things too."""

import statistics
import time
from collections.abc import Callable, Mapping


def medians(contenders: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median seconds of each contender, all taking turns; a first round only warms up."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats + 1):
        for name, contender in contenders.items():
            start = time.perf_counter()
            contender()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times[1:]) for name, times in seconds.items()}
