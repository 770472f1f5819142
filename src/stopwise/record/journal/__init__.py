# SPDX-License-Identifier: Apache-2.0
"""The journal: everything that happens to a study, a line of JSON each, on disk at once.

The format is documented in docs/journal.md. There is no pickle in it, and reading executes
nothing.
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
    """Something a user should know about a journal that goes on: a repair, a change."""


class Journal:
    """A journal that is being written.

    Args:
        file: Where.
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
            path: Of the file.
            domain: The study's space.
            options: Those of the study, as JSON.
            version: Of this package.
            at: When, in seconds since 1970.
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
        """Where it is."""
        return self._file.path

    def append(self, event: Event, **stamps: float) -> None:
        """Write an event; it is on disk when this returns.

        Args:
            event: What happened.
            **stamps: When, and how long it took.
        """
        self._file.append({**as_line(event, self._params), **stamps})

    def close(self) -> None:
        """Let others write to it."""
        self._file.close()


@dataclass(frozen=True, slots=True)
class JournalContent:
    """What a journal holds.

    Args:
        path: Of the file.
        lines: Its lines, the header first.
        torn: Bytes of a last line that was cut short and removed.
    """

    path: Path
    lines: list[dict[str, Any]]
    torn: int = 0

    @property
    def header(self) -> dict[str, Any]:
        """The first line; refused if a newer version wrote it."""
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
        """The options of the header, as resumes have changed them; JSON."""
        options = dict(self.header["options"])
        for line in self.lines:
            if line.get("event") == "resume":
                options |= {name: new for name, (_, new) in line["changed"].items()}
        return options

    def state(self, domain: Domain) -> State:
        """The study after all that happened; a line that cannot be applied is named."""
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
    """Open a journal to go on with it: the locked file, and what it holds."""
    file, read = LineFile.reopen(_absolute(path))
    return file, JournalContent(file.path, read.lines, read.torn)


def _absolute(path: str | PathLike[str]) -> Path:
    return Path(path).absolute()
