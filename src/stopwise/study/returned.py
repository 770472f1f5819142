# SPDX-License-Identifier: Apache-2.0
"""Returned values: from what an objective returned to what a study is told.

The user has called no ``tell``, so errors are about what was returned.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, NamedTuple

from stopwise.core.checks import checked_value
from stopwise.core.one_objective import SEVERAL, are_several
from stopwise.core.outcome_limits import unmeasured
from stopwise.errors import InputError, InputTypeError, shown
from stopwise.record.outcomes import OUTCOMES
from stopwise.study.evaluation import Evaluation, as_evaluation
from stopwise.study.options import StudyOptions


class Evaluated(NamedTuple):
    """The result of one call of the objective; plain values, so that it can cross processes."""

    returned: Any
    seconds: float
    error: str = ""


class TellArguments(NamedTuple):
    """The arguments of ``Study.tell`` after the trial."""

    value: Any
    cost: float | None
    outcomes: Mapping[str, float] | None
    message: str


def tell_arguments(evaluated: Evaluated, cost: object, options: StudyOptions) -> TellArguments:
    """The arguments of ``Study.tell`` for an evaluation.

    Args:
        evaluated: The result of the call.
        cost: The option ``cost`` as it was given.
        options: Of the study.
    """
    if evaluated.error:
        paid = evaluated.seconds if _is(cost, "seconds") else None
        return TellArguments(None, paid, None, evaluated.error)
    more = as_evaluation(evaluated.returned)
    value, paid = _value_and_cost(evaluated, more, cost)
    repeats = value if isinstance(value, list) and options.noise is not None else [value]
    for each in repeats:
        _check_value(evaluated.returned, each)
    outcomes = None if more is None else dict(more.outcomes) or None
    if value is None:
        return TellArguments(None, paid, outcomes, "")
    for name in options.limits or {}:
        if name not in (outcomes or {}):
            raise _lacking(evaluated.returned, name)
    lost = unmeasured(outcomes or {}, options.limits)
    if lost is not None:  # as a value that is nan, an outcome that is nan is a failure
        why = f"the outcome {lost!r} is {(outcomes or {})[lost]}"
        return TellArguments(None, paid, outcomes, why)
    return TellArguments(value, paid, outcomes, "")


def _value_and_cost(
    evaluated: Evaluated, more: Evaluation | None, cost: object
) -> tuple[Any, float | None]:
    """The value, and the cost where this is not known in advance."""
    value, paid, timed = evaluated.returned, None, _is(cost, "seconds")
    if more is not None:
        value, paid = more.value, more.cost
    elif isinstance(value, tuple) and len(value) == 2 and cost is not None and not timed:
        value, paid = value
    if paid is not None and (timed or cost is None):
        instead = "it is timed" if timed else "each evaluation costs 1"
        message = (
            f"the objective returned the cost {shown(paid)}, but with cost={cost!r} {instead}:"
            " give cost='reported' to the study, or return no cost."
        )
        raise InputError(message)
    if timed:
        return value, evaluated.seconds
    if paid is None and _is(cost, "reported") and value is not None:
        message = (
            f"with cost='reported' the objective returns (value, cost), got {shown(value)}. Return"
            " both, or use cost='seconds' to have it timed."
        )
        raise InputTypeError(message)
    return value, paid


def _check_value(returned: object, value: object) -> None:
    """Refuse what is no value of an objective."""
    if type(value) in OUTCOMES.values():
        return
    try:
        checked_value(value)
    except InputTypeError:
        hint = f" {SEVERAL}" if are_several(value) else ""
        if isinstance(value, tuple) and len(value) == 2:
            hint += " (value, cost) needs cost='reported'."
            if isinstance(value[1], Mapping):
                hint = " Outcomes are given by name: sw.Evaluation(value, outcomes={...})."
        if isinstance(value, Generator):
            hint = " One that yields (step, value) as it trains needs stages=, such as stages=81."
        message = (
            f"the objective returned {shown(returned)} ({type(returned).__name__}). Return a real"
            f" number; None if the evaluation failed; or sw.Evaluation(...).{hint}"
        )
        raise InputTypeError(message) from None


def _lacking(returned: object, name: str) -> InputError:
    return InputError(
        f"the objective returned {shown(returned)} without the outcome {name!r}, of which this"
        f" study has limits: return sw.Evaluation(value, outcomes={{{name!r}: ...}}), or None if"
        " the evaluation failed."
    )


def _is(cost: object, word: str) -> bool:
    return isinstance(cost, str) and cost == word
