# SPDX-License-Identifier: Apache-2.0
"""The lock of a journal: one writer at a time, here and in other processes.

Where the system has ``flock`` (Linux, macOS) the journal itself is locked, and the kernel releases
the lock when its process ends, however it ends. Elsewhere (Windows) a lock on the journal would
keep others from reading it, so filelock locks a file beside it, ``run.jsonl.lock``; there too the
system releases it with its process.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stopwise.errors import JournalError

if TYPE_CHECKING:
    from filelock import BaseFileLock

fcntl: Any
try:
    import fcntl
except ImportError:  # pragma: no cover  Windows
    fcntl = None

BINARY: int = getattr(os, "O_BINARY", 0)  # Windows would translate the ends of lines
_BESIDE: dict[int, BaseFileLock] = {}  # locks in files beside, by the journal's descriptor


class JournalInUseError(JournalError):
    """A journal that another writer has open."""


def lock(descriptor: int, path: Path) -> None:
    """Lock an open journal for this writer; an error if there is another one."""
    if fcntl is None:
        _lock_beside(descriptor, path)
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise _in_use(path) from error


def _lock_beside(descriptor: int, path: Path) -> None:
    from filelock import FileLock, Timeout

    # Not by thread: a study may be closed by another one than began it.
    beside = FileLock(f"{path}.lock", timeout=0, thread_local=False)
    try:
        beside.acquire()
    except Timeout as error:
        raise _in_use(path) from error
    _BESIDE[descriptor] = beside


def release(descriptor: int) -> None:
    """Close a journal and release its lock, if it has one."""
    beside = _BESIDE.pop(descriptor, None)
    try:
        os.close(descriptor)
    finally:
        if beside is not None:
            beside.release()


def _in_use(path: Path) -> JournalInUseError:
    return JournalInUseError(
        f"{path} is being written by another study, here or in another process: wait until it"
        " ends or close it. To look at it meanwhile use Study.load(path)."
    ).or_in_shell(
        f"{path.name} is being written by another process: wait until it ends. To look at it"
        " meanwhile use stopwise report."
    )
