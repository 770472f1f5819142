# SPDX-License-Identifier: Apache-2.0
"""The reader of a results folder of Ray Tune, for audit; it reads JSON files and needs no Ray."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from stopwise.errors import InputError
from stopwise.integrations.foreign_space import ForeignSpace, Told, inferred
from stopwise.record.history import History, Observation
from stopwise.record.outcomes import outcome_of


class _Run(NamedTuple):
    """The folder of one trial: its params, its last result, and its error if it failed."""

    params: dict[str, Any]
    last: dict[str, Any]
    error: str


def read_results(
    folder: str | Path,
    *,
    metric: str,
    mode: Literal["min", "max"] = "min",
    cost: str | None = "time_total_s",
    space: ForeignSpace | None = None,
    log: Collection[str] = (),
) -> Told:
    """Read the trials of a Ray Tune experiment from its folder.

    Args:
        folder: The experiment's folder; each trial has its own in it.
        metric: Which reported number is the objective; a trial's last report counts.
        mode: ``"min"`` or ``"max"``.
        cost: Which reported number is the cost; None to count each trial as 1.
        space: The searched space (``read_space(param_space)``); inferred from the values that
            were tried if left out.
        log: Parameters that are on a log scale, if the space is inferred.
    """
    if mode not in ("min", "max"):
        message = f"mode={mode!r}: give 'min' or 'max'."
        raise InputError(message)
    files = sorted(Path(folder).glob("*/params.json"))
    runs = sorted((_run(file.parent) for file in files), key=_finished_at)
    if not runs:
        message = (
            f"{str(folder)!r} holds no trials of Ray Tune (folders with a params.json): give the"
            " experiment's folder, storage_path/name."
        )
        raise InputError(message)
    foreign = inferred([run.params for run in runs], log) if space is None else space
    history = History(
        tuple(
            Observation(
                number,
                foreign.inward(run.params),
                outcome_of(_value(run, metric), run.error),
                _paid(run, cost),
            )
            for number, run in enumerate(runs)
        )
    )
    if not history.succeeded:
        reported = sorted({key for run in runs for key in run.last})
        message = f"no trial reports {metric!r}; reported are {reported}."
        raise InputError(message)
    direction: Literal["minimize", "maximize"] = "minimize" if mode == "min" else "maximize"
    return Told(history, foreign.space, direction, _notes(history, cost, inferred=space is None))


def _run(folder: Path) -> _Run:
    params = _flat(json.loads((folder / "params.json").read_text("utf-8")))
    results = folder / "result.json"
    lines = results.read_text("utf-8").splitlines() if results.exists() else []
    last = _flat(json.loads(lines[-1])) if lines else {}
    error = folder / "error.txt"
    text = error.read_text("utf-8").strip().splitlines() if error.exists() else []
    return _Run(params, last, text[-1] if text else "")


def _flat(nested: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested dicts as one, with keys such as ``"optimizer/lr"``."""
    flat: dict[str, Any] = {}
    for key, value in nested.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{key}/")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _finished_at(run: _Run) -> float:
    return float(run.last.get("timestamp", math.inf))


def _value(run: _Run, metric: str) -> float | None:
    value = run.last.get(metric)
    if run.error or value is None or not math.isfinite(value):
        return None
    return float(value)


def _paid(run: _Run, cost: str | None) -> float:
    if cost is None:
        return 1.0
    paid = run.last.get(cost)
    if paid is None and run.last and not run.error:
        message = f"a trial does not report {cost!r}, its cost; reported are {sorted(run.last)}."
        raise InputError(message)
    return float(paid or 0.0)


def _notes(history: History, cost: str | None, *, inferred: bool) -> tuple[str, ...]:
    failed = len(history) - len(history.succeeded)
    notes = {
        f"{failed} trials without a value count as failed": failed > 0,
        "each trial is taken to cost 1": cost is None,
        "the space is the range of what was tried; scales are linear unless named": inferred,
    }
    return tuple(note for note, applies in notes.items() if applies)
