# SPDX-License-Identifier: Apache-2.0
"""HTML tables, as which objects of stopwise are shown in notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stopwise.core.quantity import quantity

_LONGEST = 80  # characters of a cell


def html_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as HTML; whatever is in it is escaped, and long texts are cut.

    Example:
        >>> html_table(["x"], [[0.123456]])
        '<table><thead><tr><th>x</th></tr></thead><tbody><tr><td>0.1235</td></tr></tbody></table>'
    """
    titles = "".join(f"<th>{_text(title)}</th>" for title in head)
    body = "".join(f"<tr>{''.join(f'<td>{_text(c)}</td>' for c in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def _text(cell: object) -> str:
    from html import escape  # only where somebody looks

    text = quantity(cell) if isinstance(cell, float) else str(cell)
    return escape(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...")
