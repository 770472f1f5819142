# SPDX-License-Identifier: Apache-2.0
"""Trajectories on disk: one small file a cell while a run goes on, one file an experiment after.

A file is a list of named series in Parquet: ``cell``, ``series``, and the numbers in ``f64``,
``f32`` or ``i32``. Each cell has one row with the series ``meta``, which holds its JSON and, in
``table``, the name of the table in the same file in which its rows x are looked up. Files are
written under a temporary name and renamed, so a run may be killed at any time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from stopwise.errors import InputError
from stopwise_paper.arrays import Array
from stopwise_paper.cell import Cell
from stopwise_paper.runs.rules import ALWAYS_RECORDED
from stopwise_paper.runs.trajectory import RecordedSignal, Trajectory, reads_values_alone

Rows = list[dict[str, Any]]

_META = "meta"
_TABLE = "table:"  # before the name of a table that several trajectories share
_LOOKED_UP = ("y", "judged_value")
_PRICES = ("cost:", "judged_cost:")
_COMPRESSION = 19  # of zstd: written once, read often


# ------------------------------------------------------------------- while a run goes on


def save(trajectory: Trajectory, folder: Path) -> Path:
    """Write a finished cell to ``folder/cells/KE/KEY.parquet``."""
    path = cell_path(trajectory.cell, folder)
    _write(_rows(trajectory), path)
    return path


def cell_path(cell: Cell, folder: Path) -> Path:
    """The file of a finished cell."""
    return folder / "cells" / cell.key[:2] / f"{cell.key}.parquet"


def load_cell(cell: Cell, folder: Path) -> Trajectory:
    """The trajectory of a finished cell."""
    return next(iter(_read(cell_path(cell, folder))))


# ------------------------------------------------------------------------ consolidated


def consolidate(trajectories: Iterable[Trajectory], path: Path) -> Path:
    """Write many trajectories into one small file.

    Signals are float32 and without their facts; of timings on tables the mean alone is kept;
    values and costs of a row of a data set are kept once, not with every trajectory that evaluated
    it.
    """
    rows: Rows = []
    tables: dict[str, list[dict[str, NDArray[Any]]]] = {}
    for trajectory in trajectories:
        series = _rows(_lean(trajectory), small=True)
        if ":" in trajectory.cell.problem and trajectory.x.ndim == 1:  # rows of a data set
            series, looked_up = _without_look_ups(series)
            tables.setdefault(series[0]["table"], []).append(looked_up)
        rows += series
    _write([*_tables(tables), *rows], path)
    return path


def load(path: Path) -> list[Trajectory]:
    """The trajectories of a consolidated file, or of one cell."""
    return list(_read(path))


def load_views(path: Path) -> list[Trajectory]:
    """The same, one per price."""
    return [view for trajectory in _read(path) for view in trajectory.views()]


def keys(path: Path) -> set[str]:
    """Keys of the cells in a file."""
    names = set(pq.read_table(path, columns=["cell"])["cell"].to_pylist())
    return {name for name in names if not name.startswith(_TABLE)}


def _lean(trajectory: Trajectory) -> Trajectory:
    """Without signals that follow from the values, facts of signals, and details of timings."""
    from_values = {rule.key for rule in ALWAYS_RECORDED if reads_values_alone(rule)}
    signals = {
        key: RecordedSignal(signal.value)
        for key, signal in trajectory.signals.items()
        if key not in from_values
    }
    seconds = dict(trajectory.seconds)
    if trajectory.x.ndim == 1:  # on a box the time of every step is a result of its own
        seconds = {k: np.array([np.mean(v)]) for k, v in seconds.items() if len(v)}
    return replace(trajectory, signals=signals, seconds=seconds)


# -------------------------------------------------------- rows of a data set, kept once


def _without_look_ups(rows: Rows) -> tuple[Rows, dict[str, NDArray[Any]]]:
    """The series without those that a table of the data set can give back, and those; x stays."""
    series = {row["series"]: row[k] for row in rows for k in ("f64", "i32") if k in row}
    names = [name for name in series if name in _LOOKED_UP or name.startswith(_PRICES)]
    kept = [row for row in rows if row["series"] not in names]
    # Which columns there are depends on the prices: they are part of the table's name.
    cell = Cell.from_json(json.loads(rows[0]["meta"])["cell"])
    runtime = cell.option("runtime", "real")
    kept[0] = {**kept[0], "table": f"{_TABLE}{cell.problem}:{runtime}:{','.join(names)}"}
    return kept, {name: series[name] for name in ("x", *names)}


def _tables(look_ups: dict[str, list[dict[str, NDArray[Any]]]]) -> Rows:
    """One table for each data set: the rows that any trajectory evaluated."""
    rows: Rows = []
    for table, parts in look_ups.items():
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        x, first = np.unique(columns.pop("x"), return_index=True)
        rows.append({"cell": table, "series": "x", "i32": x})
        rows += [{"cell": table, "series": k, "f64": v[first]} for k, v in columns.items()]
    return rows


# ------------------------------------------------------------------------------ details


def _rows(trajectory: Trajectory, *, small: bool = False) -> Rows:
    """The series of one trajectory; ``small`` keeps signals as float32."""
    meta = {
        "cell": trajectory.cell.to_json(),
        "n_initial": trajectory.n_initial,
        "optimum": trajectory.optimum,
        "width": trajectory.x.shape[1] if trajectory.x.ndim == 2 else 0,
        "facts": dict(trajectory.facts),
    }
    key = trajectory.cell.key
    rows: Rows = [{"cell": key, "series": _META, "meta": json.dumps(meta, sort_keys=True)}]

    def put(name: str, values: NDArray[Any], kind: str) -> None:
        rows.append({"cell": key, "series": name, kind: values.ravel()})

    decisions = "f32" if small else "f64"
    put("x", trajectory.x, "i32" if trajectory.x.ndim == 1 else decisions)
    put("y", trajectory.y, "f64")
    if not np.array_equal(trajectory.judged_value, trajectory.y):
        put("judged_value", trajectory.judged_value, "f64")
    for cost, paid in trajectory.costs.items():
        put(f"cost:{cost}", paid, "f64")
        if not np.array_equal(trajectory.judged_costs[cost], paid):
            put(f"judged_cost:{cost}", trajectory.judged_costs[cost], "f64")
    for name, signal in trajectory.signals.items():
        # A fraction of paths may be a threshold to the last digit.
        kind = "f64" if name.startswith("regret_probability") else decisions
        put(f"signal:{name}", signal.value, kind)
        for fact, values in signal.facts.items():
            put(f"fact:{name}:{fact}", values, "f32")
    for part, seconds in trajectory.seconds.items():
        put(f"seconds:{part}", seconds, "f32")
    return rows


def _write(rows: Rows, path: Path) -> None:
    kinds = {"f64": pa.float64(), "f32": pa.float32(), "i32": pa.int32()}
    columns = {
        "cell": pa.array([row["cell"] for row in rows]),
        "series": pa.array([row["series"] for row in rows]),
        "meta": pa.array([row.get("meta") for row in rows], pa.string()),
        "table": pa.array([row.get("table") for row in rows], pa.string()),
        **{k: pa.array([row.get(k) for row in rows], pa.list_(v)) for k, v in kinds.items()},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    pq.write_table(
        pa.table(columns),
        temporary,
        compression="zstd",
        compression_level=_COMPRESSION,
        use_dictionary=["cell", "series", "table"],
        use_byte_stream_split=["f32.list.element", "f64.list.element"],
    )
    temporary.replace(path)


def _read(path: Path) -> Iterator[Trajectory]:
    if not path.exists():
        message = f"there are no trajectories at {path}: run the experiment first."
        raise InputError(message)
    table = pq.read_table(path)
    keys = table["cell"].to_numpy(zero_copy_only=False)
    names = table["series"].to_pylist()
    meta, shared = table["meta"].to_pylist(), table["table"].to_pylist()
    lists = {kind: table[kind].combine_chunks() for kind in ("f64", "f32", "i32")}
    series: dict[str, dict[str, NDArray[Any]]] = {}
    cells: dict[str, int] = {}
    for i, (key, name) in enumerate(zip(keys, names, strict=True)):
        if name == _META:
            cells[key] = i
            continue
        values = next(column[i] for column in lists.values() if column[i].is_valid)
        series.setdefault(key, {})[name] = values.values.to_numpy(zero_copy_only=False)
    for key, i in cells.items():
        looked_up = dict(series.get(shared[i] or "", {}))
        if looked_up:
            at = np.searchsorted(looked_up.pop("x"), series[key]["x"])
            looked_up = {name: column[at] for name, column in looked_up.items()}
        yield _trajectory(json.loads(meta[i]), {**series[key], **looked_up})


def _trajectory(meta: dict[str, Any], series: dict[str, NDArray[Any]]) -> Trajectory:
    def group(prefix: str) -> dict[str, Array]:
        start = prefix + ":"
        return {
            name.removeprefix(start): values.astype(np.float64)
            for name, values in series.items()
            if name.startswith(start)
        }

    costs, judged, facts = group("cost"), group("judged_cost"), group("fact")
    signals = {}
    for key, value in group("signal").items():
        start = key + ":"
        beside = {k.removeprefix(start): v for k, v in facts.items() if k.startswith(start)}
        signals[key] = RecordedSignal(value, beside)
    x = series["x"]
    return Trajectory(
        Cell.from_json(meta["cell"]),
        meta["n_initial"],
        x.reshape(-1, meta["width"]) if meta["width"] else x,
        series["y"],
        series.get("judged_value", series["y"]),
        costs,
        {k: judged.get(k, v) for k, v in costs.items()},
        signals,
        meta["optimum"],
        group("seconds"),
        meta["facts"],
    )
