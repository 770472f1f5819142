# SPDX-License-Identifier: Apache-2.0
"""Files that programs can reach: read and written without following links or waiting for pipes.

A program may leave anything in its folder, and in those of other trials: a directory, a pipe or a
symbolic link where a file should be. Reading never waits, and writing never goes through a link.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import BinaryIO


def create(path: Path) -> BinaryIO:
    """Open a new file for writing; anything that is there already is refused (``O_EXCL``)."""
    return path.open("xb")


def replace(path: Path, content: bytes) -> None:
    """Write a file as a whole; a link in its place is replaced, not followed."""
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(temporary, path)  # noqa: PTH105  a string, not a Path
    except BaseException:
        os.unlink(temporary)  # noqa: PTH108  as above
        raise


def read_tail(path: Path, most: int, *, follow: bool = False) -> bytes:
    """The last bytes of a regular file; an OSError says what else it is.

    Args:
        path: Path of the file.
        most: How many bytes at most.
        follow: Whether a symbolic link may lead to it.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    if not follow and path.is_symlink():
        raise OSError(0, "it is a symbolic link, which is not followed")
    descriptor = os.open(path, flags)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "it is not a regular file")
        file.seek(max(status.st_size - most, 0))
        return file.read(most)
