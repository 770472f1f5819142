# SPDX-License-Identifier: Apache-2.0
"""The reader of a results folder of Ray Tune, for audit; it reads JSON files and needs no Ray."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from stopwise.errors import InputError
from stopwise.integrations.foreign_files import checked_file, reading, text_of
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
    with reading(f"the folder {str(folder)!r}"):
        foreign = inferred([run.params for run in runs], log) if space is None else space
        told = [
            Observation(
                number,
                foreign.inward(run.params),
                outcome_of(_value(run, metric), run.error),
                _paid(run, cost),
            )
            for number, run in enumerate(runs)
        ]
    history = History(tuple(told))
    if not history.succeeded:
        reported = sorted({key for run in runs for key in run.last})
        message = f"no trial reports {metric!r}; reported are {reported}."
        raise InputError(message)
    direction: Literal["minimize", "maximize"] = "minimize" if mode == "min" else "maximize"
    return Told(history, foreign.space, direction, _notes(history, cost, inferred=space is None))


def _run(folder: Path) -> _Run:
    params = _object(text_of(folder / "params.json"), folder / "params.json")
    results, error = folder / "result.json", folder / "error.txt"
    # A last line without its end is one that is being written: the one before it counts.
    lines = text_of(results).split("\n")[:-1] if results.exists() else []
    last = _object(lines[-1], results) if lines else {}
    words = checked_file(error).read_bytes().decode("utf-8", "replace") if error.exists() else ""
    text = words.strip().splitlines()
    return _Run(params, last, text[-1] if text else "")


def _object(text: str, source: Path) -> dict[str, Any]:
    with reading(f"the file {str(source)!r}"):
        written = json.loads(text)
        if not isinstance(written, dict):
            message = f"the file {str(source)!r} is not one of Ray Tune: it holds no JSON object."
            raise InputError(message)
        return _flat(written)


def _flat(nested: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested dicts as one, with keys such as ``"optimizer/lr"``; an empty one is an entry."""
    flat: dict[str, Any] = {}
    for key, value in nested.items():
        if isinstance(value, Mapping) and value:
            flat |= _flat(value, f"{prefix}{key}/")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _finished_at(run: _Run) -> float:
    at = _number(run.last.get("timestamp"))
    return math.inf if at is None else at


def _value(run: _Run, metric: str) -> float | None:
    value = run.last.get(metric)
    if run.error or value is None:
        return None
    number = _number(value)
    if number is None:
        message = f"a trial reports {metric!r} as {value!r:.80}, which is no number."
        raise InputError(message)
    return number if math.isfinite(number) else None


def _paid(run: _Run, cost: str | None) -> float:
    if cost is None:
        return 1.0
    paid = run.last.get(cost)
    if paid is None and run.last and not run.error:
        message = f"a trial does not report {cost!r}, its cost; reported are {sorted(run.last)}."
        raise InputError(message)
    number = 0.0 if paid is None else _number(paid)
    if number is None or not 0.0 <= number < math.inf:
        message = f"a trial reports its cost {cost!r} as {paid!r:.80}: give positive numbers."
        raise InputError(message)
    return number


def _number(value: object) -> float | None:
    """A number as a float, infinite if it is too large; None if it is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _notes(history: History, cost: str | None, *, inferred: bool) -> tuple[str, ...]:
    failed = len(history) - len(history.succeeded)
    notes = {
        f"{failed} trials without a value count as failed": failed > 0,
        "each trial is taken to cost 1": cost is None,
        "the space is the range of what was tried; scales are linear unless named": inferred,
    }
    return tuple(note for note, applies in notes.items() if applies)
