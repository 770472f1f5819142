# SPDX-License-Identifier: Apache-2.0
"""Ratios and configurations as people read them, and no longer than fits."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from stopwise.core.quantity import quantity

_LONGEST_VALUE = 24


def times(ratio: float) -> str:
    """A ratio: 3.2 times, more than 1000 times, less than 0.001 times."""
    if ratio > 1000:
        return "more than 1000 times"
    if ratio < 0.001:
        return "less than 0.001 times"
    return f"{ratio:.2g} times" if ratio < 100 else f"{ratio:.0f} times"


def configuration(params: Mapping[str, Any]) -> str:
    """Params on one line, each value shortened."""
    return " ".join(f"{shortened(name)}={_value(value)}" for name, value in params.items())


def _value(value: object) -> str:
    if isinstance(value, float):  # NumPy's double is one of them
        return quantity(value)
    return shortened(str(value))


def printable(text: str) -> str:
    r"""Text for a terminal: what it would obey rather than show is written as an escape.

    Programs and files from elsewhere may say anything, ``\x1b[2J`` (clear the screen) too.

    Example:
        >>> print(printable("\x1b[2Jgone"))
        \x1b[2Jgone
    """
    if text.isprintable():
        return text
    return "".join(c if _is_shown(c) else c.encode("unicode_escape").decode() for c in text)


def _is_shown(character: str) -> bool:
    is_space = character in "\n\t" or unicodedata.category(character) == "Zs"
    return is_space or character.isprintable()


def shortened(text: str, longest: int = _LONGEST_VALUE) -> str:
    """Text on one line, cut in the middle where it is too long; no control characters."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    if len(clean) <= longest:
        return clean
    head = (longest - 2) // 2
    return f"{clean[:head]}..{clean[-(longest - 2 - head) :]}"
