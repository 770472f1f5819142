# SPDX-License-Identifier: Apache-2.0
"""Limits and noise in words: what was measured beyond a limit, and what is believed of it.

Without noise what breaks a limit cannot be the best. With noise a single measurement does not
decide: a configuration that was measured beyond a limit may be believed within it, and be the
best. Where it is, everybody who shows the best says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stopwise.core.outcome_limits import as_interval, broken_limits, in_words
from stopwise.core.quantity import quantity
from stopwise.core.units import AnswerUnits
from stopwise.study.options import StudyOptions

if TYPE_CHECKING:
    from stopwise.study.result import Best


def measured_beyond(best: Best | None, options: StudyOptions) -> str:
    """That the best one was measured beyond a limit, in a sentence; empty if it was not."""
    limits = options.limits or {}
    broken = [] if best is None else broken_limits(best.outcomes, limits)
    if best is None or not broken:
        return ""
    said = [
        f"{name} {_beside(best.outcomes[name], *as_interval(*limits[name]))}"
        f" (the limit is {in_words(limits[name])})"
        for name in broken
    ]
    sentence = f"Trial {best.number} was measured beyond a limit, {' and '.join(said)}."
    if best.chance is None:
        return sentence
    return (
        f"{sentence} Measurements are noisy: this configuration is believed to keep all limits"
        f" with probability {quantity(best.chance)}, and from 0.5 on it may be the best."
    )


def _beside(value: float, *limits: float) -> str:
    """A measured value with as many digits as tell it from its limits."""
    return quantity(value, *(limit for limit in limits if abs(limit) < float("inf")))


def within_words(best: Best, options: StudyOptions) -> str:
    """The same in a few words that follow the number of the trial; empty if it was not."""
    if best.chance is None or not broken_limits(best.outcomes, options.limits):
        return ""
    return f", within all limits with probability {quantity(best.chance)}"


def none_keeps(options: StudyOptions) -> str:
    """What no evaluation has done while limits keep all of them from being the best."""
    return "has kept all limits" if options.noise is None else "is believed to keep all limits"


def beyond_words(units: AnswerUnits) -> str:
    """What an evaluation is called whose measured outcomes are beyond a limit."""
    return "measured beyond a limit" if units.noisy else "infeasible"
