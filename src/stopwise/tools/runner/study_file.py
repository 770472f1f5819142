# SPDX-License-Identifier: Apache-2.0
"""The file of a study that nobody runs: the TOML of ``stopwise run`` without the program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from stopwise.core.exchange_rate import check_lam
from stopwise.core.units import checked_name
from stopwise.tools.runner.config import Config, Worth, check_worth, read
from stopwise.tools.runner.measures import check_direction
from stopwise.tools.runner.toml_table import TomlTable

# Keys that say how a program is run and what it prints; here somebody asks and tells.
_OF_PROGRAMS = ("command", "pass", "directory", "environment", "workers", "timeout", "failures")


def load_study(
    path: Path,
    *,
    lam: float | None = None,
    budget: float | None = None,
    max_trials: int | None = None,
    seed: int | None = None,
    maximize: bool = False,
    value_name: str | None = None,
    cost_unit: str | None = None,
) -> tuple[Config, list[str]]:
    """Read and check a file; what is given besides replaces what the file says.

    Args:
        path: Path of the file.
        lam: Instead of ``[worth]``.
        budget: Instead of ``budget``.
        max_trials: Instead of ``max_trials``.
        seed: Instead of ``seed`` of ``[search]``.
        maximize: Whether larger is better, whatever ``[value]`` says.
        value_name: Instead of ``name`` of ``[value]``.
        cost_unit: Instead of ``unit`` of ``[cost]``.

    Returns:
        The configuration, and the keys that only ``stopwise run`` uses.
    """
    top = TomlTable.read(path.absolute())
    top.any("command", None)
    config = read(top, path.absolute(), has_program=False)
    if config.stages is not None:
        message = (
            "[stages] is for stopwise run, and for sw.Study in Python: what is asked and told in"
            " the shell are whole evaluations. Leave it out."
        )
        raise top.error("stages", message)
    given: dict[str, Any] = {"budget": budget, "max_trials": max_trials}
    changes = {name: value for name, value in given.items() if value is not None}
    if lam is not None:
        changes["worth"] = Worth(check_lam(lam))
    if seed is not None:
        changes["search"] = replace(config.search, seed=seed)
    value: dict[str, Any] = {"direction": "maximize"} if maximize else {}
    if value_name is not None:
        value["given_name"] = checked_name("value_name", value_name)
    changes["value"] = replace(config.value, **value)
    if cost_unit is not None:
        unit = checked_name("cost_unit", cost_unit)
        changes["cost"] = replace(config.cost, given_unit=unit)
    config = replace(config, **changes)
    check_direction(top, config.value, flag="--maximize")
    check_worth(top, config)
    return config, [key for key in _OF_PROGRAMS if key in top.data]
