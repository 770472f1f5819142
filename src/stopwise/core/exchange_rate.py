# SPDX-License-Identifier: Apache-2.0
"""Lambda, the exchange rate between objective and cost: objective units per unit of cost."""

from __future__ import annotations

import math
import numbers

from stopwise.errors import InputError

HOW_TO_CHOOSE_LAM = (
    "lam says what a unit of cost is worth in objective units. If you would pay 1000 seconds for"
    " an improvement of 0.01, give lam=sw.exchange_rate(improvement=0.01, cost=1000)."
)


def exchange_rate(*, improvement: float, cost: float) -> float:
    """Lambda from a trade you would just accept: ``cost`` for ``improvement``.

    Args:
        improvement: A gain, in objective units. (Accuracy in [0, 1] and in percent differ by
            a factor of 100; so does lambda.)
        cost: What you would pay for it, in units of cost.

    Returns:
        improvement/cost, in objective units per unit of cost.

    Example:
        >>> exchange_rate(improvement=0.01, cost=1000)  # I would pay 1000 s for 0.01
        1e-05
    """
    for name, value in (("improvement", improvement), ("cost", cost)):
        if not _is_positive(value):
            message = (
                f"exchange_rate({name}={value!r}): both must be positive numbers: an improvement"
                " in objective units, and what you would pay for it in units of cost."
            )
            raise InputError(message)
    return improvement / cost


def check_lam(lam: object) -> None:
    """Refuse what is not a positive number, and say how to choose one."""
    if not _is_positive(lam):
        message = f"lam must be a positive number, got {lam!r}. {HOW_TO_CHOOSE_LAM}"
        raise InputError(message)


def _is_positive(value: object) -> bool:
    """Whether this is a positive finite number; True is not a number."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return number and math.isfinite(value) and value > 0  # type: ignore[arg-type, operator]
