# SPDX-License-Identifier: Apache-2.0
"""The range of the numbers that a study computes with.

Products of a few of them, and squares of values, stay within float64, which ends at about 1e308.
"""

from __future__ import annotations

import math
import numbers
from typing import cast

import numpy as np

from stopwise.core.numerics.arrays import Array

LARGEST_VALUE = 1e100  # of the objective, either way; what is beyond counts as diverged
LEAST_VALUE = 1e-100  # of the objective, either way; what is closer to 0 counts as 0
LEAST_AMOUNT, LARGEST_AMOUNT = 1e-300, 1e300  # of a cost, a budget and an exchange rate

_LOG_LARGEST = math.log(np.finfo(np.float64).max)


def as_modelled(values: Array | float) -> Array:
    """Values of the objective within the range that is modelled.

    Example:
        >>> as_modelled(np.array([1e-200, 0.5, -1e200]))
        array([ 0.e+000,  5.e-001, -1.e+100])
    """
    inside = np.clip(values, -LARGEST_VALUE, LARGEST_VALUE)
    return np.where(np.abs(inside) < LEAST_VALUE, 0.0 * inside, inside)


def as_float(given: object) -> float:
    """A number as a float, infinite beyond the floats; nan for what is no number, as True."""
    if isinstance(given, bool) or not isinstance(given, numbers.Real):
        return math.nan
    try:
        return float(given)
    except OverflowError:  # a whole number or a fraction
        return math.inf if cast("int", given) > 0 else -math.inf


def is_amount(number: float) -> bool:
    """Whether a number is positive, finite and within the range of costs and exchange rates."""
    return LEAST_AMOUNT <= number <= LARGEST_AMOUNT


def as_amount(number: float) -> float:
    """A positive number, moved into the range of costs and exchange rates."""
    return min(max(number, LEAST_AMOUNT), LARGEST_AMOUNT)


def exp_or_inf(exponent: float) -> float:
    """The exponential; infinite where it overflows.

    Example:
        >>> exp_or_inf(0.0), exp_or_inf(1e3)
        (1.0, inf)
    """
    return math.exp(exponent) if exponent <= _LOG_LARGEST else math.inf
