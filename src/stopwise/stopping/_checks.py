# SPDX-License-Identifier: Apache-2.0
"""Checks of the parameters that rules take."""

from __future__ import annotations

import math
import numbers

from stopwise.errors import InputError


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
