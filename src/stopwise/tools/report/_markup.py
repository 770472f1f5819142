# SPDX-License-Identifier: Apache-2.0
"""Markup from values: the one place where text becomes HTML or SVG, and the one that escapes it.

``el`` takes text and markup; text is escaped, always. So a string of the user can only become a
tag by being called ``Markup``, which nothing outside this package does.
"""

from __future__ import annotations

from html import escape

# Elements without content, and shapes, which have none here.
_EMPTY = frozenset({"meta", "input", "path", "line", "rect", "circle"})
# What XML does not allow, and what would be obeyed rather than shown: changes of direction.
_TURNS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROL = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127, *_TURNS, 65534, 65535), "\ufffd")


class Markup(str):
    """Text that is markup already and is not escaped again."""

    __slots__ = ()


def text(value: object) -> Markup:
    """Anything as escaped text; what cannot be written in UTF-8 is replaced."""
    if isinstance(value, Markup):
        return value
    plain = str(value).encode("utf-8", "replace").decode("utf-8")
    return Markup(escape(plain.translate(_CONTROL)))


def join(*parts: object) -> Markup:
    """Parts side by side, each escaped unless it is markup."""
    return Markup("".join(map(text, parts)))


def el(name: str, /, *children: object, **attributes: object) -> Markup:
    """An element.

    Args:
        name: Of the element.
        *children: Text (escaped) and markup.
        **attributes: An underscore stands for a hyphen and a last one for nothing; None and
            False leave the attribute out, True gives it without a value.

    Example:
        >>> el("p", "a < b", el("b", "bold"), class_="note", hidden=False)
        '<p class="note">a &lt; b<b>bold</b></p>'
    """
    opened = name + "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{text(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _EMPTY:
        return Markup(f"<{opened}/>")
    return Markup(f"<{opened}>{join(*children)}</{name}>")


def region(label: str, table: Markup, style: str = "") -> Markup:
    """A table that scrolls by itself where the screen is narrow, also by keyboard."""
    kind = f"scroll {style}".rstrip()
    return el("div", table, class_=kind, tabindex=0, role="region", aria_label=label)


def shortened(value: object, most: int) -> str:
    """Text of at most so many characters; what is cut off leaves a mark."""
    plain = str(value)
    return plain if len(plain) <= most else plain[: most - 1] + "\u2026"
