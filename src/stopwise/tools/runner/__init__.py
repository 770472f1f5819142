# SPDX-License-Identifier: Apache-2.0
"""Tune any program from one TOML file: ``stopwise run``. docs/how-to/run.md has every key."""

from __future__ import annotations

from stopwise.tools.runner.check import check_program, description
from stopwise.tools.runner.config import Config, load
from stopwise.tools.runner.config_changes import changes, keep_copy
from stopwise.tools.runner.study_file import load_study
from stopwise.tools.runner.study_setup import new_study, open_study, trials_so_far
from stopwise.tools.runner.trial_loop import OnChange, RunEnd, run_trials

__all__ = [
    "Config",
    "OnChange",
    "RunEnd",
    "changes",
    "check_program",
    "description",
    "keep_copy",
    "load",
    "load_study",
    "new_study",
    "open_study",
    "run_trials",
    "trials_so_far",
]
