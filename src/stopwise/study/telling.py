# SPDX-License-Identifier: Apache-2.0
"""Telling: the observation made from what a user reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stopwise.core.beliefs.prices import known_cost
from stopwise.core.checks import (
    as_number,
    check_within_bounds,
    checked_cost,
    checked_params,
    checked_value,
)
from stopwise.core.numerics.limits import LARGEST_VALUE
from stopwise.core.outcome_limits import broken_limits, checked_outcomes
from stopwise.core.quantity import quantity
from stopwise.errors import InputError, shown
from stopwise.record.history import Observation, Trial
from stopwise.record.outcomes import OUTCOMES, Completed, Infeasible, Outcome, outcome_of
from stopwise.study.context import StudyContext


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
    outcome, measured = _with_limits(context, _outcome(value, message), outcomes)
    bounds = context.options.bounds
    check_within_bounds(f"trial {identified.number}", outcome.value, bounds)
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


def _with_limits(
    context: StudyContext, outcome: Outcome, given: Mapping[str, float] | None
) -> tuple[Outcome, Mapping[str, float]]:
    """The outcome, infeasible if a limit is broken, and what was measured."""
    limits = context.options.limits
    if isinstance(outcome, Infeasible):
        outcome = Completed(outcome.value, outcome.message)
        if limits is None:
            message = "an infeasible outcome without limits: give the study limits=, and outcomes."
            raise InputError(message)
    if outcome.value is None:
        return outcome, {}
    measured = checked_outcomes(given, limits)
    broken = broken_limits(measured, limits)
    if not broken:
        return outcome, measured
    words = ", ".join(f"{name} is {quantity(measured[name])}" for name in broken)
    return Infeasible(outcome.value, outcome.message or f"beyond its limits: {words}"), measured


def was_told(
    context: StudyContext,
    trial: Trial | Mapping[str, Any],
    value: float | Outcome | None,
    cost: float | None,
    *,
    message: str,
    outcomes: Mapping[str, float] | None = None,
) -> bool:
    """Whether this very evaluation was told before, perhaps by a call that was interrupted."""
    if not isinstance(trial, Trial) or trial.number in context.state.pending:
        return False
    told = context.state.observed(trial.number)
    if told is None or told.params != trial.params:
        return False
    if (told.outcome, told.outcomes) != _with_limits(context, _outcome(value, message), outcomes):
        return False
    return cost is None or checked_cost(cost) == told.cost


def check_pending(context: StudyContext, trial: Trial) -> None:
    """Refuse a trial that is not pending."""
    pending = context.state.pending
    if pending.get(trial.number) != trial:
        message = f"trial {trial.number} is not pending; pending are {sorted(pending) or 'none'}."
        raise InputError(message)


def _identified(context: StudyContext, trial: Trial | Mapping[str, Any]) -> Trial:
    """The pending trial that is told, or a new one for data from elsewhere."""
    state = context.state
    if not isinstance(trial, Trial):
        same = _pending_at(context, checked_params(trial))
        return Trial(state.next, dict(trial)) if same is None else same
    asked = state.pending.get(trial.number)
    if asked is not None and all(trial.params.get(k) == v for k, v in asked.params.items()):
        return asked
    if asked is not None:
        what = f"has params {dict(trial.params)} where this study asked for {asked.params}"
    elif any(o.number == trial.number for o in state.history):
        what = "was told already"
    else:
        what = "was not asked of this study"
    message = (
        f"trial {trial.number} {what}; pending are {sorted(state.pending) or 'none'}."
        " Tell each trial once, as it was asked, or tell params (a dict) for data from"
        " elsewhere."
    )
    raise InputError(message)


def _pending_at(context: StudyContext, params: Mapping[str, Any]) -> Trial | None:
    """The first pending trial with this configuration."""
    domain, state = context.domain, context.state
    [wanted] = domain.key(domain.encode(params))
    keys = domain.key(context.model.encoded.pending(state.pending))
    pairs = zip(state.pending.values(), keys, strict=True)
    return next((trial for trial, key in pairs if key == wanted), None)


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
        raise InputError(message)
    return checked_cost(cost)
