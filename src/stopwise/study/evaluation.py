# SPDX-License-Identifier: Apache-2.0
"""Evaluations: what an objective may return where a number is not enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stopwise.errors import InputTypeError, shown

_KEYS = ("value", "cost", "outcomes")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The value of an objective, what it cost, and what was measured besides.

    Args:
        value: The value; None if the evaluation failed.
        cost: What it cost, with ``cost="reported"``.
        outcomes: Measured outcomes by name: each that has ``limits``.

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
        return returned
    if not isinstance(returned, Mapping):
        return None
    if "value" not in returned or not set(returned) <= set(_KEYS):
        message = (
            f"the objective returned {shown(returned)}: a dict has 'value' and, where they are"
            " needed, 'cost' and 'outcomes'. Return these, a number, or sw.Evaluation(...)."
        )
        raise InputTypeError(message)
    return Evaluation(returned["value"], returned.get("cost"), returned.get("outcomes") or {})
