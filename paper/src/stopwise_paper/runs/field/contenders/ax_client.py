# SPDX-License-Identifier: Apache-2.0
"""Ax: its client with its own choice of methods, and its global stopping strategy."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import stopwise as sw
from stopwise.errors import InputTypeError
from stopwise_paper.runs.field.contenders.contender import (
    Contender,
    FieldEvaluation,
    Params,
    Setting,
)

_FEWEST = 10  # trials before its strategy may stop; the strategy asks its user for a number
_METRIC = "value"


class AxClient:
    """A client; a trial that was moved to a row of a table is abandoned and the row attached.

    It is given the flat box of a conditional space: Ax can depend one parameter on another, but
    says so nowhere in its documentation (its issue 4694).
    """

    def __init__(self, setting: Setting) -> None:
        import torch
        from ax.api.client import Client
        from ax.global_stopping.strategies.improvement import ImprovementGlobalStoppingStrategy
        from ax.utils.common.logger import set_ax_logger_levels

        torch.set_num_threads(1)
        set_ax_logger_levels(logging.ERROR)
        warnings.simplefilter("ignore")
        self._client = Client(random_seed=setting.seed)
        self._client.configure_experiment(
            [_config(name, parameter) for name, parameter in setting.space.items()]
        )
        self._client.configure_optimization(objective=f"-{_METRIC}")
        self._client.configure_generation_strategy(initialization_random_seed=setting.seed)
        self._strategy = ImprovementGlobalStoppingStrategy(min_trials=_FEWEST)

    def ask(self) -> Params:
        """The client's next trial."""
        [(self._trial, self._asked)] = self._client.get_next_trials(max_trials=1).items()
        return dict(self._asked)

    def tell(self, evaluated: FieldEvaluation) -> None:
        """Complete the trial, or the row that stands for it."""
        params, value, _ = evaluated
        trial = self._trial
        if params != self._asked:
            self._client.mark_trial_abandoned(trial)
            trial = self._client.attach_trial(parameters=dict(params))
        if value is None:
            self._client.mark_trial_failed(trial)
        else:
            self._client.complete_trial(trial, raw_data={_METRIC: value})

    def would_stop(self) -> bool:
        """The answer of the global stopping strategy with its defaults."""
        experiment = self._client._experiment  # noqa: SLF001  the client has no public way
        stop, _ = self._strategy.should_stop_optimization(experiment)
        return bool(stop)


def _config(name: str, parameter: sw.space.Parameter) -> Any:  # noqa: ANN401  of Ax
    from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig

    if isinstance(parameter, sw.Real | sw.Integer):
        return RangeParameterConfig(
            name=name,
            bounds=(parameter.low, parameter.high),
            parameter_type="float" if isinstance(parameter, sw.Real) else "int",
            scaling="log" if parameter.log else None,
        )
    if isinstance(parameter, sw.Categorical):
        return ChoiceParameterConfig(
            name=name, values=list(parameter.choices), parameter_type="str", is_ordered=False
        )
    message = f"{parameter!r} is not translated for Ax."
    raise InputTypeError(message)


AX = Contender(
    "Ax", AxClient, 50, ("ax-platform", "botorch", "torch"), (20, 50), has_rule=True, seeds=3
)
