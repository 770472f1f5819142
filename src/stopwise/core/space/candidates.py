# SPDX-License-Identifier: Apache-2.0
"""Candidates: a finite table of configurations as the space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stopwise.core.numerics.arrays import Array, Indices
from stopwise.core.space._checks import (
    as_numbers,
    identity,
    is_hashable,
    is_missing,
    is_number,
    listing,
    of_type,
    suggestion,
)
from stopwise.core.space.domain import Mixed
from stopwise.core.space.finite import MOST_CELLS, Finite
from stopwise.core.space.parameters import Categorical, Parameter, Real
from stopwise.core.space.points import read_only, row_bytes
from stopwise.errors import InputError, InputTypeError

_KINDS = "a list of dicts, a DataFrame or a structured array"


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Candidates:
    """A finite table of configurations as the space.

    Params come back exactly as given: from a list of dicts the same objects, from a DataFrame
    or a structured array plain Python values. Equal rows are one candidate, the first of them.

    Args:
        rows: A list of dicts, a DataFrame, or a numpy structured array.
        space: How columns are encoded, by name; its bounds and choices may cover more than the
            column holds. A column that is not named is linear between its smallest and largest
            number, or, if it holds anything but numbers, categorical.
        params: The columns that are parameters; all of them if left out.
        drop: Columns that are none, such as an id or a date.

    Attributes:
        domain: The candidates as a domain.
        index: The candidate of each row as given, of shape (number of rows,); read-only.
        beside: The columns that are no parameters, by name, each with a value per row.
        declared: How columns are encoded, as given.
        params_named: Whether it was said which columns are parameters.

    Example:
        >>> table = [{"lr": 0.01, "act": "relu"}, {"lr": 0.1, "act": "tanh"}]
        >>> candidates = Candidates(table + table[:1], space={"lr": Real(1e-3, 1, log=True)})
        >>> len(candidates.domain), candidates.index
        (2, array([0, 1, 0]))
        >>> candidates.domain.params(1)
        {'lr': 0.1, 'act': 'tanh'}
    """

    domain: Finite
    index: Indices
    beside: Mapping[str, Sequence[Any]]
    declared: Mapping[str, Parameter]
    params_named: bool

    def __init__(
        self,
        rows: object,
        space: Mapping[str, Parameter] | None = None,
        *,
        params: Iterable[str] | None = None,
        drop: Iterable[str] = (),
    ) -> None:
        table = _read(rows)
        every = tuple(table[0])
        names = _parameters_among(every, params, drop)
        beside = {name: [row[name] for row in table] for name in every if name not in names}
        if beside:
            table = [{name: row[name] for name in names} for row in table]
        declared = {} if space is None else _checked_declarations(space, names)
        columns = {name: [row[name] for row in table] for name in names}
        codec = Mixed.of(
            {
                name: declared[name] if name in declared else _inferred(name, columns[name])
                for name in names
            }
        )
        _check_size(codec, len(table))
        X = codec.encode(table)
        _check_distinct(codec, columns, X)
        seen: dict[bytes, int] = {}
        index = np.array([seen.setdefault(row, len(seen)) for row in row_bytes(X)], dtype=np.intp)
        first = np.unique(index, return_index=True)[1]
        domain = Finite(codec, X[first], tuple(table[i] for i in first))
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "index", read_only(index))
        object.__setattr__(self, "beside", beside)
        object.__setattr__(self, "declared", declared)
        object.__setattr__(self, "params_named", params is not None)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters."""
        return self.domain.names

    def without(self, name: str) -> Candidates:
        """The table with one parameter less; its column is then one of ``beside``."""
        rows = [{**self.domain.params(i)} for i in self.index.tolist()]
        for column, values in self.beside.items():
            for row, value in zip(rows, values, strict=True):
                row[column] = value
        declared = {n: p for n, p in self.declared.items() if n != name}
        return Candidates(rows, declared or None, drop=[name, *self.beside])

    def __repr__(self) -> str:
        rows = f"{len(self.domain)} candidates of {listing(self.domain.names)}"
        return f"<Candidates: {len(self.index)} rows, {rows}>"


def _read(rows: object) -> list[dict[str, Any]]:
    """Read a table of any supported kind into new dictionaries."""
    if isinstance(rows, np.ndarray) and rows.dtype.names and rows.ndim == 1:
        names = list(rows.dtype.names)
        table = _from_columns(names, [rows[name].tolist() for name in names])
    elif hasattr(rows, "columns") and hasattr(rows, "__getitem__"):
        names = _checked_names(rows.columns)
        table = _from_columns(names, [rows[name].to_list() for name in names])
    elif isinstance(rows, Sequence) and not isinstance(rows, str):
        table = _from_dicts(rows)
    else:
        raise InputTypeError(f"Candidates: rows are {of_type(rows)}; give {_KINDS}")
    if not table:
        raise InputError("Candidates: the table has no rows; give at least one configuration")
    return table


