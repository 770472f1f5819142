# SPDX-License-Identifier: Apache-2.0
"""The space that was searched, inferred from the values that were tried."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from stopwise.core.checks import Bounds
from stopwise.core.quantity import quantity
from stopwise.core.space import (
    Categorical,
    Integer,
    Ordinal,
    Parameter,
    Real,
    Space,
    as_domain,
)
from stopwise.core.space.conditions import said
from stopwise.errors import InputError
from stopwise.study.table_columns import why_choices
from stopwise.tools.audit._table import Row, is_missing, is_number

_RATIO = 10  # from here on ratios may be what matters
_MANY = 64  # whole numbers from so many on are searched like real ones, which is much quicker
_LABELS = 20  # as many texts may be categories; more, all different, are names of rows

ColumnBounds = Mapping[str, Bounds]


def infer_space(
    rows: Sequence[Row],
    names: Sequence[str],
    *,
    log: Collection[str] | None = None,
    bounds: ColumnBounds | None = None,
    named: bool = False,
) -> tuple[dict[str, Parameter], list[str]]:
    """A space that holds every row, and notes on the columns that are no parameters.

    Args:
        rows: What was tried.
        names: The columns in question.
        log: Columns on a log scale; None to infer it.
        bounds: Lowest and highest value of a column; as tried where left out or None.
        named: Whether the user named the columns, so that none is taken for a row's number.
    """
    bounds = bounds or {}
    check_columns([*(log or ()), *bounds], names)
    space: dict[str, Parameter] = {}
    notes: list[str] = []
    for name in names:
        values = [row[name] for row in rows if not is_missing(row.get(name))]
        parameter = _parameter(values, bounds.get(name), log=None if log is None else name in log)
        if isinstance(parameter, Integer | Real) and not named and _counts(values):
            parameter = "counts the rows"
        if isinstance(parameter, str):
            notes.append(f"column {name!r} {parameter} and is left out")
        else:
            space[name] = parameter
        if isinstance(parameter, Categorical) and (why := why_choices(values)):
            notes.append(f"column {name!r} {why}, so it is taken for choices, which have no order")
    return space, notes


def check_columns(given: Iterable[str], names: Sequence[str], value: str | None = None) -> None:
    """Refuse the name of a parameter that there is not.

    Args:
        given: The names in question.
        names: Those of the parameters.
        value: What the objective is called, where its name could have been given too.
    """
    too = "" if value is None else f"; the objective is {value!r}"
    for name in given:
        if name not in names:
            message = f"there is no parameter column {name!r}; there are {', '.join(names)}{too}."
            raise InputError(message)


def _parameter(values: list[Any], bounds: Bounds | None, *, log: bool | None) -> Parameter | str:
    """A parameter, or why the column is none."""
    if bounds is None and len(set(map(str, values))) < 2:
        return "does not vary"
    if not all(map(is_number, values)):
        labels = list(dict.fromkeys(v if isinstance(v, bool | str) else str(v) for v in values))
        if len(labels) == len(values) > _LABELS:
            return "has another text in every row"
        return Categorical(labels)
    whole = all(float(v).is_integer() for v in values)
    low, high = bounds or (None, None)
    low, high = min(values) if low is None else low, max(values) if high is None else high
    scale = _is_log(values, low, high) if log is None else log
    if whole and float(low).is_integer() and float(high).is_integer() and high - low < _MANY:
        return Integer(int(low), int(high), log=scale)
    return Real(float(low), float(high), log=scale)


def _counts(values: list[Any]) -> bool:
    """Whether they rise by one from row to row, a few rows missing: the number of a trial."""
    steps = [later - earlier for earlier, later in itertools.pairwise(values)]
    few_missing = values[-1] - values[0] <= 1.5 * len(steps)
    return len(steps) > 1 and few_missing and all(s >= 1 and s == round(s) for s in steps)


def _is_log(values: list[Any], low: float, high: float) -> bool:
    """Whether the values are spread more evenly on a log scale than on a linear one."""
    if low <= 0 or high / low < _RATIO:
        return False
    linear = [(v - low) / (high - low) for v in values]
    logarithmic = [math.log(v / low) / math.log(high / low) for v in values]
    return bool(_unevenness(logarithmic) < _unevenness(linear))


def _unevenness(places: list[float]) -> float:
    """How far the empirical distribution is from the uniform one (Kolmogorov-Smirnov)."""
    n = len(places)
    return max(abs((i + 0.5) / n - place) for i, place in enumerate(sorted(places)))


def described(space: Space) -> list[str]:
    """One line a parameter, as people read it."""
    if not isinstance(space, Mapping):
        return [f"a table of {len(as_domain(space))} candidates"]  # type: ignore[arg-type]
    width = max(map(len, space))
    return [f"{name:<{width}}  {_description(p)}" for name, p in space.items()]


def _description(parameter: Parameter) -> str:
    when = f", when {said(parameter)}" if parameter.when else ""
    if isinstance(parameter, Categorical | Ordinal):
        ordinal = isinstance(parameter, Ordinal)
        values = parameter.values if isinstance(parameter, Ordinal) else parameter.choices
        shown = ", ".join(map(str, values[:8])) + (", ..." if len(values) > 8 else "")
        return f"one of {shown}{' in this order' if ordinal else ''}{when}"
    kind = "whole" if isinstance(parameter, Integer) else "real"
    scale = ", log scale" if parameter.log else ""
    return f"{kind}, {quantity(parameter.low)} to {quantity(parameter.high)}{scale}{when}"


def as_told(row: Row, space: Space) -> dict[str, Any]:
    """A row's params, with the choices of the space."""
    if not isinstance(space, Mapping):
        return {name: row[name] for name in as_domain(space).names}
    there = {
        name: p for name, p in space.items() if p.when is None or row.get(name) is not None
    }  # a conditional parameter may be absent
    return {name: _as_told(row[name], parameter) for name, parameter in there.items()}


def _as_told(value: Any, parameter: Parameter) -> Any:  # noqa: ANN401  whatever was tried
    if not isinstance(parameter, Categorical):
        return value
    is_choice = isinstance(value, bool | str) or value in parameter.choices
    return value if is_choice else str(value)
