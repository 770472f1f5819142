# SPDX-License-Identifier: Apache-2.0
"""The file of a journal: lines of JSON, created atomically, appended to by one writer at a time.

POSIX only: the lock is ``flock``, which the kernel releases when its process ends, however it
ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from stopwise.errors import JournalError

Line = dict[str, Any]


class Read(NamedTuple):
    """The content of a file.

    Args:
        lines: The lines, in order.
        size: Number of bytes of these lines.
        torn: Number of bytes of a last line that was never finished.
    """

    lines: list[Line]
    size: int
    torn: int


def read_lines(path: Path) -> Read:
    """Every whole line of a journal; a last one that was cut short is counted and left out."""
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        message = f"there is no journal at {path}: check the path, or begin one with journal=..."
        raise JournalError(message) from error
    except OSError as error:
        raise _unusable(path, error) from error
    return _parsed(path, content)


def _parsed(path: Path, content: bytes) -> Read:
    *whole, rest = content.split(b"\n")
    lines = [_line(text) for text in whole]
    if not rest and lines and lines[-1] is None:  # its newline reached the disk, the rest did not
        lines, rest = lines[:-1], whole[-1] + b"\n"
    if not lines or lines[0] is None or lines[0].get("journal") != "stopwise":
        message = (
            f"{path} is no journal of stopwise: its first line is not a header. Give the file that"
            " journal=... wrote. It was left as it is."
        )
        raise JournalError(message)
    readable = [line for line in lines if line is not None]
    if len(readable) < len(lines):
        message = (
            f"line {lines.index(None) + 1} of {path} cannot be read, and others follow it, so it"
            " was not cut short by a crash: restore the file from a copy. It was left as it is."
        )
        raise JournalError(message)
    return Read(readable, len(content) - len(rest), len(rest))


def _line(text: bytes) -> Line | None:
    try:
        line = json.loads(text)
    except ValueError:  # not JSON, or not UTF-8
        return None
    return line if isinstance(line, dict) else None


class LineFile:
    """An open journal; see ``create`` and ``reopen``."""

    def __init__(self, path: Path, descriptor: int, size: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor
        self._size = size
        _OPEN.add(self)

    @classmethod
    def create(cls, path: Path, header: Mapping[str, Any]) -> LineFile:
        """Create a file: written and synced under a temporary name, then linked to its path."""
        data = _as_bytes(header)
        try:
            descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        except OSError as error:
            raise _unusable(path, error) from error
        try:
            _lock(descriptor, path)
            os.fchmod(descriptor, 0o666 & ~_umask())
            _write(descriptor, data)
            os.link(temporary, path)  # unlike a rename it never replaces a file
        except OSError as error:
            os.close(descriptor)
            raise _unusable(path, error) from error
        finally:
            os.unlink(temporary)  # noqa: PTH108  a string, not a Path
        _sync_folder(path)
        return cls(path, descriptor, len(data))

    @classmethod
    def reopen(cls, path: Path) -> tuple[LineFile, Read]:
        """Open a file to append to it; a last line that was cut short is removed."""
        try:
            descriptor = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            read_lines(path)  # raises the error that explains this
            raise
        except OSError as error:
            raise _unusable(path, error) from error
        try:
            _lock(descriptor, path)
            content = read_lines(path)
            if content.torn:
                os.ftruncate(descriptor, content.size)
                os.fsync(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(path, descriptor, content.size), content

    def append(self, line: Mapping[str, Any]) -> None:
        """Write a line; it is on disk when this returns. After an error the file is as before."""
        if self._descriptor is None:
            message = f"{self.path} is closed: go on with Study.resume({str(self.path)!r})."
            raise JournalError(message)
        data = _as_bytes(line)
        try:
            os.lseek(self._descriptor, self._size, os.SEEK_SET)
            _write(self._descriptor, data)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            raise _unusable(self.path, error) from error
        self._size += len(data)

    def close(self) -> None:
        """Close the file and release its lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        self.close()


def _as_bytes(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, allow_nan=False, ensure_ascii=False).encode() + b"\n"


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.fsync(descriptor)


def _lock(descriptor: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError as error:  # pragma: no cover  Windows
        message = "a journal needs the file locks of Linux or macOS; leave journal= out here."
        raise JournalError(message) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        message = (
            f"{path} is being written by another study, here or in another process: wait until it"
            " ends or close it. To look at it meanwhile use Study.load(path)."
        )
        raise JournalError(message) from error


def _sync_folder(path: Path) -> None:
    """Make the file's name itself survive a power cut."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _unusable(path: Path, error: OSError) -> JournalError:
    if isinstance(error, JournalError):
        return error
    if isinstance(error, FileExistsError):
        return JournalError(
            f"{path} exists already: go on with it by Study.resume({str(path)!r}), or give another"
            " path."
        )
    return JournalError(
        f"{path} cannot be used as a journal: {error.strerror or error}. Nothing of it was"
        " changed; give a path in a folder that exists, can be written to and has room."
    )


# A forked child must not keep its parent's lock alive, nor write to the parent's file.
_OPEN: weakref.WeakSet[LineFile] = weakref.WeakSet()


def _close_in_child() -> None:
    for file in list(_OPEN):
        file.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)
