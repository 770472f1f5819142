# SPDX-License-Identifier: Apache-2.0
"""Measured outcomes that another package hands over, for the limits of a study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stopwise.core.outcome_limits import Limits, unmeasured
from stopwise.errors import InputError


def outcomes_of(
    reported: Mapping[str, Any],
    limits: Limits | None,
    *,
    who: str,
    how: str,
) -> tuple[dict[str, Any] | None, str]:
    """The outcomes with limits of an evaluation that has a value, and why it failed after all.

    Args:
        reported: What the other package knows of the evaluation, by name.
        limits: Of the study.
        who: What does not report an outcome, for messages: "trial 3".
        how: What to do about it, in a sentence.

    Returns:
        The outcomes, None without limits, and an empty text; or None and which was not measured.
    """
    missing = [name for name in limits or {} if reported.get(name) is None]
    if missing:
        names = ", ".join(map(str, reported)) or "nothing"
        message = (
            f"{who} does not report {missing[0]!r}, of which there are limits; it reports {names}."
            f" {how}"
        )
        raise InputError(message)
    if limits is None:
        return None, ""
    outcomes = {name: reported[name] for name in limits}
    name = unmeasured(outcomes, limits)
    return (outcomes, "") if name is None else (None, f"the outcome {name!r} is {outcomes[name]}")
