# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them in sentences."""


def quantity(value: float) -> str:
    """A number as people read it: four significant digits."""
    return f"{value:.4g}"
