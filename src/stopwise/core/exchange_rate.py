# SPDX-License-Identifier: Apache-2.0
"""Lambda, the exchange rate between objective and cost: objective units per unit of cost."""

from __future__ import annotations

import math

import numpy as np

from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.limits import LARGEST_AMOUNT, LEAST_AMOUNT, as_float, is_amount
from stopwise.errors import InputError, shown

HOW_TO_CHOOSE_LAM = (
    "lam says what a unit of cost is worth in objective units. If you would pay 1000 seconds for"
    " an improvement of 0.01, give lam=sw.exchange_rate(improvement=0.01, cost=1000)."
)

_RANGE = (
    f" Numbers from {LEAST_AMOUNT:g} to {LARGEST_AMOUNT:g} are allowed: give objective and cost in"
    " units in which they are."
)


def exchange_rate(*, improvement: float, cost: float) -> float:
    """Lambda from a trade you would just accept: ``cost`` for ``improvement``.

    Args:
        improvement: A gain, in objective units. (Accuracy in [0, 1] and in percent differ by
            a factor of 100; so does lambda.)
        cost: What you would pay for it, in units of cost.

    Returns:
        improvement/cost, in objective units per unit of cost.

    Raises:
        InputError: One of them, or the rate, is not a number from 1e-300 to 1e300.

    Example:
        >>> exchange_rate(improvement=0.01, cost=1000)  # I would pay 1000 s for 0.01
        1e-05
    """
    for name, value in (("improvement", improvement), ("cost", cost)):
        if not is_amount(as_float(value)):
            message = (
                f"exchange_rate({name}={shown(value)}): both must be positive numbers: an"
                " improvement in objective units, and what you would pay for it in units of cost."
                f"{_RANGE}"
            )
            raise InputError(message)
    rate = as_float(improvement) / as_float(cost)
    if not is_amount(rate):
        message = (
            f"exchange_rate(improvement={improvement!r}, cost={cost!r}) is {rate!r}, which is no"
            f" exchange rate.{_RANGE}"
        )
        raise InputError(message)
    return rate


def in_objective_units(lam: float, log_price: Array) -> Array:
    """Prices in objective units, lam times the cost; within the range of costs."""
    with np.errstate(over="ignore"):
        prices = lam * np.exp(log_price)
    # np.clip takes several times as long on few points.
    return np.minimum(np.maximum(prices, LEAST_AMOUNT), LARGEST_AMOUNT)


def check_lam(lam: object) -> float:
    """An exchange rate as a float; what is none is refused, with how to choose one."""
    rate = as_float(lam)
    if not is_amount(rate):
        beyond = _RANGE if rate > 0.0 and lam != math.inf else ""
        message = f"lam must be a positive number, got {shown(lam)}.{beyond} {HOW_TO_CHOOSE_LAM}"
        raise InputError(message).or_in_shell(
            f"lam must be a positive number, got {shown(lam)}.{beyond} It says what a unit of cost"
            " is worth in objective units: 0.01 / 1000 if you would pay 1000 seconds for 0.01."
        )
    return rate
