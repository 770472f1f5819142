# SPDX-License-Identifier: Apache-2.0
"""SMAC3: its facade for hyper-parameters, asked and told."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import stopwise as sw
from stopwise.errors import InputTypeError
from stopwise_paper.runs.field.contenders.contender import (
    Contender,
    FailuresAsWorst,
    FieldEvaluation,
    Params,
    Setting,
)

_SILENT = 50  # a level of logging


class Smac:
    """A facade whose objective is never called; rows of a table are told as they are.

    Conditions are those of ConfigSpace: SMAC proposes what exists. A failed evaluation is told as
    the worst value so far: the infinite value of a crash ends SMAC itself with an error.
    """

    def __init__(self, setting: Setting) -> None:
        from smac import HyperparameterOptimizationFacade, Scenario

        self._space = configuration_space(setting.space, setting.seed)
        self._folder = tempfile.TemporaryDirectory()  # it insists on writing
        scenario = Scenario(
            self._space,
            deterministic=True,
            n_trials=setting.trials,
            seed=setting.seed,
            output_directory=Path(self._folder.name),
        )
        self._smac = HyperparameterOptimizationFacade(
            scenario, _never_called, overwrite=True, logging_level=_SILENT
        )
        self._failures = FailuresAsWorst()

    def ask(self) -> Params:
        """The facade's next trial."""
        self._trial = self._smac.ask()
        return dict(self._trial.config)

    def tell(self, evaluated: FieldEvaluation) -> None:
        """Tell the trial, or the row that stands for it, and failures as the worst value."""
        from ConfigSpace import Configuration
        from smac.runhistory.dataclasses import TrialInfo, TrialValue

        params, value, _ = evaluated
        trial = self._trial
        if params != dict(trial.config):
            values = {name: self._in_range(name, each) for name, each in params.items()}
            trial = TrialInfo(Configuration(self._space, values=values), seed=trial.seed)
        for told, cost in self._failures.to_tell(trial, value):
            self._smac.tell(told, TrialValue(cost=cost))

    def _in_range(self, name: str, value: Any) -> Any:  # noqa: ANN401  of any kind
        """A value of a row: ConfigSpace rounds the ends of ranges to 13 digits."""
        parameter = self._space[name]
        if not hasattr(parameter, "lower"):
            return value
        return min(max(value, parameter.lower), parameter.upper)

    def would_stop(self) -> bool:
        """It has no rule but counts."""
        return False


def _never_called(config: Any, seed: int = 0) -> float:  # noqa: ANN401
    raise NotImplementedError(config, seed)


def configuration_space(space: Mapping[str, sw.space.Parameter], seed: int) -> Any:  # noqa: ANN401
    """A space in the words of ConfigSpace, its conditions included."""
    from ConfigSpace import AndConjunction, ConfigurationSpace, InCondition

    configured = ConfigurationSpace(seed=seed)
    configured.add([_hyperparameter(name, parameter) for name, parameter in space.items()])
    for name, parameter in space.items():
        conditions = [
            InCondition(configured[name], configured[other], list(values))
            for other, values in (parameter.when or {}).items()
        ]
        if conditions:
            configured.add(AndConjunction(*conditions) if conditions[1:] else conditions[0])
    return configured


def _hyperparameter(name: str, parameter: sw.space.Parameter) -> Any:  # noqa: ANN401
    from ConfigSpace import Categorical, Float, Integer

    if isinstance(parameter, sw.Real):
        return Float(name, (parameter.low, parameter.high), log=parameter.log)
    if isinstance(parameter, sw.Integer):
        return Integer(name, (parameter.low, parameter.high), log=parameter.log)
    if isinstance(parameter, sw.Categorical):
        return Categorical(name, list(parameter.choices))
    message = f"{parameter!r} is not translated for SMAC."
    raise InputTypeError(message)


# It is told how many trials there will be, and a quarter of them are its design.
_NEEDS = ("smac", "ConfigSpace")
SMAC_50 = Contender("SMAC3, told of 50 trials", Smac, 50, _NEEDS, (50,), seeds=3, plays="priced")
SMAC = Contender("SMAC3", Smac, 100, _NEEDS, (100,), seeds=3)
