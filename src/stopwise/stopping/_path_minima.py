# SPDX-License-Identifier: Apache-2.0
"""Minima of sample paths: local searches on many at once, each on one of several paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from stopwise.core.beliefs.drawn_success import SuccessPaths
from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.core.search.batched_bfgs import batched_bfgs
from stopwise.core.search.restriction import excluded
from stopwise.core.snapshot import Snapshot


class Functions(Protocol):
    """Several functions of encoded points."""

    def __len__(self) -> int:
        """How many."""
        ...

    def with_gradient(self, X: Array, which: Indices) -> tuple[Array, Array]:
        """Row i of X on function ``which[i]``: values and gradients."""
        ...


def success_paths(snapshot: Snapshot, rng: np.random.Generator, n: int) -> SuccessPaths | None:
    """n draws of where evaluations succeed; None where they are certain to."""
    success = snapshot.belief.success
    return None if success is None else SuccessPaths.of(success, rng, n)


def descend(
    snapshot: Snapshot, paths: Functions, which: Indices, starts: Array, max_steps: int = 200
) -> tuple[Array, Array]:
    """Local minima of paths, found downhill from one start each, and their values.

    Columns that are not real stay as they are.

    Args:
        snapshot: Where the paths were drawn.
        paths: Several paths.
        which: The path on which each start descends, (starts,).
        starts: Encoded points, (starts, width).
        max_steps: Of a descent.
    """

    def height(X: Array, on: Indices) -> tuple[Array, Array]:
        value, gradient = paths.with_gradient(X, on)
        return -value, -gradient

    X, heights = _climb(snapshot, paths, height, which, starts, max_steps=max_steps)
    return X, -heights


def descend_to_level(
    snapshot: Snapshot,
    paths: Functions,
    which: Indices,
    starts: Array,
    levels: Array,
    max_steps: int,
) -> tuple[Array, Mask]:
    """As ``descend``, where each descent may end at the level of its path.

    Returns:
        Where the descents end, and which of them come down to their path's level.
    """

    def height(X: Array, on: Indices) -> tuple[Array, Array]:
        value, gradient = paths.with_gradient(X, on)
        below = levels[on] - value
        return np.minimum(below, 0.0), np.where(below[:, None] < 0.0, -gradient, 0.0)

    X, heights = _climb(snapshot, paths, height, which, starts, max_steps=max_steps, goal=0.0)
    return X, heights >= 0.0


def _climb(
    snapshot: Snapshot,
    paths: Functions,
    height: Callable[[Array, Indices], tuple[Array, Array]],
    which: Indices,
    starts: Array,
    *,
    max_steps: int,
    goal: float | None = None,
) -> tuple[Array, Array]:
    """Climb by batched BFGS, each row on one path, with heights in units of the data."""
    posterior = snapshot.belief.objective
    unit = posterior.unit
    # A column that does not move carries which path a row is for.
    tags = (which / len(paths))[:, None]

    def tagged(rows: Array) -> tuple[Array, Array]:
        on = np.rint(rows[:, -1] * len(paths)).astype(np.intp)
        value, gradient = height(rows[:, :-1], on)
        value, gradient = excluded(snapshot.domain, rows[:, :-1], value, gradient)  # type: ignore[arg-type]
        return value / unit, np.hstack([gradient / unit, np.zeros((len(rows), 1))])

    X, heights = batched_bfgs(
        tagged,
        np.hstack([starts, tags]),
        np.append(snapshot.domain.real, False),  # type: ignore[union-attr]
        scales=np.append(posterior.column_lengthscales, 1.0),
        rivals=False,
        goal=goal,
        max_steps=max_steps,
    )
    return X[:, :-1], heights * unit
