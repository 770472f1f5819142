# SPDX-License-Identifier: Apache-2.0
"""Tables of an audit as lines of text."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """The rows of a table as lines of text, with columns below each other."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = ("  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)) for r in table)
    return [line.rstrip() for line in lines]
