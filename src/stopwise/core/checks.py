# SPDX-License-Identifier: Apache-2.0
"""Checks of the user's arguments; every error says what was given, what is allowed, what to do."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np

from stopwise.core.numerics.limits import (
    LARGEST_AMOUNT,
    LARGEST_VALUE,
    LEAST_AMOUNT,
    LEAST_VALUE,
    as_modelled,
    is_amount,
)
from stopwise.core.one_objective import INSTEAD, SEVERAL, are_several
from stopwise.errors import InputError, InputTypeError, shown

Direction = Literal["minimize", "maximize"]
Noise = float | Literal["learn"] | None
Bounds = tuple[float | None, float | None]


_BOUNDS = "Give (low, high) in objective units; None stands for no bound, as in (0, None)."
_RANGE = (
    f" It may be from {LEAST_AMOUNT:g} to {LARGEST_AMOUNT:g}: give costs in a unit in which it is."
)


def as_number(what: str, given: object, instead: str) -> float:
    """A real number as a float; scalars and arrays of one element (numpy, torch) count."""
    number = _item(given)
    if isinstance(number, bool) or not isinstance(number, numbers.Real):
        message = (
            f"{what} must be a real number, got {shown(given)} ({type(given).__name__}). {instead}"
        )
        raise InputTypeError(message)
    try:
        return float(number)
    except OverflowError:  # a whole number beyond the floats
        return math.inf if cast("int", number) > 0 else -math.inf


def _item(given: object) -> object:
    """The element of an array that has exactly one; anything else as it is."""
    try:
        return given.item()  # type: ignore[attr-defined]
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return given


def checked_params(given: object) -> Mapping[str, Any]:
    """The params by which a trial is named, or those of an evaluation from elsewhere."""
    if not isinstance(given, Mapping):
        message = (
            f"a trial is named by its number, by what ask() returned or by its params (a dict),"
            f" not by {shown(given)} ({type(given).__name__})."
        )
        raise InputTypeError(message)
    return given


def checked_value(given: object) -> float | None:
    """An objective value; None, nan and what is beyond 1e100 report a failure, as None."""
    if given is None:
        return None
    advice = "Tell a float, or None for an evaluation that failed."
    if are_several(given):
        advice = SEVERAL
    if isinstance(given, tuple):
        advice += " (An objective that returns (value, cost) needs cost='reported'.)"
    value = as_number("the value of an evaluation", given, advice)
    return value if abs(value) <= LARGEST_VALUE else None


def checked_cost(given: object) -> float:
    """A cost that was paid."""
    cost = as_number("a cost", given, "Tell what the evaluation cost, as a float.")
    if not is_amount(cost):
        message = (
            f"a cost must be positive and finite, got {shown(given)}. Tell what was really paid;"
            " of a failure that cost nothing leave the cost out."
            f"{_RANGE if cost > 0 else ''}"
        )
        raise InputError(message)
    return cost


def checked_budget(given: object) -> float:
    """A budget: what may be spent in all."""
    budget = as_number("budget", given, "Give what may be spent in all, in units of cost.")
    if not is_amount(budget):
        message = (
            f"budget={shown(given)}: give a positive number, what may be spent in all."
            f"{_RANGE if budget > 0 else ''}"
        )
        raise InputError(message)
    return budget


def checked_whole(name: str, given: object, least: int = 1, most: int = 10**12) -> int:
    """A whole number of at least ``least`` and at most ``most``."""
    if isinstance(given, bool) or not isinstance(given, numbers.Integral) or given < least:
        message = f"{name}={shown(given)}: give a whole number of at least {least}."
        raise InputError(message)
    if int(given) > most:
        message = f"{name}={shown(given)}: give a whole number of at most {most}."
        raise InputError(message)
    return int(given)


def checked_direction(given: object) -> Direction:
    """``"minimize"`` or ``"maximize"``."""
    if given not in ("minimize", "maximize"):
        several = f" {INSTEAD[0].upper()}{INSTEAD[1:]}." if are_several(given) else ""
        message = f"direction={given!r}: give 'minimize' or 'maximize'.{several}"
        raise InputError(message)
    return given


def checked_failures(given: object) -> Literal["chance", "median"]:
    """How failures are believed; an error names what is allowed."""
    if given == "chance":
        return "chance"
    if given == "median":
        return "median"
    message = (
        f"failures={shown(given)}: give 'chance' (where evaluations fail is learned) or 'median'"
        " (a failure is taken for an ordinary value)."
    )
    raise InputError(message)


def checked_noise(given: object) -> Noise:
    """None, ``"learn"`` or a positive variance."""
    if given is None or given == "learn":
        return cast("Noise", given)
    what = "noise"
    advice = "Give None (exact), a variance in squared objective units, or 'learn'."
    variance = as_number(what, given, advice)
    if not (math.isfinite(variance) and variance > 0):
        message = f"noise={shown(given)} is not a positive variance. {advice}"
        raise InputError(message)
    return variance


def checked_replicates(given: bool, noise: object) -> bool:  # noqa: FBT001  a user's flag
    """Whether a configuration may be evaluated again; refused where evaluations are exact."""
    if given and noise is None:
        message = (
            "replicates=True, but noise=None says that evaluations are exact: evaluating again"
            " would give the same value. Give noise='learn' or a variance, or leave it out."
        )
        raise InputError(message)
    return bool(given)


def checked_switch(option: str, given: object) -> bool:
    """An option that is on or off."""
    if not isinstance(given, bool | np.bool_):
        raise InputTypeError(f"{option}={given!r}: give True or False.")
    return bool(given)


def checked_bounds(given: object, advice: str = _BOUNDS) -> Bounds | None:
    """The bounds of all values, low and high; one beyond 1e100 is None, and so are two of them."""
    if given is None:
        return None
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str) or len(given) != 2:
        message = f"bounds={shown(given)} are not two numbers. {advice}"
        raise InputTypeError(message)
    low, high = (
        nothing if bound is None else as_number("a bound of values", bound, advice)
        for bound, nothing in zip(given, (-math.inf, math.inf), strict=True)
    )
    if math.isnan(low) or math.isnan(high):
        message = f"bounds={shown(given)}: nan is no bound. {advice}"
        raise InputError(message)
    if low >= high:
        message = f"bounds={shown(given)}: the lower bound must be below the upper one. {advice}"
        raise InputError(message)
    if low >= LARGEST_VALUE or high <= -LARGEST_VALUE:
        message = (
            f"bounds={shown(given)}: values are from {-LARGEST_VALUE:g} to {LARGEST_VALUE:g}."
        )
        raise InputError(message)
    if high - low < LEAST_VALUE:
        message = f"bounds={shown(given)} differ by less than {LEAST_VALUE:g}, as no values do."
        raise InputError(message)
    bounds = (None if low <= -LARGEST_VALUE else low, None if high >= LARGEST_VALUE else high)
    return None if bounds == (None, None) else bounds


def minimised_bounds(bounds: Bounds | None, sign: float) -> tuple[float, float]:
    """The bounds of sign times the value, which is minimised; infinite where there is none."""
    low, high = bounds or (None, None)
    inside = (
        -math.inf if low is None else float(as_modelled(low)),
        math.inf if high is None else float(as_modelled(high)),
    )
    return inside if sign > 0 else (-inside[1], -inside[0])


def check_within_bounds(what: str, value: float | None, bounds: Bounds | None) -> None:
    """Refuse a value beyond the bounds that were said to hold for all values."""
    if value is None or bounds is None:
        return
    low, high = bounds
    if low is not None and value < low:
        beyond = f"below {low:g}"
    elif high is not None and value > high:
        beyond = f"above {high:g}"
    else:
        return
    is_beyond = (
        f"{what} has the value {value!r}, but bounds={bounds!r} say that no value is {beyond}."
    )
    otherwise = (
        " If the value is right the bounds are not: a study keeps its bounds, so begin a new one"
        " with wider bounds or without."
    )
    wrong = "If the evaluation went wrong,"
    raise InputError(f"{is_beyond} {wrong} its value is None.{otherwise}").or_in_shell(
        f"{is_beyond} {wrong} tell it by --failed REASON.{otherwise}"
    )


def listed(given: Any) -> list[Any]:  # noqa: ANN401  one thing or several
    """One thing as a list of one; several as a list."""
    return list(given) if isinstance(given, list | tuple) else [given]
