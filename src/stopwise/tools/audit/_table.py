# SPDX-License-Identifier: Apache-2.0
"""Tables of finished evaluations: from a file, a data frame, or rows in memory."""

from __future__ import annotations

import csv
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from stopwise.errors import InputError, InputTypeError, MissingExtraError

Row = dict[str, Any]

_NAMED = 5  # rows that a note names


def read_table(data: object) -> list[Row]:
    """Rows as dicts, whatever they are given as.

    Args:
        data: The path of a CSV or Parquet file, a data frame, columns by name, or rows as dicts.
    """
    if isinstance(data, str | PathLike):
        return _read_file(Path(data))
    if hasattr(data, "to_dict") and hasattr(data, "columns"):
        rows: list[Row] = data.to_dict("records")
        return rows
    if isinstance(data, Mapping):
        return [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)]
    if isinstance(data, Sequence) and all(isinstance(row, Mapping) for row in data):
        return [dict(row) for row in data]
    message = (
        f"cannot read evaluations from {type(data).__name__}: give a history, the path of a CSV or"
        " Parquet file, a data frame, a dict of columns, or a list of dicts."
    )
    raise InputTypeError(message)


def _read_file(path: Path) -> list[Row]:
    if not path.is_file():
        message = f"there is no file {str(path)!r}."
        raise InputError(message)
    kind = path.suffix.lower()
    if kind in (".parquet", ".pq"):
        return _read_parquet(path)
    if kind in (".csv", ".tsv", ".txt"):
        return _read_csv(path)
    message = (
        f"{path.name!r} is neither .csv (or .tsv, .txt) nor .parquet; save it as one of them."
    )
    raise InputError(message)


def _read_csv(path: Path) -> list[Row]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        head = file.readline()
        file.seek(0)
        marks = "\t;," if path.suffix.lower() != ".tsv" else "\t"
        mark = max(marks, key=head.count)
        rows = list(csv.DictReader(file, delimiter=mark))
    return [
        {name: _parsed(text) for name, text in row.items() if name is not None} for row in rows
    ]


def _parsed(text: str | None) -> Any:  # noqa: ANN401  a number, a truth value, a text or nothing
    """What a cell of text stands for."""
    text = "" if text is None else text.strip()
    if text.lower() in ("", "na", "nan", "null", "none"):
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _read_parquet(path: Path) -> list[Row]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError.of(
            "pyarrow", extra="frames", purpose="reading Parquet files"
        ) from error
    rows: list[Row] = parquet.read_table(path).to_pylist()
    return rows


def column(rows: Sequence[Row], name: str, role: str) -> str:
    """The name of a column that must be there; an error that names those that are."""
    names = list(rows[0]) if rows else []
    if name not in names:
        message = (
            f"there is no column {name!r} to take the {role} from; the columns are"
            f" {', '.join(map(repr, names)) or 'none'}. Say which one is the {role}"
        )
        ways = {"cost": ", or give cost=None (--unit-cost) to count each evaluation as 1."}
        raise InputError(message + ways.get(role, "."))
    return name


def is_number(value: object) -> bool:
    """Whether it is a finite real number, and no truth value."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return real and math.isfinite(value)  # type: ignore[arg-type]


def is_missing(value: object) -> bool:
    """Whether a cell holds nothing: None, nan, pandas' NA and NaT."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def odd_rows(
    rows: Sequence[Row], params: Iterable[str], value: str, cost: str | None
) -> dict[int, str]:
    """Rows that cannot be used, and why."""
    odd: dict[int, str] = {}
    for at, row in enumerate(rows):
        empty = [name for name in params if is_missing(row.get(name))]
        if not is_number(row.get(value)):
            odd[at] = f"{value} is {row.get(value)!r}"
        elif cost is not None and not (is_number(row.get(cost)) and row[cost] > 0):
            odd[at] = f"{cost} is {row.get(cost)!r}"
        elif empty:
            odd[at] = f"{empty[0]} is missing"
    return odd


def naming(odd: Mapping[int, str], n: int) -> str:
    """A note on rows that were left out."""
    named = "; ".join(f"row {at + 1}: {why}" for at, why in list(odd.items())[:_NAMED])
    more = f"; and {len(odd) - _NAMED} more" if len(odd) > _NAMED else ""
    return f"{len(odd)} of {n} rows are left out ({named}{more})"
