# SPDX-License-Identifier: Apache-2.0
"""Evaluations in stages: the table ``[stages]``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from stopwise.core.stages import Stages
from stopwise.errors import StopwiseError
from stopwise.tools.runner.parameter_passing import OF_STAGES
from stopwise.tools.runner.toml_table import TomlTable


@dataclass(frozen=True, slots=True)
class StageSettings:
    """The stages of a program, and how it is paused.

    Args:
        stages: The steps at which it reports.
        key: The key of the step in the JSON that it prints.
        pause: ``"stop"``: it is stopped where it is, in memory. ``"checkpoint"``: it is ended, and
            started again with the path of the checkpoint that it has written.
    """

    stages: Stages
    key: str
    pause: Literal["stop", "checkpoint"]

    @property
    def names(self) -> tuple[str, ...]:
        """What the command may mention besides."""
        return OF_STAGES if self.pause == "checkpoint" else ()


def read_stages(top: TomlTable, table: TomlTable) -> StageSettings | None:
    """The table ``[stages]``; None if the file has none."""
    if not table.data:
        return None
    steps, more = table.any("steps"), {}
    for key in ("eta", "first", "usable"):
        given: Any = table.any(key, None)
        if given is not None:
            more[key] = given
    if isinstance(steps, list) and ("eta" in more or "first" in more):
        key = "eta" if "eta" in more else "first"
        raise table.error(key, f"{key} is for steps = 81, the last one alone: leave it out.")
    try:
        stages = Stages(steps, **more)
    except StopwiseError as error:
        raise table.error("steps", str(error)) from error
    settings = StageSettings(
        stages,
        table.typed("key", str, "step"),
        table.word("pause", ("stop", "checkpoint"), "stop"),  # type: ignore[arg-type]
    )
    table.done()
    value: Any = top.data.get("value")
    if isinstance(value, dict) and "file" in value:
        message = (
            "with [stages] a program prints a line of JSON at each stage, so its value is not read"
            " from a file: leave out file, or [stages]."
        )
        raise top.at("value").error("file", message)
    return settings
