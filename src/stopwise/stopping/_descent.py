# SPDX-License-Identifier: Apache-2.0
"""Descents on sample paths: many at once, each on a path of its own."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from stopwise._climb import climb
from stopwise.snapshot import Snapshot

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


class Functions(Protocol):
    """Several functions of encoded points."""

    def __len__(self) -> int:
        """How many."""
        ...

    def with_gradient(self, X: Array, which: Rows) -> tuple[Array, Array]:
        """Row i of X on function ``which[i]``: values and gradients."""
        ...


def descend(
    snapshot: Snapshot,
    paths: Functions,
    which: Rows,
    starts: Array,
    enough: Array | None = None,
    max_steps: int = 200,
) -> tuple[Array, Array]:
    """Points of paths near their local minima, from a start each, and their values.

    With ``enough``, a level for each path, a descent ends below it, and early where it stays far
    above it. Columns that are not real stay as they are.
    """
    posterior = snapshot.belief.objective
    unit = posterior.standardiser.scale
    # A column that does not move carries which path a row descends.
    tags = (which / len(paths))[:, None]

    def objective(rows: Array) -> tuple[Array, Array]:
        own = np.rint(rows[:, -1] * len(paths)).astype(np.intp)
        value, gradient = paths.with_gradient(rows[:, :-1], own)
        uphill = np.hstack([-gradient / unit, np.zeros((len(rows), 1))])
        if enough is None:
            return -value / unit, uphill
        short = (enough[own] - value) / unit
        return np.minimum(short, 0.0), np.where(short[:, None] < 0.0, uphill, 0.0)

    free = np.append(snapshot.domain.real, False)  # type: ignore[union-attr]
    scales = np.append(posterior.hyper.lengthscales[posterior.groups], 1.0)
    X, _ = climb(
        objective,
        np.hstack([starts, tags]),
        free,
        scales=scales,
        rivals=enough is not None,  # what has reached its level leads
        max_steps=max_steps,
    )
    return X[:, :-1], paths.with_gradient(X[:, :-1], which)[0]
