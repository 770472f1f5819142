# SPDX-License-Identifier: Apache-2.0
"""Finite domains: an explicit list of points, from a small grid or the rows of a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.numerics.arrays import Array, Indices
from stopwise.core.space._checks import listing
from stopwise.core.space._space_checks import Params
from stopwise.core.space.constraints import Constraint
from stopwise.core.space.domain import Mixed
from stopwise.core.space.points import as_points, read_only, row_bytes
from stopwise.errors import InputError

# Grids up to this size are listed, and searched without any optimiser.
MOST_COMBINATIONS = 100_000
# The matrix of points stays below 400 MB.
MOST_CELLS = 50_000_000
# The most that rounding moves a value in the unit cube; it then counts as the candidate's value.
_NOISE = 1e-12


def codec_of(domain: Mixed | Finite) -> Mixed:
    """The product of parameters in whose encoding the points of a domain are written."""
    return domain.codec if isinstance(domain, Finite) else domain


def accepting_off_table(domain: Mixed | Finite) -> Finite:
    """The table with configurations accepted that are in no row; refused where there is none."""
    if not isinstance(domain, Finite) or domain.rows is None:
        message = (
            "off_table=True is for a table of candidates, sw.Candidates(rows); of a space of"
            " parameters every configuration can be told anyway. Leave it out."
        )
        raise InputError(message)
    return replace(domain, off_table=True)


def only_allowed(table: Finite, constraints: tuple[Constraint, ...]) -> Finite:
    """The candidates of a table that satisfy constraints."""
    codec = replace(table.codec, constraints=constraints)
    rows = [table.params(i) for i in range(len(table))]
    kept = [i for i, row in enumerate(rows) if all(c.holds(row, codec.names) for c in constraints)]
    given = None if table.rows is None else tuple(table.rows[i] for i in kept)
    return Finite(codec, table.points[kept], given, table.off_table)


def is_small(codec: Mixed) -> bool:
    """Tell whether a product is finite, and small enough to be listed."""
    n = codec.n_discrete
    return not codec.real.any() and n <= MOST_COMBINATIONS and n * codec.width <= MOST_CELLS


def grid(codec: Mixed) -> Finite:
    """List all combinations, the last parameter varying fastest.

    Args:
        codec: A product without real parameters.

    Returns:
        The finite domain of all its points.
    """
    positions = np.arange(codec.n_discrete)
    points = np.empty((codec.n_discrete, codec.width))
    sizes = [len(rows) for rows in codec.discrete_choices().values()]
    for index, rows in codec.discrete_choices().items():
        digit = positions // math.prod(sizes[index + 1 :]) % sizes[index]
        points[:, codec.columns[index]] = rows[digit]
    if codec.is_conditional:  # combinations that differ in inactive parameters only are one
        points = codec.snap(points)
        points = points[np.sort(np.unique(row_bytes(points), return_index=True)[1])]
    return Finite(codec, codec.only_allowed(points))


@dataclass(frozen=True, eq=False)
class Finite:
    """An explicit list of points.

    Attributes:
        codec: The product of parameters in whose encoding the points are written.
        points: The points, of shape (N, width), each once; read-only.
        rows: The configuration of each point as the user gave it, or None for a grid, whose
            configurations are decoded when they are asked for.
        off_table: Whether a configuration that is in no row has a point too, in the encoding of
            the table: data from elsewhere, which are observed and never proposed.

    Example:
        >>> from stopwise.core.space import Integer
        >>> domain = grid(Mixed.of({"a": Integer(0, 1), "b": Integer(0, 2)}))
        >>> len(domain), domain.params(4)
        (6, {'a': 1, 'b': 1})
    """

    codec: Mixed
    points: Array = field(repr=False)
    rows: tuple[Params, ...] | None = field(default=None, repr=False)
    off_table: bool = False

    def __post_init__(self) -> None:
        read_only(self.points)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters' names."""
        return self.codec.names

    @property
    def d(self) -> int:
        """The number of parameters."""
        return self.codec.d

    @property
    def n_active(self) -> int:
        """The number of parameters that points have, on average."""
        return self.codec.n_active

    @property
    def width(self) -> int:
        """The number of encoded columns."""
        return self.codec.width

    @property
    def groups(self) -> Indices:
        """The index of the parameter that each column belongs to, of shape (width,)."""
        return self.codec.groups

    def params(self, index: int) -> dict[str, Any]:
        """Return the configuration of one point, as it was given."""
        if self.rows is None:
            return self.codec.decode(self.points[[index]])[0]
        return dict(self.rows[index])

    def encode(self, params: Params | Sequence[Params]) -> Array:
        """Turn configurations into points.

        Args:
            params: One configuration, or several; each must be one of the candidates, unless
                others are accepted.

        Returns:
            The points, of shape (m, width).
        """
        X = self._encoded(params)
        for i in np.flatnonzero(self.index_of(X) < 0).tolist():
            nearest = self._nearest(X[i])
            if np.abs(self.points[nearest] - X[i]).max() > _NOISE:
                if self.off_table:
                    continue
                row = params if isinstance(params, Mapping) else params[i]
                raise InputError(
                    f"{dict(row)} is not one of the {len(self)} candidates; the nearest one is "
                    f"{self.params(nearest)}{'' if self.rows is None else _OFF_THE_TABLE}"
                )
            X[i] = self.points[nearest]
        return X

    def _encoded(self, params: Params | Sequence[Params]) -> Array:
        """Points; the error about a value that no row has lists the values of the table."""
        try:
            return self.codec.encode(params)
        except InputError as error:
            for row in [params] if isinstance(params, Mapping) else params:
                self._check_values(row, error)
            raise

    def _check_values(self, params: Params, error: InputError) -> None:
        if self.rows is None or set(params) != set(self.names):
            return  # the codec's error is about the bounds of a grid, or about names
        for name in self.names:
            column = list(dict.fromkeys(row[name] for row in self.rows))
            if params[name] not in column and self.off_table:
                raise InputError(
                    f"{error}; a row off the table may have what its columns can hold: "
                    f"sw.Candidates(rows, space={{{name!r}: ...}}) says that this one holds more"
                ) from error
            if params[name] not in column:
                raise InputError(
                    f"{dict(params)} is not one of the {len(self)} candidates: no row of the "
                    f"table has {name!r} = {params[name]!r}; allowed: {listing(column)}; give one "
                    f"of its rows{_OFF_THE_TABLE}"
                ) from error

    def decode(self, X: ArrayLike) -> list[dict[str, Any]]:
        """Turn points into configurations, each as it was given.

        Args:
            X: Points, of shape (m, width); one that is not listed stands for its nearest.

        Returns:
            One dictionary per point.
        """
        if self.rows is None:
            return self.codec.decode(X)
        return [dict(self.rows[i]) for i in self.index_of(self.snap(X)).tolist()]

    def snap(self, X: ArrayLike) -> Array:
        """Move each point to the nearest listed one.

        Args:
            X: Points, of shape (m, width).

        Returns:
            A new matrix of the same shape.
        """
        X = self.codec.snap(X)
        for i in np.flatnonzero(self.index_of(X) < 0):
            X[i] = self.points[self._nearest(X[i])]
        return X

    def key(self, X: ArrayLike) -> list[bytes]:
        """Return one hashable per point; it is the same for points that decode to equal params.

        Args:
            X: Points, of shape (m, width).

        Returns:
            One key per point.
        """
        return row_bytes(self.codec.snap(X) if self.off_table else self.snap(X))

    def index_of(self, X: ArrayLike) -> Indices:
        """Find points in the list, by exact match.

        Args:
            X: Points, of shape (m, width).

        Returns:
            Their positions in `points`, of shape (m,); -1 for a point that is not listed.
        """
        if X is self.points:
            return np.arange(len(self), dtype=np.intp)
        rows = row_bytes(as_points(X, self.width))
        return np.array([self._positions.get(row, -1) for row in rows], dtype=np.intp)

    def design(self, n: int, rng: np.random.Generator) -> Array:
        """Draw distinct points at random.

        Args:
            n: The number of points; all of them, shuffled, if there are no more than that.
            rng: Where the randomness comes from.

        Returns:
            The points, of shape (min(n, N), width).
        """
        chosen = rng.choice(len(self), size=min(n, len(self)), replace=False)
        return self.points[chosen]

    @cached_property
    def _positions(self) -> dict[bytes, int]:
        return {row: i for i, row in enumerate(row_bytes(self.points))}

    def _nearest(self, x: Array) -> int:
        return int(np.square(self.points - x).sum(axis=1).argmin())


_OFF_THE_TABLE = (
    ". Data from elsewhere are accepted with off_table=True, given to the study or to"
    " Study.resume (stopwise tell --off-table): they are then observed and never proposed. Or add"
    " them to the rows of Candidates (they may then be proposed too), or give the parameters as a"
    " space, a dict of Real, Integer and others"
)
