# SPDX-License-Identifier: Apache-2.0
"""The study of a configuration: a new one, or the one that its journal holds."""

from __future__ import annotations

import warnings
from typing import Any

from stopwise.errors import InputError
from stopwise.integrations.foreign_files import regular_file
from stopwise.record.journal import ResumeWarning, has_begun
from stopwise.study import Study
from stopwise.tools.runner.config import Config
from stopwise.tools.runner.config_changes import must_not_change


def new_study(config: Config, **more: Any) -> Study:  # noqa: ANN401  Study checks them
    """A new study with the options of the file."""
    try:
        return Study(config.space, **_options(config), **more)
    except InputError as error:
        raise InputError(f"{config.path.name}: {error}") from error


def open_study(config: Config) -> Study:
    """The study of the journal beside the file; a new journal where there is none.

    Remarks of a resume, such as what has changed, are in ``study.notes``.
    """
    if not has_begun(config.journal):
        return new_study(config, journal=config.journal)
    new_study(config)  # what is wrong in any run is refused as such, not as a change
    regular_file(config.journal)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResumeWarning)
        try:
            return Study.resume(config.journal, space=config.space, **_options(config))
        except InputError as error:
            raise must_not_change(config, [str(error)]) from error


def _options(config: Config) -> dict[str, Any]:
    search = config.search
    rules = [rule.made() for rule in search.stopping]
    return {
        "lam": config.lam,
        "cost": _cost(config),
        "budget": config.budget,
        "direction": config.value.direction,
        "acquisition": search.acquisition,
        "stopping": rules[0] if len(rules) == 1 else rules,  # a budget replaces "pbgi" alone
        "watch": [rule.made() for rule in search.watch],
        "noise": search.noise,
        "limits": config.limits,
        "utility": config.utility,
        "n_initial": search.n_initial,
        "start_from": search.start_from,
        "constraints": config.constraints,
        "stages": None if config.stages is None else config.stages.stages,
        "seed": search.seed,
        "max_trials": config.max_trials,
        "value_name": config.value.name,
        "cost_unit": config.cost.given_unit,
        "bounds": config.value.bounds,
        **search.further,
    }


def _cost(config: Config) -> str | None:
    """How the study gets its costs; the runner turns seconds into money, so money is reported."""
    if config.cost.kind == "none":
        return None
    return "seconds" if config.cost.is_time else "reported"


def trials_so_far(study: Study) -> str:
    """How many trials were told and begun; with stages how many have ended and wait."""
    told, begun = len(study.history), len(study.pending)
    if study.options.stages is None:
        return f"{told} trial{'s' * (told != 1)} told, {begun} without answer"
    ended = "1 trial has" if told == 1 else f"{told} trials have"
    waiting = len(study.paused)
    running = f", {begun - waiting} without answer" if begun > waiting else ""
    return f"{ended} ended, {waiting} {'is' if waiting == 1 else 'are'} paused{running}"
