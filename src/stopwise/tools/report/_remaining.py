# SPDX-License-Identifier: Apache-2.0
"""The remaining gain: what could still be gained at which price, and warnings, in the report."""

from __future__ import annotations

import math

from stopwise.acquisition.one_observation import values_one_observation
from stopwise.tools.report._axis import number
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._markup import Markup, el
from stopwise.tools.report._tables import configuration

# How sentences begin that are shown.
_KEPT = (
    "Warning:",
    "All ",
    "Of ",
    "Drawn ",
    "The budget",
    "Never tried",
    "Without the constraints",
    "The best one has",
)


def remaining(facts: Facts) -> list[Markup]:
    """What could still be gained, and warnings about thresholds."""
    snapshot = facts.snapshot
    if snapshot is None or snapshot.t < 0:
        return []
    said = facts.study.explain().splitlines()
    if math.isinf(snapshot.best):  # where it is likeliest that all limits are kept
        return [el("p", line, class_="quiet") for line in said[1:]]
    if values_one_observation(snapshot):
        kept = ("The best remaining action", "One would go on", "No observation", *_KEPT)
        return [el("p", line, class_="quiet") for line in said if line.startswith(kept)]
    best = facts.study.remaining()
    lines = []
    if best is not None and best.gain is not None and best.lam is not None:
        gain = best.gain
        gained = facts.names.gain(gain) if facts.names.value_name else f"gain {number(gain)}"
        if facts.has_utility:
            gained = f"gain {number(gain)} {facts.units}"
        among = "Of what remains"
        if not best.affordable:
            among = "Nothing that remains is affordable. With more money"
        lines.append(
            f"{among}, the best candidate ({configuration(best.params)}) is expected to"
            f" {gained} and costs {facts.paid(best.cost)};"
            f" one would go on for any lam below {number(best.lam)}."
        )
    lines += facts.failing
    lines += [f"Note: {note}." for note in facts.study.notes]
    lines += [line for line in said if line.startswith(_KEPT)]
    return [el("p", line, class_="quiet") for line in lines]
