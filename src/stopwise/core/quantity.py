# SPDX-License-Identifier: Apache-2.0
"""The format of numbers in sentences."""


def quantity(value: float) -> str:
    """A number as text, with four significant digits."""
    return f"{value:.4g}"


def percent(share: float) -> str:
    """A share between 0 and 1 as text; small shares keep one digit.

    Example:
        >>> [percent(share) for share in (1.0, 0.617, 0.034, 0.0021, 1e-9)]
        ['100 %', '62 %', '3 %', '0.2 %', 'less than 0.1 %']
    """
    if 0.0 < share < 0.001:
        return "less than 0.1 %"
    return f"{100.0 * share:.0f} %" if share >= 0.01 or share == 0.0 else f"{100.0 * share:.1f} %"
