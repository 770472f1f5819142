# SPDX-License-Identifier: Apache-2.0
"""What a stopping rule is: two pure methods and a few names."""

from __future__ import annotations

import math
import numbers
from typing import Protocol, runtime_checkable

from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Scale, Signal, Trace
from stopwise.errors import InputError
from stopwise.stopping.verdict import Verdict


@runtime_checkable
class StoppingRule(Protocol):
    """A stopping rule.

    ``signal`` may be costly; it is recorded once per number of observations under ``key``, which
    names exactly what the number depends on. ``verdict`` is free and reads recorded signals only.
    """

    @property
    def name(self) -> str:
        """What it is called in ``RULES``."""
        ...

    @property
    def signal_scale(self) -> Scale:
        """``"log"`` if the signal is a logarithm."""
        ...

    @property
    def key(self) -> str:
        """Under which name the signal is recorded; rules with the same signal share it."""
        ...

    def signal(self, snapshot: Snapshot) -> Signal:
        """The number that decides, now."""
        ...

    def verdict(self, trace: Trace) -> Verdict:
        """The answer, from what was recorded."""
        ...


def check_positive(owner: str, name: str, value: object) -> None:
    """Refuse a parameter that is not a positive finite number."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not (number and math.isfinite(value) and value > 0):  # type: ignore[arg-type, operator]
        message = f"{owner}({name}={value!r}): {name} must be a positive number."
        raise InputError(message)


def check_count(owner: str, name: str, value: object) -> None:
    """Refuse a parameter that is not a whole number of at least one."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        message = f"{owner}({name}={value!r}): {name} must be a whole number of at least 1."
        raise InputError(message)
