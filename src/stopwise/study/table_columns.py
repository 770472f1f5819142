# SPDX-License-Identifier: Apache-2.0
"""Columns of a table that are no parameters: the one that is the cost, and those that look odd."""

from __future__ import annotations

import datetime as dt
import math
import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any

from stopwise.core.beliefs.prices import COST_WORDS
from stopwise.core.space import Candidates
from stopwise.errors import InputError

_ODD = {  # names that a parameter seldom has
    "a price": ("cost", "price", "dollars", "usd", "eur"),
    "an id": ("id", "uuid", "row", "run_id", "trial_id"),
    "a date": ("date", "timestamp", "datetime"),
    "a remark": ("status", "state", "note", "notes", "comment", "comments", "remark", "error"),
    "the value": ("value", "loss", "accuracy", "score", "objective"),
}


def with_cost_column(
    space: Candidates, options: dict[str, Any]
) -> tuple[Candidates, dict[str, Any]]:
    """The table and the options of a study, where ``cost`` names one of its columns.

    Columns that look like a price, an id, a date or the value are warned of if they are taken for
    parameters.
    """
    cost = options.get("cost")
    if isinstance(cost, str) and cost not in COST_WORDS:
        space = _without(space, cost)
        options = {**options, "cost": space.beside[cost]}
        _check_equal_rows(space, cost)
    _warn_of(space)
    return space, options


def _without(space: Candidates, cost: str) -> Candidates:
    if cost in space.beside:
        return space
    if cost not in space.names:
        columns = (*space.names, *space.beside)
        message = (
            f"cost={cost!r} is no column of the table, which has {', '.join(columns)}. Or give"
            " 'seconds' (measured), 'reported' (told), one cost per row, or a callable of the"
            " params."
        )
        raise InputError(message)
    return space.without(cost)


def _check_equal_rows(space: Candidates, cost: str) -> None:
    first: dict[int, tuple[int, Any]] = {}
    for row, (candidate, price) in enumerate(
        zip(space.index.tolist(), space.beside[cost], strict=True)
    ):
        before, paid = first.setdefault(candidate, (row, price))
        if paid != price:
            message = (
                f"rows {before} and {row} of the table are equal but for {cost!r}, which is {paid}"
                f" and {price}: an evaluation has one price, so leave one of them out."
            )
            raise InputError(message)


def _warn_of(space: Candidates) -> None:
    _warn_of_texts(space)
    first = space.domain.params(0)
    odd = [(name, what) for name in space.names if (what := looks_like(name, first[name]))]
    if not odd or space.params_named:
        return
    words = " and ".join(f"{name!r} looks like {what}" for name, what in odd)
    names = [name for name, _ in odd]
    cost = next((name for name, what in odd if what == "a price"), None)
    hint = "" if cost is None else f" cost={cost!r} takes it for the price of an evaluation;"
    warnings.warn(
        f"of the table's columns {words}, taken for parameters so far.{hint}"
        f" sw.Candidates(rows, drop={names!r}) leaves it out, and params=[...] says which columns"
        " are parameters.",
        stacklevel=5,
    )


def _warn_of_texts(space: Candidates) -> None:
    rows = space.domain.rows or ()
    for name in space.names:
        why = None if name in space.declared else why_choices([row[name] for row in rows])
        if why is not None:
            warnings.warn(
                f"the column {name!r} {why}, so it is taken for choices, which have no order:"
                " convert it to numbers, or say that they are choices:"
                f" sw.Candidates(rows, space={{{name!r}: sw.Categorical([...])}}).",
                stacklevel=6,
            )


def why_choices(values: Sequence[object]) -> str | None:
    """Why a column is one of choices although most of its values look like numbers, in words.

    None where they do not, and where all of them are numbers.
    """
    distinct = {value for value in values if not isinstance(value, bool)}
    texts = sorted(value for value in distinct if isinstance(value, str))
    written = [text for text in texts if _reads_as_number(text)]
    numbers = [value for value in distinct if isinstance(value, Real)]
    if not texts or 2 * (len(numbers) + len(written)) <= len(distinct):
        return None
    others = [text for text in texts if text not in written]
    if written and not others:
        return f"has numbers that are written as text ({written[0]!r})"
    return f"has numbers and also {', '.join(map(repr, others[:3]))}"


def _reads_as_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def looks_like(name: str, cell: object) -> str | None:
    """What a column seems to be by its name or its first cell; None if it may be a parameter."""
    if isinstance(cell, dt.date):
        return "a date"
    return next((what for what, names in _ODD.items() if name.strip().lower() in names), None)
