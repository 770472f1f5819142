# SPDX-License-Identifier: Apache-2.0
"""The lowest values of 8D draws: how far one search is below another, and Immediate by both.

Behind docs/results: regrets in 8D count from the lowest value that a search found. Ours looks at
65,536 points and climbs from 256; the published runs looked at 8,192 and climbed from 160.
"""

import numpy as np
from numpy.typing import NDArray

from benchmarks import Row
from stopwise.core.numerics.seeds import stream
from stopwise.core.numerics.threads import one_blas_thread
from stopwise.core.search.supremum import Search, supremum
from stopwise_paper.problems.gp8d import NegatedPath, gp_box

PUBLISHED = Search(8192, 160)


def run(*, quick: bool) -> list[Row]:
    seeds = range(2 if quick else 32)
    with one_blas_thread():
        found = np.array([_of(seed) for seed in seeds])
    ours, theirs, best = found.T
    deeper = theirs - ours
    return [
        {"what": "lowest value, our search", "mean": _mean(ours)},
        {"what": "lowest value, one as large as the published", "mean": _mean(theirs)},
        {"what": "ours is deeper by", "mean": _mean(deeper)},
        {"what": "ours is less deep", "mean": f"{np.sum(deeper < -1e-6)} of {len(seeds)}"},
        {"what": "largest difference", "mean": f"{np.abs(deeper).max():.2f}"},
        {"what": "Immediate, our search", "mean": _mean(best - ours)},
        {"what": "Immediate, one as large as the published", "mean": _mean(best - theirs)},
    ]


def _of(seed: int) -> tuple[float, float, float]:
    """Both lowest values, and the best of the initial design."""
    problem = gp_box(seed)
    other = supremum(
        NegatedPath(problem.path), problem.domain, stream(seed, "theirs"), search=PUBLISHED
    )
    return problem.optimum, -other.value, float(problem.path(problem.initial(seed))[0].min())


def _mean(values: NDArray[np.float64]) -> str:
    return f"{values.mean():.2f} ± {values.std(ddof=1) / np.sqrt(len(values)):.2f}"
