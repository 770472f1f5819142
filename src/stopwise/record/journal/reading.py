# SPDX-License-Identifier: Apache-2.0
"""Reading a journal: its lines, each checked by its seal.

A last line that was cut short, by a crash while it was written, is left out. Every other damage
is an error that names the line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from stopwise.errors import JournalError
from stopwise.record.journal._seals import digest, seal_of, taken_apart

SCHEMA = 2
UNSEALED_SCHEMA = 1  # of version 0.1

Line = dict[str, Any]
HEADER_START = b'{"journal": "stopwise"'


class End(NamedTuple):
    """The end of the lines of a file.

    Args:
        size: Number of bytes up to there.
        seal: The last seal; where no line is sealed, the digest of everything up to there.
    """

    size: int
    seal: str


class Read(NamedTuple):
    """The content of a file.

    Args:
        lines: The lines, in order.
        end: Where they end.
        torn: Number of bytes of a last line that was cut short.
        is_terminated: Whether the newline of the last of these lines is there.
    """

    lines: list[Line]
    end: End
    torn: int = 0
    is_terminated: bool = True


def read_lines(path: Path) -> Read:
    """Every whole line of a journal; a last one that was cut short is counted and left out."""
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        message = f"there is no journal at {path}: check the path, or begin one with journal=..."
        shell = f"there is no journal {path.name}: check the path; stopwise new begins one."
        raise JournalError(message).or_in_shell(shell) from error
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}. Give a file that can be."
        raise JournalError(message) from error
    return parsed(path, content)


def is_unfinished(content: bytes) -> bool:
    """Whether a file is empty or ends within its header: nothing is lost if it is begun anew."""
    start = content.rstrip(b"\0")[: len(HEADER_START)]
    return b"\n" not in content and HEADER_START.startswith(start)


def parsed(path: Path, content: bytes) -> Read:
    """The lines of a journal.

    Args:
        path: Path of the file, for messages.
        content: The content of the file.
    """
    *whole, rest = content.split(b"\n")
    reader = _Reader(content)
    _take_header(path, reader, whole)
    for number, text in enumerate(whole[1:], start=2):
        if reader.take(text):
            continue
        is_last = number == len(whole) and not rest
        if is_last and _is_torn(text, reader):
            return Read(reader.lines, reader.end, torn=len(text) + 1)
        raise _damaged(path, number, is_last=is_last)
    text = rest[: rest.rfind(b"}") + 1]
    if len(rest) <= len(text) + 1 and taken_apart(text) and reader.take(text):
        return Read(reader.lines, reader.end, is_terminated=False)
    return Read(reader.lines, reader.end, torn=len(rest))


def _is_torn(text: bytes, reader: _Reader) -> bool:
    """Whether a harmed last line is one whose newline reached the disk while the rest did not.

    Then it has blocks of zeros, more than one flipped bit can make. Of lines without seals, as
    version 0.1 wrote them, nothing else can be told from this.
    """
    return b"\0\0" in text or (reader.seal is None and taken_apart(text) is None)


class _Reader:
    """Takes the lines of a file one after the other, as long as they are unharmed."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._size = 0
        self.lines: list[Line] = []
        self.seal: str | None = None  # of the last line; None while none is sealed

    @property
    def end(self) -> End:
        """The end of the lines that were taken."""
        unsealed = self.seal is None
        return End(
            self._size, digest(self._content[: self._size]) if unsealed else self.seal or ""
        )

    def take(self, text: bytes) -> bool:
        """Take the next line; False if it is harmed."""
        apart = taken_apart(text)
        if apart is None:
            unharmed = self.seal is None
        else:
            unharmed = apart.seal == seal_of(apart.text, self.end.seal)
        line = as_object(text) if unharmed else None
        if line is None:
            return False
        self.lines.append(line)
        self._size += len(text) + 1
        self.seal = None if apart is None else apart.seal
        return True


def as_object(text: bytes) -> Line | None:
    """A line as a dict; None if it is not a JSON object."""
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):  # not JSON, or not UTF-8
        return None
    return line if isinstance(line, dict) else None


def _take_header(path: Path, reader: _Reader, whole: list[bytes]) -> None:
    header = as_object(whole[0]) if whole else None
    if header is None or header.get("journal") != "stopwise":
        message = (
            f"{path} is no journal of stopwise: its first line is not a header, or is damaged."
            " Give the file that journal=... wrote. It was left as it is."
        )
        raise JournalError(message)
    schema = header.get("schema")
    if schema not in (UNSEALED_SCHEMA, SCHEMA):
        message = (
            f"line 1 of {path} says schema {schema!r}, written by stopwise"
            f" {header.get('version')!r}; this version reads schema {UNSEALED_SCHEMA} and"
            f" {SCHEMA}. Use the stopwise that wrote it, or a newer one; if that was this one, the"
            " line is damaged. The file was left as it is."
        )
        raise JournalError(message)
    if not reader.take(whole[0]) or (reader.seal is None) != (schema == UNSEALED_SCHEMA):
        raise _damaged(path, 1, is_last=False)


def _damaged(path: Path, number: int, *, is_last: bool) -> JournalError:
    before = ", or lines before it are missing, repeated or in another order" if number > 1 else ""
    remedy = (
        " If the machine crashed while this last line was written, remove it." if is_last else ""
    )
    return JournalError(
        f"line {number} of {path} is damaged{before}: restore the file from a copy.{remedy} It was"
        " left as it is."
    )
