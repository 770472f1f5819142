# SPDX-License-Identifier: Apache-2.0
"""Optuna: TPE, its default, and GPSampler; with its terminator beside them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import stopwise as sw
from stopwise.errors import InputTypeError
from stopwise_paper.runs.field.contenders.contender import (
    Contender,
    FieldEvaluation,
    Params,
    Setting,
)

_FEWEST = 20  # trials before its terminator may stop a study; Optuna's own default


class OptunaStudy:
    """A define-by-run study; a trial that was moved to a row of a table is added as that row.

    The terminator is the one that needs no cross-validation: the expected minimum regret (EMMR)
    against the median of its first values, as Optuna documents it.
    """

    def __init__(self, setting: Setting, sampler: Callable[..., Any]) -> None:
        import optuna
        from optuna.terminator import EMMREvaluator, MedianErrorEvaluator, Terminator

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.filterwarnings("ignore", category=FutureWarning, module="optuna")
        warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
        self._space = setting.space
        self._study = optuna.create_study(sampler=sampler(seed=setting.seed))
        emmr = EMMREvaluator(seed=setting.seed)
        error = MedianErrorEvaluator(emmr)
        self._terminator = Terminator(emmr, error, min_n_trials=_FEWEST)

    def ask(self) -> Params:
        """Suggest each parameter that exists for the values of those before it."""
        self._trial = self._study.ask()
        params: dict[str, Any] = {}
        for name, parameter in self._space.items():
            when = parameter.when or {}
            if all(params.get(other) in values for other, values in when.items()):
                params[name] = self._trial._suggest(name, distribution(parameter))  # noqa: SLF001
        return params

    def tell(self, evaluated: FieldEvaluation) -> None:
        """Tell the trial; what stands for it is added, and what was asked for counts as failed."""
        import optuna

        params, value, _ = evaluated
        failed = optuna.trial.TrialState.FAIL
        if params == self._trial.params:
            self._study.tell(self._trial, value, state=failed if value is None else None)
            return
        self._study.tell(self._trial, state=failed)
        if value is None:
            return
        distributions = {name: distribution(self._space[name]) for name in params}
        added = optuna.trial.create_trial(
            params=dict(params), distributions=distributions, value=value
        )
        self._study.add_trial(added)

    def would_stop(self) -> bool:
        """The terminator's answer."""
        return bool(self._terminator.should_terminate(self._study))


def distribution(parameter: sw.space.Parameter) -> Any:  # noqa: ANN401  of Optuna
    """A parameter in Optuna's words."""
    from optuna import distributions

    if isinstance(parameter, sw.Real):
        return distributions.FloatDistribution(parameter.low, parameter.high, log=parameter.log)
    if isinstance(parameter, sw.Integer):
        return distributions.IntDistribution(parameter.low, parameter.high, log=parameter.log)
    if isinstance(parameter, sw.Categorical):
        return distributions.CategoricalDistribution(tuple(parameter.choices))
    message = f"{parameter!r} is not translated for Optuna."
    raise InputTypeError(message)


def _tpe(**options: Any) -> Any:  # noqa: ANN401
    from optuna.samplers import TPESampler

    return TPESampler(**options)


def _gp(**options: Any) -> Any:  # noqa: ANN401
    from optuna.samplers import GPSampler

    return GPSampler(**options)


OPTUNA_TPE = Contender(
    "Optuna, TPE",
    partial(OptunaStudy, sampler=_tpe),
    100,
    ("optuna",),
    (20, 50, 100),
    has_rule=True,
)
OPTUNA_GP = Contender(
    "Optuna, GPSampler",
    partial(OptunaStudy, sampler=_gp),
    100,
    ("optuna", "torch"),
    (20, 50, 100),
    has_rule=True,
)
