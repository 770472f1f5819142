# SPDX-License-Identifier: Apache-2.0
"""Actions: what a study with stages says is to be done next."""

from __future__ import annotations

from dataclasses import dataclass

from stopwise.record.history import Trial


@dataclass(frozen=True, slots=True)
class Start:
    """Begin a trial, and run it to a step.

    Args:
        trial: The trial.
        to_step: The step to run it to; None in a study without stages.
        fair_value: The fair value of starting it; None if no model chose it.
        worth: How many times its price it is worth, against the best finished value; None before
            any trial has finished.
    """

    trial: Trial
    to_step: int | None
    fair_value: float | None = None
    worth: float | None = None


@dataclass(frozen=True, slots=True)
class Continue:
    """Take a paused trial up again, and run it to a further step; otherwise as ``Start``."""

    trial: Trial
    to_step: int
    fair_value: float | None = None
    worth: float | None = None


Action = Start | Continue
