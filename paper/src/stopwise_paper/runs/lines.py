# SPDX-License-Identifier: Apache-2.0
"""Files of one record a line, to which lines are added while they may be read or cut off."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from stopwise.errors import InputError
from stopwise_paper.cell import Cell

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Run = TypeVar("Run", bound=DataclassInstance)

_DIGITS = 6


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


def as_line(run: DataclassInstance, series: Sequence[str]) -> str:
    """The record of a run as one line of JSON, numbers of its series with six digits.

    Args:
        run: A dataclass with the field ``cell``.
        series: Its fields that are arrays.
    """
    content: dict[str, Any] = {f.name: getattr(run, f.name) for f in fields(run)}
    content["cell"] = json.loads(content["cell"].to_json())
    for name in series:
        content[name] = [float(f"{value:.{_DIGITS}g}") for value in content[name]]
    return json.dumps(content, separators=(",", ":"))


def from_line(kind: type[Run], text: str, series: Sequence[str]) -> Run:
    """The record that ``as_line`` wrote."""
    try:
        content = json.loads(text)
        content["cell"] = Cell.from_json(json.dumps(content["cell"]))
        for name in series:
            content[name] = np.array(content[name], dtype=np.float64)
        return kind(**content)
    except (ValueError, TypeError, KeyError) as error:
        message = f"{text[:80]!r} is not a record of a run: {error}."
        raise InputError(message) from error
