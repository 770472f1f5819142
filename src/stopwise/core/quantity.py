# SPDX-License-Identifier: Apache-2.0
"""The format of numbers in sentences."""


def quantity(value: float) -> str:
    """A number as text, with four significant digits."""
    return f"{value:.4g}"
