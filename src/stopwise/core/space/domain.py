# SPDX-License-Identifier: Apache-2.0
"""The domain of a space: the product of its parameters, encoded into the unit cube.

Models and searches work on float64 matrices of shape (m, width), one
configuration per row. `Mixed` is the only place that knows which columns are which parameter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.core.space._checks import listing, of_type, suggestion
from stopwise.core.space._sobol import sobol_block
from stopwise.core.space.parameters import Categorical, Integer, Parameter, Real
from stopwise.errors import InputError, InputTypeError

Params = Mapping[str, Any]
AnyArray = TypeVar("AnyArray", bound=NDArray[Any])

SAME = 1e-6  # points of a box this close in every column of the unit cube count as one
_MOST_LISTED = 100_000  # attainable rows of one parameter


@dataclass(frozen=True, eq=False)
class Mixed:
    """A product of parameters: a box if all are real, mixed otherwise.

    Attainable points are the encodings of configurations: whole numbers sit at whole numbers,
    choices are one-hot. `snap` moves any point to an attainable one, and `decode` reads a
    point as if it had been snapped.

    Attributes:
        names: The parameters' names.
        parameters: The parameters, in the same order.

    Example:
        >>> domain = Mixed.of({"x": Real(0, 10), "act": Categorical(["relu", "tanh"])})
        >>> domain.encode({"x": 5, "act": "tanh"})
        array([[0.5, 0. , 1. ]])
        >>> domain.decode(np.array([[0.25, 0.9, 0.3]]))
        [{'x': 2.5, 'act': 'relu'}]
    """

    names: tuple[str, ...]
    parameters: tuple[Parameter, ...]

    @classmethod
    def of(cls, space: Mapping[str, Parameter]) -> Mixed:
        """Build the product of a dictionary of parameters, after checking it."""
        _check_space(space)
        return cls(tuple(space), tuple(space.values()))

    @property
    def d(self) -> int:
        """The number of parameters."""
        return len(self.names)

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
        rows = self._checked_rows(params)
        X = np.empty((len(rows), self.width))
        for name, parameter, columns in zip(
            self.names, self.parameters, self.columns, strict=True
        ):
            X[:, columns] = parameter.encode([row[name] for row in rows], name)
        return X

    def decode(self, X: ArrayLike) -> list[dict[str, Any]]:
        """Turn points into configurations of plain Python values.

        Args:
            X: Points, of shape (m, width); attainable or not.

        Returns:
            One dictionary per point.
        """
        values = [parameter.decode(U) for parameter, U in self._blocks(X)]
        return [dict(zip(self.names, row, strict=True)) for row in zip(*values, strict=True)]

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
        return snapped

    def key(self, X: ArrayLike) -> list[bytes]:
        """Return one hashable per point; it is the same for points that decode to equal params.

        Args:
            X: Points, of shape (m, width).

        Returns:
            One key per point.
        """
        # Decoded values, not columns: points that round to the same integer are equal.
        return row_bytes(np.column_stack([p.numbers(U) for p, U in self._blocks(X)]))

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
        beyond, by steps of 1, 2, 4, ... up and down, and to the bounds.

        Args:
            x: One point, of shape (width,); it is snapped first.

        Returns:
            The neighbours, of shape (k, width); none on a box.
        """
        here = self.snap(np.asarray(x, dtype=np.float64)[None, :])
        moved = [here[:0]]
        for index, parameter in self._discrete:
            columns = self.columns[index]
            alternatives = parameter.alternatives(here[0, columns])
            block = np.repeat(here, len(alternatives), axis=0)
            block[:, columns] = alternatives
            moved.append(block)
        return np.concatenate(moved)

    def sobol(self, n: int, rng: np.random.Generator) -> Array:
        """Spread attainable points evenly: the start of a scrambled Sobol sequence.

        Each parameter takes one dimension of the sequence, cut into bins if it is discrete, so
        points may repeat where few are attainable.

        Args:
            n: The number of points.
            rng: Where the scrambling comes from.

        Returns:
            The points, of shape (n, width).
        """
        uniform = sobol_block(self.d, max(n - 1, 0).bit_length(), rng)[:n]
        if self.is_box:
            return uniform
        return np.hstack([p.spread(uniform[:, j]) for j, p in enumerate(self.parameters)])

    @cached_property
    def _discrete(self) -> list[tuple[int, Integer | Categorical]]:
        return [(i, p) for i, p in enumerate(self.parameters) if not isinstance(p, Real)]

    def _blocks(self, X: ArrayLike) -> list[tuple[Parameter, Array]]:
        """Pair each parameter with its columns."""
        X = as_points(X, self.width)
        return [(p, X[:, cut]) for p, cut in zip(self.parameters, self.columns, strict=True)]

    def _checked_rows(self, params: object) -> Sequence[Params]:
        rows = [params] if isinstance(params, Mapping) else params
        if not isinstance(rows, Sequence) or isinstance(rows, str):
            raise InputTypeError(
                f"params are {of_type(rows)}; give a dict such as "
                f"{{{self.names[0]!r}: ...}}, or a list of such dicts"
            )
        wanted = set(self.names)
        for position, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise InputTypeError(
                    f"params {position} are {row!r}, {of_type(row)}; give a dict with "
                    f"the parameters {listing(self.names)}"
                )
            if row.keys() != wanted:
                raise _wrong_names(row, self.names)
        return rows


def _wrong_names(row: Params, names: tuple[str, ...]) -> InputError:
    for name in row:
        if name not in names:
            return InputError(
                f"params have {name!r}, which the space does not; it has "
                f"{listing(names)}{suggestion(name, names)}"
            )
    missing = [name for name in names if name not in row]
    return InputError(
        f"params lack {listing(missing)}; give every parameter a value: {listing(names)}"
    )


def _check_space(space: object) -> None:
    if not isinstance(space, Mapping):
        raise InputTypeError(
            f"the space is {of_type(space)}; it must be a dict of name to Real, Integer "
            "or Categorical, or Candidates for a table of configurations"
        )
    if not space:
        raise InputError(
            "the space is an empty dict; name at least one parameter, such as {'x': Real(0, 1)}"
        )
    for name, parameter in space.items():
        if not isinstance(name, str):
            raise InputTypeError(
                f"the parameter name {name!r} is {of_type(name)}; names must be strings"
            )
        if not isinstance(parameter, Parameter):
            raise InputTypeError(
                f"parameter {name!r} is {parameter!r}; it must be Real(low, high), "
                "Integer(low, high) or Categorical([...])"
            )


def as_points(X: ArrayLike, width: int) -> Array:
    """Return X as a matrix of floats, after checking its shape."""
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != width:
        raise InputError(
            f"points have the shape {X.shape}; it must be (m, {width}), one encoded point per row"
        )
    return X


def row_bytes(X: Array) -> list[bytes]:
    """Return the bytes of each row; equal rows have equal bytes."""
    X = np.ascontiguousarray(X + 0.0)  # -0.0 + 0.0 is 0.0
    whole_rows = X.view(np.dtype((np.void, X.itemsize * X.shape[1])))
    return cast("list[bytes]", whole_rows.ravel().tolist())


def read_only(array: AnyArray) -> AnyArray:
    """Make an array read-only, and return it."""
    array.flags.writeable = False
    return array
