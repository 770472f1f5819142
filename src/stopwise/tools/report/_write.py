# SPDX-License-Identifier: Apache-2.0
"""Writing a page into a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stopwise.errors import InputError
from stopwise.study import Study
from stopwise.tools.report._page import page


def write(study: Study, path: str | os.PathLike[str]) -> Path:
    """Write the report of a study and return where it is.

    Args:
        study: Running, finished, or loaded from a journal.
        path: Of the HTML file; one that exists is replaced if it is a page.
    """
    _refuse_to_replace(Path(path))
    return write_text(page(study), path)


def _refuse_to_replace(target: Path) -> None:
    """A file that is no page may be somebody's data, the journal itself perhaps."""
    if target.is_file() and target.stat().st_size:
        with target.open("rb") as file:
            begins = file.read(15).lower()
        if begins != b"<!doctype html>":
            message = (
                f"{str(target)!r} exists and is no HTML page, so it is not replaced: give another"
                " path, ending in .html."
            )
            raise InputError(message)


def write_text(content: str, path: str | os.PathLike[str]) -> Path:
    """Write a text file; what stands in the way is said in words."""
    target = Path(path)
    with _in_words(target):
        target.write_text(content, encoding="utf-8")
    return target


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot be written to, in words."""
    with _in_words(Path(path)), Path(path).open("ab"):
        pass


@contextmanager
def _in_words(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = (
            f"{str(target)!r} cannot be written ({error.strerror}): give a path to a file in a"
            " folder that exists and may be written to."
        )
        raise InputError(message) from error
