# SPDX-License-Identifier: Apache-2.0
"""The table that comes with this package: scikit-learn models on scikit-learn's own data.

``benchmarks/_sklearn_table.py`` made it: validation and test error in percent and CPU seconds of
training. The known price is an estimate that a user could make in advance: for networks from
their weights and steps, for forests from their trees, at rates from a regression, as the paper
does for LCBench.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

import numpy as np
from scipy.optimize import nnls

from stopwise.errors import InputError
from stopwise_paper.arrays import Array
from stopwise_paper.problems.columns import candidates_of
from stopwise_paper.problems.problem import LEARNED, Table

DATASETS = ("digits-network", "cancer-forest")
EPSILON = 0.1  # percentage points: half a per cent of the best error would be below one example
_LINEAR = ("layers", "depth", "max_samples")  # the other columns are on a log scale
_INPUTS, _OUTPUTS, _EXAMPLES = 64, 10, 898  # of the digits; half of the examples train


@lru_cache(maxsize=2)
def sklearn_problem(dataset: str) -> Table:
    """The problem of one of the two data sets."""
    if dataset not in DATASETS:
        message = f"the table has {', '.join(DATASETS)}, not {dataset!r}."
        raise InputError(message)
    path = files("stopwise_paper") / "data" / "sklearn.npz"
    with path.open("rb") as binary, np.load(binary, allow_pickle=False) as file:
        names = tuple(map(str, file[f"{dataset}/names"]))
        configs = file[f"{dataset}/configs"].astype(np.float64)
        y, test, seconds = file[f"{dataset}/measured"].astype(np.float64).T
    table, first = candidates_of(names, configs, linear=_LINEAR)
    proxy = _estimated_seconds(dict(zip(names, configs.T, strict=True)), seconds)[first]
    seconds = seconds[first]
    return Table(
        table.domain,
        y[first],
        test[first],
        {"proxy": proxy, LEARNED: seconds},
        {"proxy": seconds, LEARNED: seconds},
        EPSILON,
        facts={"runtime": "real"},
    )


def _estimated_seconds(columns: dict[str, Array], seconds: Array) -> Array:
    """Runtimes estimated from the configuration, at rates from a regression on measured ones."""
    terms = _forest(columns) if "trees" in columns else _network(columns)
    # Runtimes span two orders of magnitude: errors are relative, not absolute.
    rates, _ = nnls(terms / seconds[:, None], np.ones(len(seconds)))
    return np.asarray(terms @ rates)


def _forest(columns: dict[str, Array]) -> Array:
    """Terms of a forest: a constant, the trees, and the data that they read."""
    trees = columns["trees"]
    data = columns["max_samples"] * columns["max_features"] * columns["depth"]
    return np.stack([np.ones_like(trees), trees, trees * data], axis=1)


def _network(columns: dict[str, Array]) -> Array:
    """Terms of a network: a constant, steps, steps in layers, and updates of weights."""
    units, layers, epochs = columns["units"], columns["layers"], columns["epochs"]
    weights = _INPUTS * units + (layers - 1) * units**2 + _OUTPUTS * units
    steps = epochs * _EXAMPLES / columns["batch_size"]
    parts = [np.ones_like(steps), steps, steps * layers, epochs * weights, steps * weights]
    return np.stack(parts, axis=1)
