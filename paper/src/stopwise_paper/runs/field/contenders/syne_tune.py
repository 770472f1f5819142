# SPDX-License-Identifier: Apache-2.0
"""Syne Tune: conformal quantile regression, asked and told as its README does."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np

import stopwise as sw
from stopwise.errors import InputTypeError
from stopwise_paper.runs.field.contenders.contender import (
    Contender,
    FieldEvaluation,
    Params,
    Setting,
)

_METRIC = "value"


class SyneTuneCqr:
    """A scheduler with its defaults; rows of a table are told as they are.

    Not its other model, ``BOTorch``: that one is fitted to what it has proposed, whatever it is
    told. It knows no conditions and searches the flat box. A failed evaluation is told as an
    error, which the searcher leaves out. Its seed leaves parts of the model to numpy's global
    one, which is set here.
    """

    def __init__(self, setting: Setting) -> None:
        from syne_tune.optimizer.baselines import CQR
        from syne_tune.optimizer.schedulers.ask_tell_scheduler import AskTellScheduler

        logging.getLogger("syne_tune").setLevel(logging.ERROR)
        np.random.seed(setting.seed)  # noqa: NPY002
        space = {name: _domain(parameter) for name, parameter in setting.space.items()}
        self._scheduler = AskTellScheduler(
            CQR(space, metric=_METRIC, do_minimize=True, random_seed=setting.seed)
        )

    def ask(self) -> Params:
        """The scheduler's next trial."""
        self._trial = self._scheduler.ask()
        return dict(self._trial.config)

    def tell(self, evaluated: FieldEvaluation) -> None:
        """Tell the trial, or the row that stands for it."""
        params, value, _ = evaluated
        trial = replace(self._trial, config=dict(params))
        if value is None:
            self._scheduler.base_scheduler.on_trial_error(trial)
        else:
            self._scheduler.tell(trial, {_METRIC: value})

    def would_stop(self) -> bool:
        """Its termination criterion asks its user for a threshold on the regret."""
        return False


def _domain(parameter: sw.space.Parameter) -> Any:  # noqa: ANN401  of Syne Tune
    from syne_tune.config_space import choice, lograndint, loguniform, randint, uniform

    if isinstance(parameter, sw.Real):
        return (loguniform if parameter.log else uniform)(parameter.low, parameter.high)
    if isinstance(parameter, sw.Integer):
        return (lograndint if parameter.log else randint)(parameter.low, parameter.high)
    if isinstance(parameter, sw.Categorical):
        return choice(list(parameter.choices))
    message = f"{parameter!r} is not translated for Syne Tune."
    raise InputTypeError(message)


# huggingface_hub: its searcher imports it, but Syne Tune installs it only with its extra
SYNE_TUNE = Contender(
    "Syne Tune, CQR", SyneTuneCqr, 50, ("syne-tune", "huggingface_hub"), (20, 50), seeds=3
)
