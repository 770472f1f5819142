# SPDX-License-Identifier: Apache-2.0
"""The journal: every event of a study as a line of JSON, on disk before the call returns.

The format is documented in docs/journal.md. It contains no pickle, and reading it executes no
code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from stopwise.core.space import Domain
from stopwise.errors import JournalError
from stopwise.record.events import Event
from stopwise.record.journal._lines import as_line, from_line
from stopwise.record.journal.codec import ParamsCodec, space_as_json
from stopwise.record.journal.file import LineFile, read_lines
from stopwise.record.state import State

__all__ = ["Journal", "JournalContent", "ResumeWarning", "look_at", "reopen"]

SCHEMA = 1


class ResumeWarning(UserWarning):
    """A warning about a journal that was resumed: something was repaired or changed."""


class Journal:
    """A journal that is being written.

    Args:
        file: The open file.
        domain: The study's space.
    """

    def __init__(self, file: LineFile, domain: Domain) -> None:
        self._file = file
        self._params = ParamsCodec(domain)

    @classmethod
    def begin(
        cls,
        path: str | PathLike[str],
        domain: Domain,
        options: Mapping[str, Any],
        version: str,
        at: float,
    ) -> Journal:
        """Begin a journal with its header; a file that exists is refused.

        Args:
            path: Path of the file.
            domain: The study's space.
            options: The study's options, as JSON.
            version: Version of this package.
            at: Time of the call, in seconds since 1970.
        """
        header = {
            "journal": "stopwise",
            "schema": SCHEMA,
            "version": version,
            "at": at,
            "space": space_as_json(domain),
            "options": options,
        }
        return cls(LineFile.create(_absolute(path), header), domain)

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self._file.path

    def append(self, event: Event, **stamps: float) -> None:
        """Write an event; it is on disk when this returns.

        Args:
            event: The event.
            **stamps: ``at``, the time, and ``seconds``, how long the call took.
        """
        self._file.append({**as_line(event, self._params), **stamps})

    def close(self) -> None:
        """Close the file and release its lock."""
        self._file.close()


@dataclass(frozen=True, slots=True)
class JournalContent:
    """The content of a journal.

    Args:
        path: Path of the file.
        lines: Its lines, the header first.
        torn: Number of bytes of a last line that was cut short and removed.
    """

    path: Path
    lines: list[dict[str, Any]]
    torn: int = 0

    @property
    def header(self) -> dict[str, Any]:
        """The first line; a schema that this version cannot read is refused."""
        header = self.lines[0]
        if header.get("schema") != SCHEMA:
            message = (
                f"{self.path} has schema {header.get('schema')!r}, written by stopwise"
                f" {header.get('version')!r}; this version reads schema {SCHEMA}. Use the stopwise"
                " that wrote it, or a newer one. The file was left as it is."
            )
            raise JournalError(message)
        return header

    @property
    def options(self) -> dict[str, Any]:
        """The options of the header with the changes of all resumes, as JSON."""
        options = dict(self.header["options"])
        for line in self.lines:
            if line.get("event") == "resume":
                options |= {name: new for name, (_, new) in line["changed"].items()}
        return options

    def state(self, domain: Domain) -> State:
        """The state after all events; the error for a bad line gives its number."""
        params, state = ParamsCodec(domain), State()
        for number, line in enumerate(self.lines[1:], start=2):
            try:
                state.apply(from_line(line, params))
            except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
                message = (
                    f"line {number} of {self.path} is not understood ({type(error).__name__}:"
                    f" {error}): restore the file from a copy. It was left as it is."
                )
                raise JournalError(message) from error
        return state


def look_at(path: str | PathLike[str]) -> JournalContent:
    """Read a journal, also one that is being written; nothing is locked or changed."""
    place = _absolute(path)
    return JournalContent(place, read_lines(place).lines)


def reopen(path: str | PathLike[str]) -> tuple[LineFile, JournalContent]:
    """Open a journal to append to it: the locked file, and its content."""
    file, read = LineFile.reopen(_absolute(path))
    return file, JournalContent(file.path, read.lines, read.torn)


def _absolute(path: str | PathLike[str]) -> Path:
    return Path(path).absolute()
