# SPDX-License-Identifier: Apache-2.0
"""Tune any program from one TOML file: ``stopwise run``. docs/run.md has every key."""

from __future__ import annotations

from stopwise.tools.runner.changes import changes, keep
from stopwise.tools.runner.check import check_program, described
from stopwise.tools.runner.config import Config, load
from stopwise.tools.runner.loop import End, OnChange, drive
from stopwise.tools.runner.opening import new_study, opened

__all__ = [
    "Config",
    "End",
    "OnChange",
    "changes",
    "check_program",
    "described",
    "drive",
    "keep",
    "load",
    "new_study",
    "opened",
]
