# SPDX-License-Identifier: Apache-2.0
"""Changes of the TOML file since the last run, and those that a run cannot go on with."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stopwise.errors import InputError
from stopwise.integrations.foreign_files import read_journal
from stopwise.record.journal import has_begun
from stopwise.study.options import may_change, names
from stopwise.tools.runner.config import Config
from stopwise.tools.runner.toml_table import shown
from stopwise.tools.runner.trial_files import read_tail, replace

# With another value here, old and new results would not be comparable.
FIXED = (
    "parameters",
    "constraints",
    "value.key",
    "value.direction",
    "cost.kind",
    "cost.price_per_hour",
    "cost.key",
    "utility",
    "limits",
    *(f"stages.{key}" for key in ("steps", "eta", "first", "usable", "key")),
    *(f"search.{name}" for name in names(may_change())),
)
# What is read of a program's output: free to change before any trial has ended.
_READ = ("value.key", "cost.key", "stages.key")
_LEFT_OUT = object()
_MOST = 1 << 24  # bytes of the copy that are read


def kept_copy(config: Config) -> Path:
    """The copy of the file as it was last run."""
    return config.trials / config.path.name


def keep_copy(config: Config) -> None:
    """Copy the file as it is run now."""
    config.trials.mkdir(exist_ok=True)
    replace(kept_copy(config), config.path.read_bytes())


def changes(config: Config) -> list[str]:
    """What has changed since the last run, a line each; an error if it must not change."""
    try:
        before = tomllib.loads(read_tail(kept_copy(config), _MOST).decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        return []  # never run, or its copy was removed: there is nothing to compare with
    old, new = dict(_flat(before)), dict(_flat(config.data))
    changed = [
        key
        for key in (*old, *(key for key in new if key not in old))
        if old.get(key, _LEFT_OUT) != new.get(key, _LEFT_OUT)
    ]
    lines = {key: _line(key, old, new) for key in changed}
    refused = [key for key in changed if _is_fixed(key)]
    if refused and not (set(refused) <= set(_READ) and _told(config) == 0):
        raise must_not_change(config, [lines[key] for key in refused])
    return list(lines.values())


def must_not_change(config: Config, differences: list[str]) -> InputError:
    """An error that says what differs, and how to go on or begin afresh."""
    copy = kept_copy(config).relative_to(config.path.parent)
    afresh = (
        "What was measured there would mean something else here. To go on with that run, change"
        f" it back (the file as last run is {copy}). To begin afresh, copy the file to another"
        f" name and run that, or remove {config.journal.name} if nothing in it is of use."
    )
    if has_begun(config.journal) and not _told(config, succeeded=True):
        afresh = (
            "No value is on record there, so nothing is lost by beginning afresh: remove"
            f" {config.journal.name} and run again. (Or change it back: the file as last run is"
            f" {copy}.)"
        )
    return InputError(
        f"{config.path.name} differs from the run that {config.journal.name} holds:\n  "
        + "\n  ".join(differences)
        + f"\n{afresh} [worth], budget, max_trials, timeout, names and units, stopping rules and"
        " the way the program is called may change."
    )


def _told(config: Config, *, succeeded: bool = False) -> int:
    """How many trials of the journal have ended, or have given a value; reports count too."""
    if not has_begun(config.journal):
        return 0
    study = read_journal(config.journal)
    ended = study.history.succeeded if succeeded else study.history
    return len(ended) + len(study.curves)


def _is_fixed(key: str) -> bool:
    return any(key == fixed or key.startswith(f"{fixed}.") for fixed in FIXED)


def _line(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    if key not in old:
        return f"{key} is new: {shown(new[key])}"
    if key not in new:
        return f"{key} was {shown(old[key])} and is left out"
    return f"{key} was {shown(old[key])} and is {shown(new[key])}"


def _flat(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
