# SPDX-License-Identifier: Apache-2.0
"""Creating the file of a journal: it has its name only once its content is on disk.

Where the system knows files without a name (Linux), a process that is killed meanwhile leaves
nothing behind. Elsewhere it may leave one hidden file, which the next attempt uses.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from stopwise.errors import JournalError
from stopwise.record.journal._lock import BINARY, lock, release
from stopwise.record.journal.reading import is_unfinished


def created(path: Path, content: bytes) -> int:
    """Create a file, synced and locked; returns its descriptor.

    A file that exists is never replaced, except one that was begun and holds nothing.
    """
    try:
        _remove_unfinished(path)
        if not _CAN_LINK:
            return _exclusive(path, content)
        try:
            return _linked(path, content, hidden=None)
        except FileExistsError:
            raise
        except OSError:  # no files without a name here; or an error that occurs again
            return _linked(path, content, hidden=path.with_name(f".{path.name}.new"))
    except OSError as error:
        raise unusable(path, error) from error


def _linked(path: Path, content: bytes, hidden: Path | None) -> int:
    """Write a file without a name, or with a hidden one, and then link it to its path.

    Unlike a rename, a link never replaces a file.
    """
    if hidden is None:
        descriptor = os.open(path.parent, os.O_RDWR | _nameless(), 0o666)
    else:
        descriptor = os.open(hidden, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        lock(descriptor, path)
        try:
            os.ftruncate(descriptor, 0)
            write_at(descriptor, content, 0)
            _link(hidden or f"/proc/self/fd/{descriptor}", path)
        finally:
            if hidden is not None:
                hidden.unlink(missing_ok=True)
    except BaseException:
        release(descriptor)
        raise
    return descriptor


def _exclusive(path: Path, content: bytes) -> int:
    """Create a file by its name, where an open one can be neither linked nor renamed (Windows).

    A process that is killed meanwhile may leave a part of the first line, which holds nothing and
    is replaced by the next attempt.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | BINARY, 0o666)
    try:
        lock(descriptor, path)
        write_at(descriptor, content, 0)
    except BaseException:
        release(descriptor)
        raise
    return descriptor


def _nameless() -> int:
    """The flag that opens a file without a name."""
    flag: int | None = getattr(os, "O_TMPFILE", None)
    if flag is None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
    return flag


def _link(source: Path | str, path: Path) -> None:
    """Give a file its name, and make the name itself survive a power cut."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.link(source, path, src_dir_fd=folder)  # with a folder the entry of /proc is followed
        with suppress(OSError):  # not every system can sync a folder
            os.fsync(folder)
    finally:
        os.close(folder)


def _remove_unfinished(path: Path) -> None:
    """Remove a file that is empty or ends within its header, unless somebody is writing it."""
    try:
        descriptor = os.open(path, os.O_RDWR | BINARY)
    except OSError:
        return
    is_empty = False
    try:
        with suppress(JournalError), os.fdopen(descriptor, "rb", closefd=False) as file:
            lock(descriptor, path)
            is_there = os.path.samestat(os.fstat(descriptor), path.stat())
            is_empty = is_there and is_unfinished(file.read())
            if is_empty and _CAN_LINK:
                path.unlink()
    finally:
        release(descriptor)
    if is_empty and not _CAN_LINK:  # an open file cannot be removed there
        path.unlink(missing_ok=True)


def _pwrite(descriptor: int, data: memoryview, position: int) -> int:
    """``os.pwrite`` for systems without it."""
    os.lseek(descriptor, position, os.SEEK_SET)
    return os.write(descriptor, data)


_CAN_LINK = os.name == "posix"


def write_at(descriptor: int, data: bytes, position: int) -> None:
    """Write bytes at a position; they are on disk when this returns."""
    view = memoryview(data)
    while view:  # each pass writes a byte at least, or raises
        write = os.pwrite if hasattr(os, "pwrite") else _pwrite
        written = write(descriptor, view, position)
        view, position = view[written:], position + written
    os.fsync(descriptor)


def unusable(path: Path, error: OSError) -> JournalError:
    """The error for a file that cannot be created, opened or written."""
    if isinstance(error, JournalError):
        return error
    if isinstance(error, FileExistsError):
        return JournalError(
            f"{path} exists already: go on with it by Study.resume({str(path)!r}), or give another"
            " path."
        ).or_in_shell(
            f"{path.name} exists already: go on with it by stopwise ask, tell and verdict, or give"
            " another path."
        )
    return JournalError(
        f"{path} cannot be used as a journal: {error.strerror or error}. Nothing of it was"
        " changed; give a path in a folder that exists, can be written to and has room."
    )
