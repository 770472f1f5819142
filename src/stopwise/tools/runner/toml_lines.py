# SPDX-License-Identifier: Apache-2.0
"""Line numbers of the keys of a TOML text, which ``tomllib`` does not keep.

The text must be valid TOML: ``tomllib`` has read it before, so nothing is checked here.
"""

from __future__ import annotations

import re
import tomllib
from typing import TypeAlias

Where: TypeAlias = tuple[str | int, ...]  # ("worth", "cost"), ("search", "start_from", 0, "lr")

_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\]|\\.)*"'
    r"|'[^']*'",
    re.DOTALL,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]*")
_SPACE = re.compile(r"[ \t]*")
_BLANK = re.compile(r"(?:\s|#[^\n]*)*")


def key_lines(text: str) -> dict[Where, int]:
    r"""Lines, from 1, of the first mention of every table, key and array element.

    Example:
        >>> key_lines("[worth]\ncost = 5\n")
        {('worth',): 1, ('worth', 'cost'): 2}
    """
    return _Walk(text).document()


class _Walk:
    """A position in the text, and the lines of the keys before it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.counted = (0, 1)  # a position, and its line
        self.line_of: dict[Where, int] = {}
        self.tables_of: dict[Where, int] = {}  # how many [[...]] an array has so far

    def document(self) -> dict[Where, int]:
        table: Where = ()
        self.skip(_BLANK)
        while self.at < len(self.text):  # each pass consumes a line at least: the text is valid
            if self.text.startswith("[", self.at):
                table = self.header()
            else:
                self.key_and_value(table)
            self.skip(_BLANK)
        return self.line_of

    def header(self) -> Where:
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        line = self.line()
        *outer, last = self.dotted_key()
        self.at += 2 if is_array else 1
        where: Where = ()
        for part in outer:
            where = self.noted((*where, part), line)
            where = self.current(where)
        where = self.noted((*where, last), line)
        if not is_array:
            return where
        self.tables_of[where] = self.tables_of.get(where, 0) + 1
        return self.noted(self.current(where), line)

    def current(self, where: Where) -> Where:
        """The path of the last table so far, if this is an array of tables."""
        count = self.tables_of.get(where)
        return where if count is None else (*where, count - 1)

    def key_and_value(self, table: Where) -> None:
        line = self.line()
        where = table
        for part in self.dotted_key():
            where = self.noted((*where, part), line)
        self.at += 1  # the equals sign
        self.skip(_SPACE)
        self.value(where)

    def value(self, where: Where) -> None:
        first = self.text[self.at]
        if first in "\"'":
            self.skip(_STRING)
        elif first == "[":
            self.array(where)
        elif first == "{":
            self.inline_table(where)
        else:
            self.skip(_BARE_VALUE)

    def array(self, where: Where) -> None:
        index = 0
        self.at += 1
        self.skip(_BLANK)
        while self.text[self.at] != "]":  # each pass consumes a value
            self.value(self.noted((*where, index), self.line()))
            index += 1
            self.comma()
        self.at += 1

    def inline_table(self, where: Where) -> None:
        self.at += 1
        self.skip(_BLANK)
        while self.text[self.at] != "}":  # each pass consumes a key and its value
            self.key_and_value(where)
            self.comma()
        self.at += 1

    def comma(self) -> None:
        self.skip(_BLANK)
        if self.text[self.at] == ",":
            self.at += 1
            self.skip(_BLANK)

    def dotted_key(self) -> list[str]:
        parts = []
        while True:  # each pass consumes a part of the text
            self.skip(_SPACE)
            quoted = self.text[self.at] in "\"'"
            raw = self.skip(_STRING if quoted else _BARE_KEY)
            parts.append(str(tomllib.loads(f"key = {raw}")["key"]) if quoted else raw)
            self.skip(_SPACE)
            if self.text[self.at] != ".":
                return parts
            self.at += 1

    def noted(self, where: Where, line: int) -> Where:
        self.line_of.setdefault(where, line)
        return where

    def line(self) -> int:
        position, line = self.counted
        self.counted = self.at, line + self.text.count("\n", position, self.at)
        return self.counted[1]

    def skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:  # not TOML, so tomllib has refused it already
            return ""
        self.at = match.end()
        return match.group()
