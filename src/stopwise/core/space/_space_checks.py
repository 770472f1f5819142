# SPDX-License-Identifier: Apache-2.0
"""Checks of spaces and of the names in configurations, with their error messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stopwise.core.space._checks import listing, of_type, suggestion
from stopwise.core.space.conditions import said
from stopwise.core.space.parameters import Parameter
from stopwise.errors import InputError, InputTypeError

Params = Mapping[str, Any]


def checked_rows(params: object, names: tuple[str, ...], *, conditional: bool) -> Sequence[Params]:
    """One configuration or several as a list; names that the space does not have are refused.

    Every name must be there, unless some parameters are conditional.
    """
    rows = [params] if isinstance(params, Mapping) else params
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise InputTypeError(
            f"params are {of_type(rows)}; give a dict such as "
            f"{{{names[0]!r}: ...}}, or a list of such dicts"
        )
    wanted = set(names)
    for position, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputTypeError(
                f"params {position} are {row!r}, {of_type(row)}; give a dict with "
                f"the parameters {listing(names)}"
            )
        if row.keys() != wanted and (not conditional or not wanted >= row.keys()):
            raise _wrong_names(row, names)
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


def wrong_activity(row: Params, name: str, parameter: Parameter, *, is_active: bool) -> InputError:
    """The error for params that lack an active parameter, or have an inactive one."""
    condition = said(parameter)
    if is_active:
        because = f", which exists because {condition}" if condition else ""
        return InputError(f"params {dict(row)} lack {name!r}{because}; give it a value")
    return InputError(
        f"params {dict(row)} have {name!r}, which exists only when {condition}; leave it out"
    )


def check_space(space: object) -> None:
    """Refuse a space that is no dict of names to parameters."""
    if not isinstance(space, Mapping):
        raise InputTypeError(
            f"the space is {of_type(space)}; it must be a dict of name to Real, Integer, "
            "Categorical or Ordinal, or Candidates for a table of configurations"
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
                "Integer(low, high), Categorical([...]) or Ordinal([...])"
            )
