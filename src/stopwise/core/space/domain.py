# SPDX-License-Identifier: Apache-2.0
"""The domain of a space: the product of its parameters, encoded into the unit cube.

Models and searches work on float64 matrices of shape (m, width), one
configuration per row. `Mixed` is the only place that knows which columns are which parameter.

A parameter that is inactive, because its condition does not hold, is at the middle of its columns:
0.5 for numbers, as far from each choice as from any other for choices (docs/adr/0036).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.core.space._neighbourhoods import Neighbourhoods
from stopwise.core.space._sobol import sobol_block
from stopwise.core.space._space_checks import Params, check_space, checked_rows, wrong_activity
from stopwise.core.space.conditions import Conditions
from stopwise.core.space.constraints import Constraint, refuse_violations
from stopwise.core.space.ordinal import Ordinal
from stopwise.core.space.parameters import Categorical, Integer, Parameter, Real
from stopwise.core.space.points import as_points, read_only, row_bytes
from stopwise.errors import InputError

SAME = 1e-6  # points of a box this close in every column of the unit cube count as one
_MOST_LISTED = 100_000  # attainable rows of one parameter
_SPREAD = 256  # points by which the size of a conditional space is judged
MOST_DRAWN = 2**14  # points among which those that constraints allow are sought


@dataclass(frozen=True, eq=False)
class Mixed:
    """A product of parameters: a box if all are real, mixed otherwise.

    Attainable points are the encodings of configurations: whole numbers sit at whole numbers,
    choices are one-hot. `snap` moves any point to an attainable one, and `decode` reads a
    point as if it had been snapped.

    Attributes:
        names: The parameters' names.
        parameters: The parameters, in the same order.
        constraints: What every configuration must satisfy.

    Example:
        >>> domain = Mixed.of({"x": Real(0, 10), "act": Categorical(["relu", "tanh"])})
        >>> domain.encode({"x": 5, "act": "tanh"})
        array([[0.5, 0. , 1. ]])
        >>> domain.decode(np.array([[0.25, 0.9, 0.3]]))
        [{'x': 2.5, 'act': 'relu'}]
    """

    names: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    constraints: tuple[Constraint, ...] = ()

    @classmethod
    def of(cls, space: Mapping[str, Parameter], constraints: tuple[Constraint, ...] = ()) -> Mixed:
        """Build the product of a dictionary of parameters, after checking it."""
        check_space(space)
        domain = cls(tuple(space), tuple(space.values()), constraints)
        _ = domain.conditions  # refuses those that cannot be
        return domain

    @cached_property
    def conditions(self) -> Conditions:
        """Which parameters depend on which."""
        return Conditions.of(self.names, self.parameters)

    @cached_property
    def is_conditional(self) -> bool:
        """Whether some parameters exist only for some values of others."""
        return self.conditions.any

    @property
    def d(self) -> int:
        """The number of parameters."""
        return len(self.names)

    @cached_property
    def n_active(self) -> int:
        """The number of parameters that points have, on average over some spread evenly."""
        if not self.is_conditional:
            return self.d
        active = self.active(self._sobol(_SPREAD, np.random.default_rng(0)))
        return math.ceil(float(active.sum()) / _SPREAD)

    @cached_property
    def width(self) -> int:
        """The number of encoded columns."""
        return sum(parameter.width for parameter in self.parameters)

    @cached_property
    def columns(self) -> tuple[slice, ...]:
        """The columns of each parameter."""
        stops = list(accumulate(parameter.width for parameter in self.parameters))
        return tuple(slice(*pair) for pair in zip([0, *stops], stops, strict=False))

    @cached_property
    def groups(self) -> Indices:
        """The index of the parameter that each column belongs to, of shape (width,)."""
        widths = [parameter.width for parameter in self.parameters]
        return read_only(np.repeat(np.arange(self.d), widths))

    @cached_property
    def real(self) -> Mask:
        """Which columns vary continuously, of shape (width,)."""
        kinds = np.array([isinstance(parameter, Real) for parameter in self.parameters])
        return read_only(kinds[self.groups])

    @cached_property
    def is_box(self) -> bool:
        """Whether every parameter is real."""
        return bool(self.real.all())

    @cached_property
    def n_discrete(self) -> int:
        """The number of combinations of the parameters that are not real; 1 on a box."""
        return math.prod(parameter.n_values for _, parameter in self._discrete)

    def encode(self, params: Params | Sequence[Params]) -> Array:
        """Turn configurations into points.

        Args:
            params: One configuration, or several; each has a value for every parameter.

        Returns:
            The points, of shape (m, width).
        """
        rows = checked_rows(params, self.names, conditional=self.is_conditional)
        X = self._encode_active(rows) if self.is_conditional else self._encode_all(rows)
        refuse_violations(self.constraints, rows, self.names)
        return X

    def _encode_all(self, rows: Sequence[Params]) -> Array:
        X = np.empty((len(rows), self.width))
        for name, parameter, columns in zip(
            self.names, self.parameters, self.columns, strict=True
        ):
            X[:, columns] = parameter.encode([row[name] for row in rows], name)
        return X

    def _encode_active(self, rows: Sequence[Params]) -> Array:
        """Encode the active parameters of each row; others are at the middle."""
        X = np.tile(self._middle, (len(rows), 1))
        numbers = np.zeros((len(rows), self.d))
        active = np.ones((len(rows), self.d), dtype=bool)
        for index in self.conditions.order:
            name, parameter, columns = (
                self.names[index],
                self.parameters[index],
                self.columns[index],
            )
            active[:, index] = self.conditions.holds(index, numbers, active)
            for row, is_active in zip(rows, active[:, index].tolist(), strict=True):
                if is_active != (name in row):
                    raise wrong_activity(row, name, parameter, is_active=is_active)
            there = np.flatnonzero(active[:, index])
            X[there, columns] = parameter.encode([rows[i][name] for i in there.tolist()], name)
            numbers[:, index] = parameter.numbers(X[:, columns])
        return X

    def decode(self, X: ArrayLike) -> list[dict[str, Any]]:
        """Turn points into configurations of plain Python values.

        Args:
            X: Points, of shape (m, width); attainable or not.

        Returns:
            One dictionary per point.
        """
        values = [parameter.decode(U) for parameter, U in self._blocks(X)]
        rows = [dict(zip(self.names, row, strict=True)) for row in zip(*values, strict=True)]
        if not self.is_conditional:
            return rows
        active = self.active(X).tolist()
        return [
            {name: row[name] for name, is_active in zip(self.names, now, strict=True) if is_active}
            for row, now in zip(rows, active, strict=True)
        ]

    def active(self, X: ArrayLike) -> Mask:
        """Tell which parameters of each point are active.

        Args:
            X: Points, of shape (m, width); attainable or not.

        Returns:
            A mask, of shape (m, d).
        """
        X = as_points(X, self.width)
        numbers = np.zeros((len(X), self.d))
        for index in self.conditions.deciding:  # nothing depends on the others
            numbers[:, index] = self.parameters[index].numbers(X[:, self.columns[index]])
        return self.conditions.active(numbers)

    def moving(self, X: ArrayLike) -> Mask:
        """Tell which columns of each point vary continuously: those of active real parameters."""
        return self.active(X)[:, self.groups] & self.real

    def allowed(self, X: ArrayLike) -> Mask:
        """Tell which points satisfy all constraints, of shape (m,)."""
        X = as_points(X, self.width)
        if not self.constraints:
            return np.ones(len(X), dtype=bool)
        rows = self.decode(X)
        holds = [all(c.holds(row, self.names) for c in self.constraints) for row in rows]
        return np.array(holds, dtype=bool)

    def only_allowed(self, X: Array) -> Array:
        """Return the points that satisfy all constraints."""
        return X[self.allowed(X)] if self.constraints else X

    def snap(self, X: ArrayLike) -> Array:
        """Move each point to the nearest attainable one, parameter by parameter.

        Args:
            X: Points, of shape (m, width).

        Returns:
            A new matrix of the same shape.
        """
        X = as_points(X, self.width)
        snapped = np.clip(X, 0.0, 1.0)  # all that a real parameter needs
        for index, parameter in self._discrete:
            columns = self.columns[index]
            snapped[:, columns] = parameter.snap(X[:, columns])
        return self._without_inactive(snapped)

    def key(self, X: ArrayLike) -> list[bytes]:
        """Return one hashable per point; it is the same for points that decode to equal params.

        Args:
            X: Points, of shape (m, width).

        Returns:
            One key per point.
        """
        # Decoded values, not columns: points that round to the same integer are equal.
        numbers = self._numbers(X)
        if self.is_conditional:
            numbers = np.where(self.conditions.active(numbers), numbers, 0.0)
        return row_bytes(numbers)

    def discrete_choices(self) -> dict[int, Array]:
        """List the attainable encodings of every parameter that is not real.

        Returns:
            Parameter index -> encodings, of shape (number of values, number of columns).

        Raises:
            InputError: If a parameter has more than 100 000 values; use `neighbours`.
        """
        for index, parameter in self._discrete:
            if parameter.n_values > _MOST_LISTED:
                raise InputError(
                    f"parameter {self.names[index]!r} has {parameter.n_values} values, too many "
                    f"to list (at most {_MOST_LISTED}); move between them with neighbours"
                )
        return {index: parameter.attainable() for index, parameter in self._discrete}

    def neighbours(self, x: ArrayLike) -> Array:
        """List attainable points that differ from a point in one discrete parameter.

        A choice changes to every other one, an integer to every other of at most 64 values;
        beyond, by steps of 1, 2, 4, ... up and down, and to the bounds. Parameters that become
        active by the change are at the middle of their range, or at their first choice. Points
        that violate a constraint are left out.

        Args:
            x: One point, of shape (width,); it is snapped first.

        Returns:
            The neighbours, of shape (k, width); none on a box.
        """
        return self.neighbours_of_each(np.asarray(x, dtype=np.float64)[None, :])[0]

    def neighbours_of_each(self, X: Array) -> list[Array]:
        """The neighbours of each row of X."""
        attainable = self.snap(X)
        around = map(self._neighbourhoods.around, attainable, self.active(attainable))
        return [self.only_allowed(self.snap(A) if self.is_conditional else A) for A in around]

    @cached_property
    def _neighbourhoods(self) -> Neighbourhoods:
        return Neighbourhoods(self._discrete, self.columns)

    def sobol(self, n: int, rng: np.random.Generator) -> Array:
        """Spread attainable points evenly: the start of a scrambled Sobol sequence.

        Each parameter takes one dimension of the sequence, cut into bins if it is discrete, so
        points may repeat where few are attainable. With constraints they are the points of a
        longer sequence that satisfy them.

        Args:
            n: The number of points.
            rng: Where the scrambling comes from.

        Returns:
            The points, of shape (n, width); fewer where constraints allow very little.
        """
        if not self.constraints:
            return self._sobol(n, rng)
        size, seed = max(n, 1), int(rng.integers(2**63))
        while True:  # a longer part of the same sequence each time, up to a limit
            X = self.only_allowed(self._sobol(size, np.random.default_rng(seed)))
            if len(X) >= n or size >= MOST_DRAWN:
                return X[:n]
            size = min(4 * size, MOST_DRAWN)

    def _sobol(self, n: int, rng: np.random.Generator) -> Array:
        uniform = sobol_block(self.d, max(n - 1, 0).bit_length(), rng)[:n]
        if self.is_box:
            return uniform
        points = [p.spread(uniform[:, j]) for j, p in enumerate(self.parameters)]
        return self._without_inactive(np.hstack(points))

    def _without_inactive(self, X: Array) -> Array:
        """The points with inactive parameters at the middle of their columns."""
        if not self.is_conditional:
            return X
        return np.where(self.active(X)[:, self.groups], X, self._middle)

    @cached_property
    def _middle(self) -> Array:
        """The encoding of parameters that are inactive, of shape (width,)."""
        widths = [(p.width, isinstance(p, Categorical)) for p in self.parameters]
        return read_only(np.concatenate([np.full(w, 1.0 / w if c else 0.5) for w, c in widths]))

    def _numbers(self, X: ArrayLike) -> Array:
        """Decoded values as numbers, of shape (m, d)."""
        return np.column_stack([p.numbers(U) for p, U in self._blocks(X)])

    @cached_property
    def _discrete(self) -> list[tuple[int, Integer | Categorical | Ordinal]]:
        return [(i, p) for i, p in enumerate(self.parameters) if not isinstance(p, Real)]

    def _blocks(self, X: ArrayLike) -> list[tuple[Parameter, Array]]:
        """Pair each parameter with its columns."""
        X = as_points(X, self.width)
        return [(p, X[:, cut]) for p, cut in zip(self.parameters, self.columns, strict=True)]
