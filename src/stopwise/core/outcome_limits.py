# SPDX-License-Identifier: Apache-2.0
"""Limits of measured outcomes: what an evaluation must keep besides giving a good value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from stopwise.core.checks import Bounds, as_number, checked_bounds
from stopwise.core.numerics.limits import LARGEST_VALUE
from stopwise.core.quantity import quantity
from stopwise.errors import InputError, InputTypeError, shown

Limits: TypeAlias = Mapping[str, Bounds]

_ADVICE = "Give limits={'toxicity': (None, 3.0)}: each outcome's lowest and highest allowed value."


def checked_limits(given: object) -> dict[str, Bounds] | None:
    """The limits by outcome; an error says what is wrong with them. None where there are none."""
    if given is None:
        return None
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        message = f"limits={shown(given)} are not limits by name. {_ADVICE}"
        raise InputTypeError(message)
    limits: dict[str, Bounds] = {}
    for name, pair in given.items():
        try:
            bounds = checked_bounds(pair)
        except (InputError, InputTypeError) as error:
            pairs = "two numbers, the lower one first and below the other; one of them may be None"
            message = f"limits of {name!r} are {shown(pair)}, and not {pairs}. {_advice(pair)}"
            raise type(error)(message) from None
        if bounds is None:
            message = f"limits of {name!r} are {shown(pair)}, which is no limit. {_ADVICE}"
            raise InputError(message)
        limits[name] = bounds
    return limits or None


def _advice(given: object) -> str:
    """What to give instead; a number alone is likely meant as the highest value."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        return f"At most {given} is (None, {given}), at least {given} is ({given}, None)."
    return _ADVICE


def checked_fallback(given: object, limits: Limits | None) -> float | None:
    """The value of the status quo; it has a meaning only where there are limits."""
    if given is None:
        return None
    advice = "Give the value that you have if no evaluation keeps the limits, or leave it out."
    value = as_number("fallback", given, advice)
    if not abs(value) < LARGEST_VALUE:
        message = f"fallback={shown(given)} is no value that can be compared with. {advice}"
        raise InputError(message)
    if limits is None:
        message = f"fallback={shown(given)} without limits=: there is nothing to fall back from."
        raise InputError(message)
    return value


def checked_outcomes(given: object, limits: Limits | None) -> dict[str, float]:
    """The measured outcomes of an evaluation; each that has limits must be among them.

    Others are kept as they are, for the record; one that is None or nan was not measured, and is
    left out. Without limits that is so of all of them: nothing must be measured of a failure.
    """
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        message = f"outcomes={shown(given)}: give a dict of what was measured, by name."
        raise InputTypeError(message)
    missing = [name for name in limits or {} if name not in given]
    if missing:
        others = [str(name) for name in given if name not in (limits or {})]
        told = f" (given were {', '.join(others)})" if others else ""
        message = (
            f"the outcome {missing[0]!r} is missing{told}, and this study has limits of it: tell"
            f" it too, as in study.tell(trial, value, cost, outcomes={{{missing[0]!r}: ...}}), or"
            f" return sw.Evaluation(value, outcomes={{{missing[0]!r}: ...}}) from the objective."
            " An evaluation that could not be measured has failed: its value is None."
        )
        raise InputError(message).or_in_shell(
            f"the outcome {missing[0]!r} is missing{told}, and this study has limits of it: give"
            f" it too, --outcome {missing[0]}=NUMBER. An evaluation that could not be measured is"
            " told by --failed REASON."
        )
    for name in given:
        if not isinstance(name, str):
            message = f"outcomes={shown(given)}: {name!r} is no name. Names are strings."
            raise InputTypeError(message)
    wanted = [name for name in given if name in (limits or {}) or not _unmeasured(given[name])]
    return {name: _measured(name, given[name]) for name in wanted}


def unmeasured(outcomes: Mapping[str, Any], limits: Limits | None) -> str | None:
    """The first outcome with limits that is None, nan or infinite; None if there is none."""
    named = (name for name in limits or {} if name in outcomes)
    return next((name for name in named if _unmeasured(outcomes[name])), None)


def _unmeasured(value: object) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def _measured(name: str, given: Any) -> float:  # noqa: ANN401  what the user tells
    advice = "If it could not be measured the evaluation has failed: tell None as its value."
    value = as_number(f"the outcome {name!r}", given, advice)
    if not abs(value) < LARGEST_VALUE:
        what = f"the outcome {name!r} is {shown(given)}, which cannot be modelled."
        in_shell = "If it could not be measured the evaluation has failed: tell --failed REASON."
        raise InputError(f"{what} {advice}").or_in_shell(f"{what} {in_shell}")
    return value


def broken_limits(outcomes: Mapping[str, float], limits: Limits | None) -> list[str]:
    """The names of outcomes that are beyond their limits, as measured."""
    intervals = {name: as_interval(*bounds) for name, bounds in (limits or {}).items()}
    return [
        name
        for name, (low, high) in intervals.items()
        if name in outcomes and not low <= outcomes[name] <= high
    ]


def as_interval(low: float | None, high: float | None) -> tuple[float, float]:
    """Limits as numbers; infinite where there is none."""
    return -math.inf if low is None else low, math.inf if high is None else high


def in_words(bounds: Bounds) -> str:
    """Limits of an outcome in words.

    Example:
        >>> in_words((None, 3.0)), in_words((0.5, None)), in_words((0.5, 3.0))
        ('at most 3', 'at least 0.5', 'from 0.5 to 3')
    """
    low, high = bounds
    if low is None:
        return "free" if high is None else f"at most {quantity(high)}"
    if high is None:
        return f"at least {quantity(low)}"
    return f"from {quantity(low)} to {quantity(high)}"
