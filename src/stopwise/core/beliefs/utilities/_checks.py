# SPDX-License-Identifier: Apache-2.0
"""Checks of the numbers that utilities are made of."""

from __future__ import annotations

import math

import numpy as np

from stopwise.core.beliefs.laws import Loss
from stopwise.core.checks import as_number
from stopwise.core.numerics.limits import LARGEST_VALUE
from stopwise.errors import InputError, InputTypeError, shown


def checked_value(owner: str, name: str, given: object) -> float:
    """A value of the objective."""
    value = as_number(f"{owner}({name})", given, "Give a value of the objective.")
    if not abs(value) < LARGEST_VALUE:
        message = f"{owner}({name}={shown(given)}): give a value that the objective can have."
        raise InputError(message)
    return value


def checked_positive(owner: str, name: str, given: object, what: str) -> float:
    """A positive number."""
    value = as_number(f"{owner}({name})", given, f"Give {what}.")
    if not 0.0 < value < math.inf:
        raise InputError(f"{owner}({name}={shown(given)}): give {what}, a positive number.")
    return value


def checked_unit(owner: str, given: object) -> str:
    """The name of a currency."""
    if not isinstance(given, str):
        message = f'{owner}(unit={shown(given)}): give the name of a currency, such as "dollars".'
        raise InputTypeError(message)
    return given


def checked_within(loss: Loss, low: float, high: float, said: object) -> Loss:
    """A loss between bounds; refused where it is the same at every value that there can be.

    Args:
        loss: Minus the utility, of what is minimised.
        low: The lowest value that is possible, of what is minimised.
        high: The highest.
        said: The bounds as they were given.
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return loss
    best, worst = loss(np.array([low, high]))
    if best == worst:
        message = (
            f"within bounds={said} every value is worth {0.0 - best:g} by the utility, so that no"
            " evaluation could be worth its price. Give the utility in the unit of the values, or"
            " other bounds."
        )
        raise InputError(message)
    return loss


def wrong_way(owner: str, sign: float, where: str) -> InputError:
    """The error for a utility that falls where values get better."""
    direction, better = ("minimize", "lower") if sign > 0.0 else ("maximize", "higher")
    return InputError(
        f'{owner}: with direction="{direction}" a {better} value is better and must not be worth'
        f" less, but {where}. Turn the utility round, or give the other direction."
    )
