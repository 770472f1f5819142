# SPDX-License-Identifier: Apache-2.0
"""Files of one record a line, to which lines are added while they may be read or cut off."""

from __future__ import annotations

from pathlib import Path


def append_line(path: Path, line: str) -> None:
    """Add a line; a torn one at the end of the file is removed before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)
        file.write(line.encode() + b"\n")


def whole_lines(path: Path) -> list[str]:
    """The lines of a file, none if it is not there.

    The last one is torn if the run was killed, or goes on, while it was written: it is left out.
    """
    if not path.exists():
        return []
    return path.read_text(encoding="utf-8").rpartition("\n")[0].splitlines()
