# SPDX-License-Identifier: Apache-2.0
"""Checks of the parameters that rules take."""

from __future__ import annotations

import numbers

from stopwise.core.numerics.limits import LARGEST_AMOUNT, LEAST_AMOUNT, as_float, is_amount
from stopwise.errors import InputError, shown

_MOST = 10**12  # of whole numbers


def check_positive(owner: str, name: str, value: object) -> float:
    """A parameter that is a positive number; a whole number stays one, as it names signals."""
    number = as_float(value)
    if not is_amount(number):
        beyond = f", from {LEAST_AMOUNT:g} to {LARGEST_AMOUNT:g}" if number > 0.0 else ""
        message = f"{owner}({name}={shown(value)}): {name} must be a positive number{beyond}."
        raise InputError(message)
    return value if isinstance(value, int) and value <= _MOST else number


def check_count(owner: str, name: str, value: object) -> None:
    """Refuse a parameter that is not a whole number from 1 to 10**12."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or not 1 <= value <= _MOST:  # type: ignore[operator]
        beyond = " and at most 10**12" if whole and value > 1 else ""  # type: ignore[operator]
        message = (
            f"{owner}({name}={shown(value)}): {name} must be a whole number of at least 1{beyond}."
        )
        raise InputError(message)
