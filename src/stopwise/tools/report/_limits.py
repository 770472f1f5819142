# SPDX-License-Identifier: Apache-2.0
"""The limits of a study and its fallback, in words."""

from __future__ import annotations

from stopwise.core.outcome_limits import in_words
from stopwise.study.options import StudyOptions
from stopwise.tools.report._axis import number


def limits_of(options: StudyOptions) -> list[tuple[str, str, str]]:
    """For each limit, and the fallback: a name, what it is, and what that means."""
    said = [
        (f"Limit of {name}", in_words(bounds), "on the limit is within")
        for name, bounds in (options.limits or {}).items()
    ]
    if options.fallback is not None:
        means = "what you have if nothing keeps the limits"
        said.append(("Fallback", number(options.fallback), means))
    return said
