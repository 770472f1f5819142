# SPDX-License-Identifier: Apache-2.0
"""Descents on sample paths: many at once, each on a path of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.core.search.batched_bfgs import climb
from stopwise.core.snapshot import Snapshot


class Functions(Protocol):
    """Several functions of encoded points."""

    def __len__(self) -> int:
        """How many."""
        ...

    def with_gradient(self, X: Array, which: Indices) -> tuple[Array, Array]:
        """Row i of X on function ``which[i]``: values and gradients."""
        ...


def descend(
    snapshot: Snapshot, paths: Functions, which: Indices, starts: Array, max_steps: int = 200
) -> tuple[Array, Array]:
    """Points of paths near their local minima, from a start each, and their values.

    Columns that are not real stay as they are.
    """

    def objective(X: Array, own: Indices) -> tuple[Array, Array]:
        value, gradient = paths.with_gradient(X, own)
        return -value, -gradient

    X, found = _climb(snapshot, paths, objective, which, starts, max_steps=max_steps)
    return X, -found


def reach(
    snapshot: Snapshot,
    paths: Functions,
    which: Indices,
    starts: Array,
    levels: Array,
    max_steps: int,
) -> tuple[Array, Mask]:
    """Where descents on paths end, and which come below their path's level; each ends early."""

    def objective(X: Array, own: Indices) -> tuple[Array, Array]:
        value, gradient = paths.with_gradient(X, own)
        short = levels[own] - value
        return np.minimum(short, 0.0), np.where(short[:, None] < 0.0, -gradient, 0.0)

    X, found = _climb(snapshot, paths, objective, which, starts, max_steps=max_steps, goal=0.0)
    return X, found >= 0.0


def _climb(
    snapshot: Snapshot,
    paths: Functions,
    objective: Callable[[Array, Indices], tuple[Array, Array]],
    which: Indices,
    starts: Array,
    *,
    max_steps: int,
    goal: float | None = None,
) -> tuple[Array, Array]:
    """Climb in units of the data, each row on its own path."""
    posterior = snapshot.belief.objective
    unit = posterior.unit
    # A column that does not move carries which path a row is for.
    tags = (which / len(paths))[:, None]

    def tagged(rows: Array) -> tuple[Array, Array]:
        own = np.rint(rows[:, -1] * len(paths)).astype(np.intp)
        value, gradient = objective(rows[:, :-1], own)
        return value / unit, np.hstack([gradient / unit, np.zeros((len(rows), 1))])

    X, found = climb(
        tagged,
        np.hstack([starts, tags]),
        np.append(snapshot.domain.real, False),  # type: ignore[union-attr]
        scales=np.append(posterior.column_lengthscales, 1.0),
        rivals=False,
        goal=goal,
        max_steps=max_steps,
    )
    return X[:, :-1], found * unit