def _from_columns(names: Sequence[str], columns: list[list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _from_dicts(rows: Sequence[object]) -> list[dict[str, Any]]:
    table: list[dict[str, Any]] = []
    for position, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputTypeError(
                f"Candidates: row {position} is {of_type(row)}; rows must be {_KINDS}"
            )
        if table and row.keys() != table[0].keys():
            odd = sorted(map(str, row.keys() ^ table[0].keys()))
            raise InputError(
                f"Candidates: row {position} and row 0 do not have the same parameters: only one "
                f"of them has {listing(odd)}; give every row the same names"
            )
        table.append(dict(row))
    if table:
        _checked_names(table[0])
    return table


def _checked_names(columns: Iterable[object]) -> list[str]:
    names: list[str] = []
    for name in columns:
        if not isinstance(name, str):
            raise InputTypeError(
                f"Candidates: the column name {name!r} is {of_type(name)}; names must be "
                "strings: rename the column"
            )
        if name in names:
            raise InputError(
                f"Candidates: two columns are called {name!r}; rename or drop one of them"
            )
        names.append(name)
    if not names:
        raise InputError("Candidates: the table has no columns; give at least one parameter")
    return names


def _parameters_among(
    names: tuple[str, ...], params: Iterable[str] | None, drop: Iterable[str]
) -> tuple[str, ...]:
    """The columns that are parameters, in the order of the table."""
    asked = {"params": params, "drop": drop}
    chosen: dict[str, tuple[str, ...]] = {}
    for option, given in asked.items():
        if isinstance(given, str):
            raise InputTypeError(f"Candidates: {option}={given!r}: give a list of column names")
        chosen[option] = names if given is None else tuple(given)
        for name in chosen[option]:
            if name not in names:
                raise InputError(
                    f"Candidates: {option} names {name!r}, which is no column of the table; its "
                    f"columns are {listing(names)}{suggestion(name, names)}"
                )
    kept = tuple(n for n in names if n in chosen["params"] and n not in chosen["drop"])
    if not kept:
        raise InputError(
            f"Candidates: no parameter is left of the columns {listing(names)}; leave at least one"
        )
    return kept


def _checked_declarations(space: object, names: tuple[str, ...]) -> dict[str, Parameter]:
    if not isinstance(space, Mapping):
        raise InputTypeError(
            f"Candidates: space is {of_type(space)}; it must be a dict of column name to "
            "Real, Integer, Categorical or Ordinal"
        )
    for name in space:
        if name not in names:
            raise InputError(
                f"Candidates: space names {name!r}, which is no column of the table; its columns "
                f"are {listing(names)}{suggestion(name, names)}"
            )
        if getattr(space[name], "when", None) is not None:
            raise InputError(
                f"Candidates: {name!r} has a condition, but every row of a table has every "
                "column; leave when= out"
            )
    return dict(space)


def _inferred(name: str, column: list[Any]) -> Parameter:
    """Choose an encoding for a column: linear for numbers, otherwise categorical."""
    for position, value in enumerate(column):
        if not is_hashable(value):
            raise InputTypeError(
                f"column {name!r} holds {value!r} in row {position}, {of_type(value)}; "
                "values must be hashable: use a number, a string or a tuple"
            )
        if is_missing(value):
            raise InputError(
                f"column {name!r} has a gap, {value!r}, in row {position}; drop the row, or fill "
                "the gap with a value the objective understands"
            )
    if not all(map(is_number, set(map(type, column)))):
        return Categorical(tuple({identity(value): value for value in column}.values()))
    numbers = as_numbers(column, name)
    low, high = float(numbers.min()), float(numbers.max())
    if low == high:  # no range to scale by; a single choice is a constant column
        return Categorical((column[0],))
    if not np.isfinite(numbers).all():
        raise InputError(
            f"column {name!r} holds an infinite number, which no scale reaches; drop the row, or "
            "declare the column Categorical in space"
        )
    return Real(low, high)


def _check_size(codec: Mixed, n: int) -> None:
    if n * codec.width > MOST_CELLS:
        widest = int(np.bincount(codec.groups).argmax())
        raise InputError(
            f"Candidates: {n} rows would need {codec.width} encoded columns, "
            f"{codec.parameters[widest].width} of them for the choices of "
            f"{codec.names[widest]!r}; drop that column if it only labels the rows"
        )


def _check_distinct(codec: Mixed, columns: dict[str, list[Any]], X: Array) -> None:
    """Refuse numbers that differ in the table but not in the unit cube, where rows would merge."""
    for name, parameter, cut in zip(codec.names, codec.parameters, codec.columns, strict=True):
        if isinstance(parameter, Real) and len(set(columns[name])) > len(np.unique(X[:, cut])):
            raise InputError(
                f"column {name!r} holds different numbers that are too close to tell apart "
                f"between {parameter.low} and {parameter.high}; round them to be equal, use "
                "log=True, or declare the column Categorical in space"
            )
