# SPDX-License-Identifier: Apache-2.0
"""Telling: from what a user reports to an observation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stopwise.core.beliefs.prices import known_cost
from stopwise.core.checks import checked_cost, checked_params, checked_value
from stopwise.errors import InputError
from stopwise.record.history import Observation, Trial
from stopwise.record.outcomes import OUTCOMES, Outcome, outcome_of
from stopwise.study.context import StudyContext


def observation_of(
    context: StudyContext,
    trial: Trial | Mapping[str, Any],
    value: float | Outcome | None,
    cost: float | None,
    *,
    charge: bool | None,
    message: str,
) -> Observation:
    """The observation that ``tell`` reports; see ``Study.tell``."""
    told = _identified(context, trial)
    outcome = _outcome(value, message)
    asked = told.number in context.state.pending
    return Observation(
        told.number,
        told.params,
        outcome,
        _paid(context, told.params, cost, failed=outcome.value is None),
        asked if charge is None else charge,
        told.expected_cost,
    )


def _identified(context: StudyContext, told: Trial | Mapping[str, Any]) -> Trial:
    """The pending trial that is told, or a new one for data from elsewhere."""
    state = context.state
    if not isinstance(told, Trial):
        same = _pending_at(context, checked_params(told))
        return Trial(state.next, dict(told)) if same is None else same
    asked = state.pending.get(told.number)
    if asked is not None and all(told.params.get(k) == v for k, v in asked.params.items()):
        return asked
    if asked is not None:
        what = f"has params {dict(told.params)} where this study asked for {asked.params}"
    elif any(o.number == told.number for o in state.history):
        what = "was told already"
    else:
        what = "was not asked of this study"
    message = (
        f"trial {told.number} {what}; pending are {sorted(state.pending) or 'none'}."
        " Tell each trial once, as it was asked, or tell params (a dict) for data from"
        " elsewhere."
    )
    raise InputError(message)


def _pending_at(context: StudyContext, params: Mapping[str, Any]) -> Trial | None:
    """The first pending trial of a configuration."""
    domain, state = context.domain, context.state
    [wanted] = domain.key(domain.encode(params))
    keys = domain.key(context.model.encoded.pending(state.pending))
    pairs = zip(state.pending.values(), keys, strict=True)
    return next((trial for trial, key in pairs if key == wanted), None)


def _outcome(value: Any, message: str) -> Outcome:  # noqa: ANN401  what the user tells
    """The outcome that is told; a value that is no finite number is a failure."""
    if type(value) in OUTCOMES.values():
        told: Outcome = value
        return told
    checked = checked_value(value)
    if checked is None and value is not None:
        message = message or f"the value was {value!r}"
    return outcome_of(checked, message)


def _paid(
    context: StudyContext, params: Mapping[str, Any], given: float | None, *, failed: bool
) -> float:
    """What was paid: as told, or as it was known in advance."""
    cost = known_cost(context.cost_model, context.domain, params) if given is None else given
    if cost is None and failed:
        return 0.0  # what it cost before it failed, nobody can say
    if cost is None:
        message = (
            "a cost is missing: this study learns costs from what is paid, so tell it:"
            " study.tell(trial, value, cost). With minimize(), cost='seconds' measures it and"
            " cost='reported' reads it from an objective that returns (value, cost)."
        )
        raise InputError(message)
    return checked_cost(cost)
