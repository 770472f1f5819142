# SPDX-License-Identifier: Apache-2.0
"""The journal: every event of a study as a line of JSON, on disk before the call returns.

The format is documented in docs/reference/journal.md. It contains no pickle, and reading it
executes no code.
"""

from __future__ import annotations

import itertools
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from stopwise.core.space import Domain
from stopwise.errors import JournalError, StopwiseError
from stopwise.record.events import Event
from stopwise.record.journal._lines import as_line, from_line
from stopwise.record.journal._lock import JournalInUseError
from stopwise.record.journal.codec import ParamsCodec, space_as_json
from stopwise.record.journal.file import LineFile, NextLine
from stopwise.record.journal.reading import SCHEMA, Read, is_unfinished, read_lines
from stopwise.record.state import State

__all__ = [
    "Journal",
    "JournalContent",
    "JournalInUseError",
    "ResumeWarning",
    "has_begun",
    "look_at",
    "reopen",
]


_MISREAD = (KeyError, TypeError, ValueError, IndexError, AttributeError)


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

    def next_line(self, event: Event, **stamps: float) -> NextLine:
        """The line of an event, as it is to be written now.

        Args:
            event: The event.
            **stamps: ``at``, the time, and ``seconds``, how long the call took.
        """
        return self._file.next_line({**as_line(event, self._params), **stamps})

    def write(self, line: NextLine) -> None:
        """Write a line; it is on disk when this returns. If interrupted, it may be repeated."""
        self._file.write(line)

    @property
    def is_in_place(self) -> bool:
        """Whether the file is the one that was written, at its path."""
        return self._file.is_in_place

    def move(self, path: str | PathLike[str] | None = None) -> Path:
        """Write all lines to another file and go on there.

        Args:
            path: Path of the new file; a free name beside the old one if left out.
        """
        old = self._file
        self._file = old.copied(_free_beside(old.path) if path is None else _absolute(path))
        old.close()
        return self._file.path

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
        """The first line."""
        return self.lines[0]

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
        params, state, number = ParamsCodec(domain), State(), 1
        try:
            for number, line in enumerate(self.lines[1:], start=2):  # noqa: B007  read below
                state = state.after(from_line(line, params))
        except _MISREAD as error:
            raise self._not_understood(number, error) from error
        return state

    @contextmanager
    def reading_header(self) -> Iterator[None]:
        """Turn the errors of a header that cannot be understood into one that names the line."""
        try:
            yield
        except StopwiseError:
            raise  # it says itself what is wrong with the space or the options
        except _MISREAD as error:
            raise self._not_understood(1, error) from error

    def _not_understood(self, number: int, error: Exception) -> JournalError:
        return JournalError(
            f"line {number} of {self.path} is not understood ({type(error).__name__}: {error}):"
            " restore the file from a copy. It was left as it is."
        )


def has_begun(path: str | PathLike[str]) -> bool:
    """Whether there is a journal to go on with; a file without a whole header is begun anew."""
    place = _absolute(path)
    try:
        if not stat.S_ISREG(place.stat().st_mode):
            return True  # a pipe, say, which is not to be waited for
        return not is_unfinished(place.read_bytes())
    except FileNotFoundError:
        return False
    except OSError:
        return True  # what is wrong with it is said when it is opened


def look_at(path: str | PathLike[str]) -> JournalContent:
    """Read a journal, also one that is being written; nothing is locked or changed."""
    place = _absolute(path)
    return _content(place, read_lines(place))


def reopen(
    path: str | PathLike[str], *, take_over: bool = False
) -> tuple[LineFile, JournalContent]:
    """Open a journal to append to it: the locked file, and its content.

    Args:
        path: Path of the file.
        take_over: Whether a study that this thread has opened on it before is closed, so that
            this one goes on in its place.
    """
    if take_over:
        LineFile.take_over(_absolute(path))
    file, read = LineFile.reopen(_absolute(path))
    return file, _content(file.path, read)


def _content(path: Path, read: Read) -> JournalContent:
    return JournalContent(path, read.lines, read.torn)


def _free_beside(path: Path) -> Path:
    names = (f"{path.stem}-moved{count or ''}{path.suffix}" for count in itertools.count())
    return next(place for name in names if not (place := path.with_name(name)).exists())


def _absolute(path: str | PathLike[str]) -> Path:
    return Path(path).absolute()
