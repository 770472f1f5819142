# SPDX-License-Identifier: Apache-2.0
"""Telling: the observation made from what a user reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from stopwise.core.beliefs.prices import known_cost
from stopwise.core.checks import (
    as_number,
    check_within_bounds,
    checked_cost,
    checked_value,
)
from stopwise.core.numerics.limits import LARGEST_VALUE
from stopwise.core.outcome_limits import Limits, broken_limits, checked_outcomes
from stopwise.core.quantity import quantity
from stopwise.errors import InputError, shown
from stopwise.record.history import Observation, Trial
from stopwise.record.outcomes import OUTCOMES, Completed, Infeasible, Outcome, outcome_of
from stopwise.study.context import StudyContext
from stopwise.study.identifying import absent, pending_at, told_already, told_at

Value: TypeAlias = float | Outcome | None


def observations_of(
    context: StudyContext,
    trial: Trial | Mapping[str, Any],
    value: Value | Sequence[Value],
    cost: float | Sequence[float] | None,
    *,
    charge: bool | None,
    message: str,
    outcomes: Mapping[str, float] | None = None,
) -> tuple[Observation, ...]:
    """The observations that ``tell`` reports: one, or one for each repeat.

    The first has the number of the trial, the others the next free ones.
    """
    values = repeats_of(context, value)
    costs = _costs_of(cost, values, repeated=values[0] is not value)
    first = observation_of(
        context, trial, values[0], costs[0], charge=charge, message=message, outcomes=outcomes
    )
    further = enumerate(values[1:], start=max(context.state.next, first.number + 1))
    return (
        first,
        *(
            _repeat(context, first, number, of, paid, message)
            for (number, of), paid in zip(further, costs[1:], strict=True)
        ),
    )


def _repeat(
    context: StudyContext,
    first: Observation,
    number: int,
    value: Value,
    cost: float | None,
    message: str,
) -> Observation:
    """One more observation of the same configuration."""
    outcome, _ = outcome_told(context, first.number, value, message, None)
    paid = _paid(context, first.params, cost, failed=outcome.value is None)
    return replace(first, number=number, outcome=outcome, cost=paid)


def repeats_of(context: StudyContext, value: Value | Sequence[Value]) -> list[Value]:
    """The values of the repeats that are told at once; of one evaluation a list of one.

    A list is repeats where evaluations are noisy; elsewhere it would be several objectives.
    """
    given: Any = value
    is_list = isinstance(given, list) or (isinstance(given, np.ndarray) and given.ndim == 1)
    if not is_list or context.options.noise is None:
        return [given]
    values: list[Value] = list(given)
    if not values:
        message = "a list of no repeats: tell at least one value, or None for a failure."
        raise InputError(message)
    if context.options.limits is not None and len(values) > 1:
        message = (
            f"{len(values)} repeats at once, in a study with limits: each repeat has outcomes of"
            " its own, so tell one after the other, the first by its trial and the others by"
            " params (a dict, with charge=True)."
        )
        raise InputError(message)
    return values


def _costs_of(
    cost: float | Sequence[float] | None, values: list[Value], *, repeated: bool
) -> list[float | None]:
    """The cost of each repeat; one number is what all of them cost together."""
    given: Any = cost
    count = len(values)
    if repeated and isinstance(given, list | tuple | np.ndarray) and np.ndim(given) == 1:
        if len(given) != count:
            message = (
                f"{len(given)} costs for {count} values: give one cost for each repeat, or one"
                " number, what all of them cost together."
            )
            raise InputError(message)
        return list(given)
    each = given if given is None or count == 1 else checked_cost(given) / count
    return [each] * count


def observation_of(
    context: StudyContext,
    trial: Trial | Mapping[str, Any],
    value: float | Outcome | None,
    cost: float | None,
    *,
    charge: bool | None,
    message: str,
    outcomes: Mapping[str, float] | None = None,
) -> Observation:
    """The observation that ``tell`` reports; see ``Study.tell``."""
    identified = _identified(context, trial)
    outcome, measured = outcome_told(context, identified.number, value, message, outcomes)
    asked = identified.number in context.state.pending
    return Observation(
        identified.number,
        identified.params,
        outcome,
        _paid(context, identified.params, cost, failed=outcome.value is None),
        asked if charge is None else charge,
        identified.expected_cost,
        measured,
    )


def outcome_told(
    context: StudyContext,
    number: int,
    value: float | Outcome | None,
    message: str,
    given: Mapping[str, float] | None,
) -> tuple[Outcome, Mapping[str, float]]:
    """The outcome of a trial, infeasible if a limit is broken, and what was measured.

    A value beyond the bounds of the study is refused.
    """
    outcome, limits = _outcome(value, message), context.options.limits
    check_within_bounds(f"trial {number}", outcome.value, context.options.bounds)
    if isinstance(outcome, Infeasible):
        outcome = Completed(outcome.value, outcome.message)
        if limits is None:
            message = "an infeasible outcome without limits: give the study limits=, and outcomes."
            raise InputError(message)
    if outcome.value is None:
        return outcome, checked_outcomes(given, None)
    measured = checked_outcomes(given, limits)
    beyond = beyond_limits(measured, limits)
    if not beyond:
        return outcome, measured
    return Infeasible(outcome.value, outcome.message or beyond), measured


def beyond_limits(measured: Mapping[str, float], limits: Limits | None) -> str:
    """The message of an evaluation that breaks limits, where the user has none; else empty."""
    broken = broken_limits(measured, limits)
    words = ", ".join(f"{name} is {quantity(measured[name])}" for name in broken)
    return f"beyond its limits: {words}" if broken else ""


def was_told(
    context: StudyContext,
    trial: Trial | Mapping[str, Any],
    value: Value | Sequence[Value],
    cost: float | Sequence[float] | None,
    *,
    charge: bool | None,
    message: str,
    outcomes: Mapping[str, float] | None = None,
) -> bool:
    """Whether this very evaluation was told before, perhaps by a call that was interrupted."""
    if not isinstance(trial, Trial):
        return charge is None and _params_were_told(
            context, trial, value, cost, message=message, outcomes=outcomes
        )
    if trial.number in context.state.pending:
        return False
    values = repeats_of(context, value)
    history = list(context.history)
    at = next((i for i, told in enumerate(history) if told.number == trial.number), len(history))
    together = history[at : at + len(values)]  # repeats are told in one event
    if len(together) < len(values) or any(told.params != trial.params for told in together):
        return False
    costs = _costs_of(cost, values, repeated=values[0] is not value)
    return all(
        _says(context, told, each, paid, message, outcomes)
        for told, each, paid in zip(together, values, costs, strict=True)
    )


def _params_were_told(
    context: StudyContext,
    params: Mapping[str, Any],
    value: Any,  # noqa: ANN401  what the user tells
    cost: Any,  # noqa: ANN401
    *,
    message: str,
    outcomes: Mapping[str, float] | None,
) -> bool:
    """Whether this evaluation, told by params, is that of a finished trial of this study.

    Another value is refused where one evaluation says all, unless it is said to be one more by
    ``charge``: it may be meant as a correction. Another evaluation is welcome with noise and after
    a failure, and data from elsewhere may hold a configuration twice.
    """
    if context.options.noise is not None or not any(told.charged for told in context.history):
        return False
    same = [told for told in told_at(context, params) if told.charged]
    if any(_says(context, told, value, cost, message, outcomes) for told in same):
        return True
    with_value = [told for told in same if not told.failed]
    if with_value:
        raise told_already(with_value[-1], by_params=True)
    return False


def _says(
    context: StudyContext,
    told: Observation,
    value: Value,
    cost: float | None,
    message: str,
    outcomes: Mapping[str, float] | None,
) -> bool:
    """Whether a report says the same; a cost that is left out agrees with any."""
    outcome = outcome_told(context, told.number, value, message, outcomes)
    if (told.outcome, told.outcomes) != outcome:
        return False
    return cost is None or checked_cost(cost) == told.cost


def _identified(context: StudyContext, trial: Trial | Mapping[str, Any]) -> Trial:
    """The pending trial that is told, or a new one for data from elsewhere."""
    state = context.state
    if not isinstance(trial, Trial):
        same = pending_at(context, trial)
        return Trial(state.next, dict(trial)) if same is None else same
    asked = state.pending.get(trial.number)
    if asked is None:
        told = state.observed(trial.number)
        raise absent(context, trial.number) if told is None else told_already(told)
    if all(trial.params.get(k) == v for k, v in asked.params.items()):
        return asked
    message = (
        f"trial {trial.number} has params {dict(trial.params)} where this study asked for"
        f" {asked.params}; pending are {sorted(state.pending)}. Tell each trial once, as it was"
        " asked, or tell params (a dict) for data from elsewhere."
    )
    raise InputError(message)


def _outcome(value: Any, message: str) -> Outcome:  # noqa: ANN401  what the user tells
    """The outcome of a told value; one that is not a finite number is a failure."""
    if type(value) in OUTCOMES.values():
        outcome: Outcome = replace(value, message=writable(message or value.message))
        return outcome
    checked = checked_value(value)
    if checked is None and value is not None:
        message = message or _diverged(value)
    return outcome_of(checked, writable(message))


def _diverged(value: object) -> str:
    """Why a value that is not None counts as a failure."""
    text = f"the value was {shown(value)}"
    if not math.isfinite(as_number("the value of an evaluation", value, "")):
        return text
    limit = f"values are modelled up to {LARGEST_VALUE:g}"
    return f"{text}, and {limit}: if it is right, give the objective in a larger unit"


def writable(text: object) -> str:
    """A text as UTF-8 can hold it: a lone surrogate, as in some file names, is spelled out."""
    return str(text).encode(errors="backslashreplace").decode()


def _paid(
    context: StudyContext, params: Mapping[str, Any], given: float | None, *, failed: bool
) -> float:
    """The cost that was paid: as told, or as known in advance."""
    cost = known_cost(context.cost_model, context.domain, params) if given is None else given
    if cost is None and failed:
        return 0.0  # the cost until the failure is unknown
    if cost is None:
        message = (
            "a cost is missing: this study learns costs from what is paid, so tell it:"
            " study.tell(trial, value, cost). With minimize(), cost='seconds' measures it and"
            " cost='reported' reads it from an objective that returns (value, cost)."
        )
        raise InputError(message).or_in_shell(
            "a cost is missing: this study learns costs from what is paid, so tell it with --cost."
        )
    return checked_cost(cost)
