# SPDX-License-Identifier: Apache-2.0
"""Tables of finished evaluations: from a file, a data frame, or rows in memory."""

from __future__ import annotations

import csv
import io
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

from stopwise.core.quantity import quantity
from stopwise.errors import InputError, InputTypeError, MissingExtraError
from stopwise.integrations.foreign_files import check_size, checked_file, reading, text_of

Row = dict[str, Any]

_NAMED = 5  # rows that a note names
_DIGITS = 300  # of a whole number; a float has at most 309
_BYTES_PER_CELL = 8


def read_table(data: object) -> list[Row]:
    """Rows as dicts, whatever they are given as; a cell that holds nothing is None.

    Args:
        data: The path of a CSV or Parquet file, a data frame, columns by name, or rows as dicts.
    """
    rows = _read_file(Path(data)) if isinstance(data, str | PathLike) else _in_memory(data)
    return [{n: None if is_missing(cell) else cell for n, cell in row.items()} for row in rows]


def _in_memory(data: Any) -> list[Row]:  # noqa: ANN401  a table
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
    checked_file(path)
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
    text = text_of(path, encoding="utf-8-sig")
    marks = "\t;," if path.suffix.lower() != ".tsv" else "\t"
    mark = max(marks, key=text.partition("\n")[0].count)
    with reading(f"the table {str(path)!r}"):
        rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=mark))
    return [
        {name: _parsed(cell) for name, cell in row.items() if name is not None} for row in rows
    ]


def _parsed(text: str | None) -> Any:  # noqa: ANN401  a number, a truth value, a text or nothing
    """What a cell of text stands for."""
    text = "" if text is None else text.strip()
    if text.lower() in ("", "na", "nan", "null", "none"):
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (_whole, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _whole(text: str) -> int:
    """A whole number that a float can hold; longer ones become floats, and infinite."""
    if len(text) > _DIGITS:
        raise ValueError(text)
    return int(text)


def _read_parquet(path: Path) -> list[Row]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError.of(
            "pyarrow", extra="frames", purpose="reading Parquet files"
        ) from error
    what = f"the table {str(path)!r}"
    with reading(what):
        metadata = parquet.read_metadata(path)
        chunks = _chunks(metadata)
        _check_expanded(what, metadata, chunks)
        # Texts stay in the file's dictionary: expanded, one long text could fill the memory.
        names = metadata.schema.to_arrow_schema().names
        texts = {c.path_in_schema for c in chunks if c.physical_type == "BYTE_ARRAY"}
        with parquet.ParquetFile(path, read_dictionary=sorted(texts & set(names))) as file:
            rows: list[Row] = []
            size = 0
            for batch in file.iter_batches():
                size += batch.nbytes  # the file may not have told the truth about its size
                check_size(f"{what}, when it is expanded,", size)
                columns = map(_cells, batch.columns)
                rows += [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    return rows


def _cells(column: Any) -> list[Any]:  # noqa: ANN401  pyarrow has no types
    """The cells of a column; equal texts are one object."""
    if not hasattr(column, "dictionary"):
        cells: list[Any] = column.to_pylist()
        return cells
    texts = column.dictionary.to_pylist()
    return [None if at is None else texts[at] for at in column.indices.to_pylist()]


def _chunks(metadata: Any) -> list[Any]:  # noqa: ANN401  pyarrow has no types
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    return [group.column(i) for group in groups for i in range(group.num_columns)]


def _check_expanded(what: str, metadata: Any, chunks: Sequence[Any]) -> None:  # noqa: ANN401
    """Refuse a file that says of itself that it becomes too large in memory.

    Repeated values take next to no room in a file, so cells are counted too. A text inside a list
    may be repeated in full.
    """
    cells = max(metadata.num_rows * metadata.num_columns, sum(c.num_values for c in chunks))
    size = max(_BYTES_PER_CELL * cells, sum(c.total_uncompressed_size for c in chunks))
    names = metadata.schema.to_arrow_schema().names
    for chunk in chunks:
        if chunk.physical_type == "BYTE_ARRAY" and chunk.path_in_schema not in names:
            size += chunk.num_values * chunk.total_uncompressed_size
    check_size(f"{what}, when it is expanded,", size)


def column(rows: Sequence[Row], name: str, role: str) -> str:
    """The name of a column that must be there; an error that names those that are."""
    names = list(rows[0]) if rows else []
    if name not in names:
        uses = {"dropped": "to be dropped", "parameter": "that was varied"}
        use = uses.get(role, f"to take the {role} from")
        close = get_close_matches(name, names, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        message = (
            f"there is no column {name!r} {use}{hint}; the columns are"
            f" {', '.join(map(repr, names)) or 'none'}."
        )
        which = "" if role in uses else f" Say which one is the {role}"
        ways = {"cost": ", or give cost=None (--unit-cost) to count each evaluation as 1."}
        raise InputError(message + which + ways.get(role, "." if which else ""))
    return name


def is_number(value: object) -> bool:
    """Whether it is a finite real number, and no truth value."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False


def is_missing(value: object) -> bool:
    """Whether a cell holds nothing: None, nan, pandas' NA and NaT."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def odd_rows(
    rows: Sequence[Row], params: Iterable[str], value: str, cost: str | None
) -> dict[int, str]:
    """Rows that cannot be used, and why; one that failed can, if its cost is known."""
    odd: dict[int, str] = {}
    for at, row in enumerate(rows):
        empty = [name for name in params if is_missing(row.get(name))]
        paid = cost is not None and _is_paid(row.get(cost))
        if not is_number(row.get(value)) and (is_missing(row.get(value)) or not paid):
            odd[at] = f"{value} is {_shown_cell(row.get(value))}"
        elif cost is not None and not paid:
            odd[at] = f"{cost} is {_shown_cell(row.get(cost))}"
        elif empty:
            odd[at] = f"{empty[0]} is missing"
    return odd


def _shown_cell(cell: Any) -> str:  # noqa: ANN401  a cell
    return "missing" if is_missing(cell) else repr(cell)


def _is_paid(cost: Any) -> bool:  # noqa: ANN401  a cell
    return is_number(cost) and cost > 0


def naming(odd: Mapping[int, str], rows: Sequence[Row], cost: str | None) -> str:
    """A note on rows that were left out, and on what they cost."""
    note = f"{len(odd)} of {len(rows)} rows are left out ({_listed(odd)})"
    costs = [] if cost is None else [rows[at].get(cost, 0.0) for at in odd]
    paid = math.fsum(float(each) for each in costs if _is_paid(each))
    if not paid:
        return note
    return (
        f"{note}; what they cost, {quantity(paid)} in all, does not count as spent (a row that was"
        " evaluated and failed counts if its value is a word such as failed)"
    )


def naming_failed(failed: Mapping[int, str], rows: Sequence[Row], cost: str) -> str:
    """A note on rows that count as failed evaluations."""
    paid = math.fsum(float(rows[at][cost]) for at in failed)
    return (
        f"{len(failed)} of {len(rows)} rows count as failed evaluations ({_listed(failed)}); they"
        f" cost {quantity(paid)} of what was spent"
    )


def _listed(odd: Mapping[int, str]) -> str:
    named = "; ".join(f"row {at + 1}: {why}" for at, why in list(odd.items())[:_NAMED])
    return f"{named}; and {len(odd) - _NAMED} more" if len(odd) > _NAMED else named
