# SPDX-License-Identifier: Apache-2.0
"""Evaluations: what an objective may return where a number is not enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stopwise.core.one_objective import INSTEAD
from stopwise.errors import InputTypeError, shown

_KEYS = ("value", "cost", "outcomes")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The value of an objective, what it cost, and what was measured besides.

    Args:
        value: The value; None if the evaluation failed.
        cost: What it cost, with ``cost="reported"``.
        outcomes: Measured outcomes by name: each that has ``limits``, and any others that are to
            be on record.

    Example:
        >>> Evaluation(0.31, outcomes={"toxicity": 2.1}).outcomes["toxicity"]
        2.1
    """

    value: float | None
    cost: float | None = None
    outcomes: Mapping[str, float] = field(default_factory=dict)


def as_evaluation(returned: object) -> Evaluation | None:
    """An evaluation, or a mapping with its keys; None for anything else."""
    if isinstance(returned, Evaluation):
        return _checked(returned)
    if not isinstance(returned, Mapping):
        return None
    if "value" not in returned or not set(returned) <= set(_KEYS):
        message = (
            f"{shown(returned)} is no evaluation: a dict has 'value' and, where they are needed,"
            " 'cost' and 'outcomes' (a dict of what was measured, by name). Give these, a number,"
            f" or sw.Evaluation(...); {INSTEAD}."
        )
        raise InputTypeError(message)
    outcomes = returned.get("outcomes")
    return _checked(
        Evaluation(returned["value"], returned.get("cost"), {} if outcomes is None else outcomes)
    )


def _checked(given: Evaluation) -> Evaluation:
    """The evaluation; refused if outcomes stand where the cost belongs, or are no dict."""
    cost: object = given.cost
    outcomes: object = given.outcomes
    if isinstance(cost, Mapping) or not isinstance(outcomes, Mapping):
        message = (
            f"{shown(given)}: outcomes are a dict of what was measured, and given by name:"
            " sw.Evaluation(value, outcomes={'toxicity': 2.1})."
        )
        raise InputTypeError(message)
    return given


def unpacked(
    value: Any,  # noqa: ANN401  what the user tells
    cost: float | Sequence[float] | None,
    outcomes: Mapping[str, float] | None,
) -> tuple[Any, float | Sequence[float] | None, Mapping[str, float] | None]:
    """Value, cost and outcomes that are told; those of an ``Evaluation`` if the value is one."""
    more = as_evaluation(value)
    if more is None:
        return value, cost, outcomes
    if (cost is not None and more.cost is not None) or (outcomes and more.outcomes):
        message = (
            f"{shown(value)} has a cost or outcomes, and others are told beside it: tell one."
        )
        raise InputTypeError(message)
    return more.value, more.cost if cost is None else cost, outcomes or more.outcomes or None
