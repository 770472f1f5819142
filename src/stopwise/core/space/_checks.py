# SPDX-License-Identifier: Apache-2.0
"""Checks of spaces and values, with their error messages.

Every message says what was given, what is allowed and what to do.
"""

from __future__ import annotations

import json
import math
import numbers
import operator
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np

from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.errors import InputError, InputTypeError


def is_number(kind: type) -> bool:
    """Tell whether values of this type are real numbers; a bool is not."""
    return issubclass(kind, numbers.Real) and not issubclass(kind, bool)


def is_missing(value: object) -> bool:
    """Tell whether a value is missing: nan, NaT and NA, none of which equals itself."""
    try:
        return bool(operator.ne(value, value))
    except (TypeError, ValueError):  # pandas.NA refuses to be true or false
        return True


def is_hashable(value: object) -> bool:
    """Tell whether a value is hashable; a tuple is only if its items are."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def identity(value: object) -> tuple[bool, object]:
    """Return the key by which choices are compared: the value, and whether it is a bool."""
    return isinstance(value, bool | np.bool_), value


def of_type(value: object) -> str:
    """Write the type of a value for a message."""
    return f"of type {type(value).__name__}"


def as_json_text(value: object) -> str:
    """Write a value as it is written in JSON, which is the shell's way; else as Python does."""
    if value is None or isinstance(value, str | bool):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def listing(
    items: Collection[object], limit: int = 8, *, write: Callable[[object], str] = repr
) -> str:
    """Write items for a message; of many only the first few."""
    shown = ", ".join(write(item) for item, _ in zip(items, range(limit), strict=False))
    return shown + (f", ... ({len(items) - limit} more)" if len(items) > limit else "")


def suggestion(name: object, names: Iterable[str]) -> str:
    """Guess which of the names was meant."""
    import difflib  # for errors alone

    close = difflib.get_close_matches(str(name), names, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def at(name: str, values: Sequence[Any], position: int) -> str:
    """Say which value a message is about; the row matters only if there are several."""
    return f"parameter {name!r}" + (f" in row {position}" if len(values) > 1 else "")


def as_numbers(values: Sequence[Any], name: str) -> Array:
    """Turn numbers of any type into floats, and refuse values that are no numbers."""
    if not all(map(is_number, set(map(type, values)))):
        bad = next(i for i, value in enumerate(values) if not is_number(type(value)))
        raise InputTypeError(
            f"{at(name, values, bad)} is {values[bad]!r}, {of_type(values[bad])}; it "
            "must be a number (text and bools are none): convert it, or make the parameter "
            "Categorical"
        )
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        raise InputError(
            f"parameter {name!r} holds a number too large for a float; rescale the parameter"
        ) from None


def refuse_outside(
    values: Sequence[Any], name: str, inside: Mask, bounds: tuple[float, float]
) -> None:
    """Refuse the first value that is not inside the bounds."""
    if not inside.all():
        bad = int(np.argmin(inside))
        raise InputError(
            f"{at(name, values, bad)} is {values[bad]!r}, outside its bounds; allowed is "
            f"{bounds[0]} to {bounds[1]}: correct the value, or widen the bounds"
        )


def checked_bounds(shown: str, low: object, high: object, log: object) -> tuple[float, float]:
    """Return bounds as floats, after refusing those that are no bounds."""
    bottom, top = checked_bound(shown, "low", low), checked_bound(shown, "high", high)
    if not isinstance(log, bool):
        raise InputTypeError(f"{shown}: log must be True or False")
    if bottom == top:
        raise InputError(
            f"{shown}: low equals high, which leaves nothing to vary; leave the parameter out "
            "and fix its value in the objective, or use a Categorical of one choice"
        )
    if bottom > top:
        raise InputError(f"{shown}: low must be below high; swap them")
    if log and bottom <= 0.0:
        raise InputError(
            f"{shown}: a log scale needs low above 0; raise low to the smallest value worth "
            "trying, or leave out log=True"
        )
    return bottom, top


def checked_bound(shown: str, label: str, bound: object) -> float:
    """Return one bound as a finite float."""
    if not is_number(type(bound)):
        raise InputTypeError(
            f"{shown}: {label} is {of_type(bound)}; it must be a number (text and bools are none)"
        )
    try:
        value = float(bound)  # type: ignore[arg-type]  # a number, as was just checked
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise InputError(f"{shown}: {label} must be finite; give the widest value worth trying")
    return value


def check_resolution(shown: str, low: float, high: float, *, log: bool) -> None:
    """Refuse a range whose width is infinite, or zero on its log scale, in floats."""
    if not math.isfinite(high - low):
        raise InputError(f"{shown}: high - low is too large for a float; narrow the bounds")
    if log and not np.log(high) > np.log(low):
        raise InputError(f"{shown}: the bounds are too close for a log scale; leave out log=True")


def positions(
    allowed: Sequence[Any], values: Sequence[Any], name: str, called: str = "choices"
) -> Indices:
    """Where each value is in the list of those that are allowed; others are refused."""
    position_of = {identity(each): i for i, each in enumerate(allowed)}
    places = [
        position_of.get(identity(value), -1) if is_hashable(value) else -1 for value in values
    ]
    if -1 in places:
        bad = places.index(-1)
        which = at(name, values, bad)
        raise InputError(
            f"{which} is {values[bad]!r}, which is not one of its {called}; "
            f"allowed: {listing(allowed)}"
        ).or_in_shell(
            f"{which} is {as_json_text(values[bad])}, which is not one of its {called}; "
            f"allowed: {listing(allowed, write=as_json_text)}"
        )
    return np.array(places, dtype=np.intp)


def check_choices(
    choices: tuple[Any, ...], kind: str = "Categorical", item: str = "choice"
) -> None:
    """Refuse choices that are not hashable, not equal to themselves, or listed twice."""
    if not choices:
        raise InputError(f"{kind}([]): there must be at least one {item}; list what may be used")
    seen = set()
    for choice in choices:
        if not is_hashable(choice):
            raise InputTypeError(
                f"{kind}: the {item} {choice!r} is {of_type(choice)}, which cannot "
                "be looked up; use something hashable, such as a tuple or a name"
            )
        if is_missing(choice):
            raise InputError(
                f"{kind}: the {item} {choice!r} is not equal to itself and could never be "
                "found again; use None, or a name such as 'missing'"
            )
        if identity(choice) in seen:
            raise InputError(
                f"{kind}: the {item} {choice!r} is listed twice; list each {item} once"
            )
        seen.add(identity(choice))
