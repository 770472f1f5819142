# SPDX-License-Identifier: Apache-2.0
"""The space of a run, from its file: parameters, their conditions, and constraints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stopwise.core.space import Categorical, Integer, Ordinal, Parameter, Real, as_domain
from stopwise.core.space.constraints import check_names, checked_constraints
from stopwise.errors import StopwiseError
from stopwise.tools.runner.toml_table import TomlTable, shown


def read_space(table: TomlTable) -> dict[str, Parameter]:
    """The table ``[parameters]``."""
    if not table.data:
        raise table.error(None, "[parameters] is empty: nothing could be varied.")
    space = {name: _parameter(table.table(name)) for name in table.data}
    try:
        as_domain(space)
    except StopwiseError as error:  # about a condition, which begins with whose it is
        begins = ("parameter", "conditions form a cycle:")
        named = (n for n in space if str(error).startswith(tuple(f"{b} {n!r} " for b in begins)))
        whose = next(named, None)
        at = table if whose is None else table.table(whose)
        raise at.error(None if whose is None else "when", str(error)) from error
    return space


def read_constraints(top: TomlTable, space: Mapping[str, Parameter]) -> tuple[str, ...]:
    """The expressions that every configuration must satisfy."""
    if "constraints" not in top.data:
        top.any("constraints", None)
        return ()
    one = isinstance(top.data["constraints"], str)
    texts = (top.typed("constraints", str),) if one else top.texts("constraints")
    inner = top.at("constraints")
    for index, text in enumerate(texts):
        try:
            check_names(checked_constraints(text), space)
        except StopwiseError as error:
            raise inner.error(index, str(error)) from error
    try:
        as_domain(space, checked_constraints(texts))
    except StopwiseError as error:
        raise top.error("constraints", str(error)) from error
    return texts


def _parameter(table: TomlTable) -> Parameter:
    kind = table.word("type", ("real", "integer", "categorical", "ordinal"))
    when = table.typed("when", dict, None)
    try:
        if kind == "categorical":
            parameter: Parameter = Categorical(_choices(table, "choices"), when=when)
        elif kind == "ordinal":
            by = table.word("by", ("rank", "value"), "rank")
            parameter = Ordinal(_choices(table, "values"), by=by, when=when)  # type: ignore[arg-type]
        elif kind == "integer":
            low, high = (table.whole(key, least=-(10**12)) for key in ("low", "high"))
            parameter = Integer(low, high, log=table.typed("log", bool, default=False), when=when)
        else:
            low, high = table.number("low"), table.number("high")
            parameter = Real(low, high, log=table.typed("log", bool, default=False), when=when)
    except StopwiseError as error:
        if str(error).startswith(table.name):  # it names its line already
            raise
        about = "when" if ": when " in str(error) else None
        raise table.error(about, str(error)) from error
    table.done()
    return parameter


def _choices(table: TomlTable, key: str) -> list[Any]:
    choices: list[Any] = table.typed(key, list)
    inner = table.at(key)
    for index, choice in enumerate(choices):
        if not isinstance(choice, str | int | float | bool) or "\0" in str(choice):
            message = f"a choice must be a string, a number or a boolean, not {shown(choice)}."
            raise inner.error(index, message)
    return choices
