# SPDX-License-Identifier: Apache-2.0
"""The file of a journal: lines of JSON, created atomically, appended to by one writer at a time.

Its lock (``_lock.py``) is released when its process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from stopwise.errors import JournalError
from stopwise.record.journal._creation import created, unusable, write_at
from stopwise.record.journal._lock import BINARY, lock, release
from stopwise.record.journal._seals import as_bytes, digest, sealed
from stopwise.record.journal.reading import End, Read, parsed, read_lines


class NextLine(NamedTuple):
    """A line that is to be written.

    Args:
        before: The end of the file that it is to follow.
        data: The line as it is written.
        end: The end of the file once it is written.
    """

    before: End
    data: bytes
    end: End


class LineFile:
    """An open journal; see ``create`` and ``reopen``."""

    def __init__(self, path: Path, descriptor: int, content: bytes, end: End) -> None:
        self.path = path
        self._descriptor: int | None = descriptor
        self._end = end
        self._written = {0: content}  # by position: all of it can be saved if the file is lost
        self._is_writing = False  # stays True if a write was interrupted
        self._is_taken_over = False  # by a later study of the same thread
        self._thread = threading.get_ident()
        _OPEN.add(self)

    @classmethod
    def create(cls, path: Path, header: Mapping[str, Any]) -> LineFile:
        """Create a file with its first line; a file that exists is never replaced."""
        line = _next_line(header, End(0, digest(b"")))
        return cls(path, created(path, line.data), line.data, line.end)

    @classmethod
    def take_over(cls, path: Path) -> bool:
        """Close a file that this thread itself has opened before; whether there was one.

        So the cell of a notebook that resumes a study may be run twice.
        """
        held = [file for file in list(_OPEN) if file._is_at(path)]  # noqa: SLF001  its own class
        for file in held:
            file.close()
            file._is_taken_over = True  # noqa: SLF001  its own class
        return bool(held)

    def _is_at(self, path: Path) -> bool:
        """Whether it is open, at rest, and the file at a path."""
        elsewhere = self._thread != threading.get_ident()
        if self._descriptor is None or self._is_writing or elsewhere:
            return False
        with contextlib.suppress(OSError):
            return os.path.samestat(os.fstat(self._descriptor), path.stat())
        return False

    @classmethod
    def reopen(cls, path: Path) -> tuple[LineFile, Read]:
        """Open a file to append to it; a last line that was cut short is removed."""
        try:
            descriptor = os.open(path, os.O_RDWR | BINARY)
        except FileNotFoundError:
            read_lines(path)  # raises the error that explains this
            raise
        except OSError as error:
            raise unusable(path, error) from error
        try:
            lock(descriptor, path)
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                content = file.read()
            read = parsed(path, content)
            size = read.end.size
            if read.torn or not read.is_terminated:
                write_at(descriptor, b"\n", size - 1)
                os.ftruncate(descriptor, size)
                os.fsync(descriptor)
        except BaseException:
            release(descriptor)
            raise
        return cls(path, descriptor, content[: size - 1] + b"\n", read.end), read

    def next_line(self, line: Mapping[str, Any]) -> NextLine:
        """A line as it is to be written now."""
        return _next_line(line, self._end)

    def write(self, line: NextLine) -> None:
        """Write a line; it is on disk when this returns. After an error the file is as before.

        If this was interrupted, the same line may be written again, with the same result.
        """
        if self._end is not line.before:
            return  # it was written already
        descriptor = self._in_place()
        try:
            if self._is_writing:  # remove what an interrupted write has left
                os.ftruncate(descriptor, line.before.size)
            self._is_writing = True
            self._written[line.before.size] = line.data
            write_at(descriptor, line.data, line.before.size)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, line.before.size)
            raise unusable(self.path, error) from error
        self._end, self._is_writing = line.end, False

    def copied(self, path: Path) -> LineFile:
        """A copy of this file at another path, to be written in its place."""
        written = (data for at, data in sorted(self._written.items()) if at < self._end.size)
        content = b"".join(written)
        return LineFile(path, created(path, content), content, self._end)

    def close(self) -> None:
        """Close the file and release its lock."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            release(descriptor)

    def _opened(self) -> int:
        if self._descriptor is None:
            message = f"{self.path} is closed: go on with Study.resume({str(self.path)!r})."
            if self._is_taken_over:
                message = (
                    f"Study.resume has opened {self.path} again, and the study that it returned"
                    " goes on in place of this one, which can only be looked at: use that one."
                )
            raise JournalError(message)
        return self._descriptor

    @property
    def is_in_place(self) -> bool:
        """Whether the open file is the one at its path, as it was left."""
        return not self._displaced(self._opened())

    def _in_place(self) -> int:
        """The open file; an error if it is not the one at its path, or not as it was left."""
        descriptor = self._opened()
        what = self._displaced(descriptor)
        if not what:
            return descriptor
        message = (
            f"{self.path} {what} while this study was using it, so nothing can be added to it. The"
            " study is in memory as it was before this call: study.move_journal(path) writes all"
            " of it to another file and goes on there; then repeat the call."
        )
        shell = f"{self.path} {what} meanwhile, so nothing was added to it: repeat the command."
        raise JournalError(message).or_in_shell(shell)

    def _displaced(self, descriptor: int) -> str:
        """What somebody else did to the file, in words; empty if nothing."""
        here = os.fstat(descriptor)
        try:
            is_there = os.path.samestat(here, self.path.stat())
        except OSError:
            is_there = False
        if not is_there:
            return "was deleted, moved or replaced"
        if here.st_size < self._end.size:
            return "was cut short by somebody else"
        if here.st_size > self._end.size and not self._is_writing:
            return "was written to by somebody else"
        return ""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_descriptor": None}  # a copy is closed: there is one writer

    def __del__(self) -> None:
        self.close()


def _next_line(line: Mapping[str, Any], before: End) -> NextLine:
    # A lone surrogate becomes the escape that JSON has for it.
    text = json.dumps(line, allow_nan=False, ensure_ascii=False).encode(errors="backslashreplace")
    entry = sealed(text, before.seal)
    data = as_bytes(entry)
    return NextLine(before, data, End(before.size + len(data), entry.seal))


# A forked child must not keep its parent's lock alive, nor write to the parent's file.
_OPEN: weakref.WeakSet[LineFile] = weakref.WeakSet()


def _close_in_child() -> None:
    for file in list(_OPEN):
        file.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)
