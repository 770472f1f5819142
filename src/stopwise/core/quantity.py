# SPDX-License-Identifier: Apache-2.0
"""The format of numbers in sentences."""

import math

_FEWEST, _MOST = 4, 10  # significant digits


def quantity(value: float, *beside: float) -> str:
    """A number as text, with four significant digits, and no power of ten where none is needed.

    Args:
        value: The number.
        beside: Numbers that it is compared with in the same sentence: there are as many digits as
            tell it apart from them, up to ten.

    Example:
        >>> [quantity(value) for value in (18.550098781996915, 0.00031, 12345.678, 2.5e9, 1e-7)]
        ['18.55', '0.00031', '12,346', '2.5e+09', '1e-07']
        >>> quantity(0.150004, 0.15), quantity(0.15, 0.150004)
        ('0.150004', '0.15')
    """
    others = [other for other in beside if other != value and math.isfinite(other)]
    digits = _FEWEST
    while digits < _MOST and any(_text(value, digits) == _text(o, digits) for o in others):
        digits += 1
    return _text(value, digits)


def _text(value: float, digits: int) -> str:
    if 9999.5 <= abs(value) < 1e7:
        return f"{value:,.{digits - _FEWEST}f}"
    return f"{value:z.{digits}g}"  # z: zero has no sign


def measured(value: float, std: float = 0.0, *beside: float) -> str:
    """A value with its deviation, and no digits that the deviation leaves in doubt.

    Args:
        value: The value.
        std: Its deviation; 0 if it is exact.
        beside: Exact values that it is compared with; see ``quantity``.

    Example:
        >>> measured(18.550098781996915), measured(18.550098781996915, 0.2317)
        ('18.55', '18.55 +- 0.23')
    """
    if not (std > 0.0 and math.isfinite(std) and math.isfinite(value)):
        return quantity(value, *beside)
    spread = f"{std:.2g}"
    decimals = 1 - math.floor(math.log10(float(spread)))
    if not 0 <= decimals <= 6:
        return f"{quantity(value)} +- {spread}"
    return f"{value:z.{decimals}f} +- {std:.{decimals}f}"


def percent(share: float) -> str:
    """A share between 0 and 1 as text; small shares keep one digit.

    Example:
        >>> [percent(share) for share in (1.0, 0.617, 0.034, 0.0021, 1e-9)]
        ['100 %', '62 %', '3 %', '0.2 %', 'less than 0.1 %']
    """
    if 0.0 < share < 0.001:
        return "less than 0.1 %"
    return f"{100.0 * share:.0f} %" if share >= 0.01 or share == 0.0 else f"{100.0 * share:.1f} %"
