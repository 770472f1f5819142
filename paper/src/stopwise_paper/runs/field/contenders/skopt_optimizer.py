# SPDX-License-Identifier: Apache-2.0
"""scikit-optimize: its Optimizer with its defaults, and with expected improvement per second."""

from __future__ import annotations

import warnings
from functools import partial
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


class SkoptOptimizer:
    """An optimiser; a failed evaluation is told as the worst value so far, as users do.

    It knows no conditions and searches the flat box.

    Args:
        setting: The problem.
        per_second: Whether it is told what each evaluation cost, as seconds, and divides what it
            expects to gain by what it expects to pay; else its default, a hedge of three.
    """

    def __init__(self, setting: Setting, *, per_second: bool = False) -> None:
        from skopt import Optimizer

        warnings.simplefilter("ignore")
        self._names = tuple(setting.space)
        dimensions = [_dimension(parameter) for parameter in setting.space.values()]
        acquisition = "EIps" if per_second else "gp_hedge"
        choices = all(isinstance(each, sw.Categorical) for each in setting.space.values())
        self._optimizer = Optimizer(
            dimensions,
            acq_func=acquisition,
            # its kernel of choices has no gradient, which "auto" does not see with EIps
            acq_optimizer="sampling" if choices and per_second else "auto",
            random_state=setting.seed,
        )
        self._per_second = per_second
        self._failures = FailuresAsWorst()

    def ask(self) -> Params:
        """The next point."""
        return dict(zip(self._names, self._optimizer.ask(), strict=True))

    def tell(self, evaluated: FieldEvaluation) -> None:
        """Tell a value, and failures as the worst one."""
        params, value, cost = evaluated
        x = [params[name] for name in self._names]
        for (point, seconds), told in self._failures.to_tell((x, cost), value):
            self._optimizer.tell(point, (told, seconds) if self._per_second else told)

    def would_stop(self) -> bool:
        """It has no rule but callbacks of its user."""
        return False


def _dimension(parameter: sw.space.Parameter) -> Any:  # noqa: ANN401
    from skopt.space import Categorical, Integer, Real

    if isinstance(parameter, sw.Real | sw.Integer):
        prior = "log-uniform" if parameter.log else "uniform"
        kind = Real if isinstance(parameter, sw.Real) else Integer
        return kind(parameter.low, parameter.high, prior=prior)
    if isinstance(parameter, sw.Categorical):
        return Categorical(list(parameter.choices))
    message = f"{parameter!r} is not translated for scikit-optimize."
    raise InputTypeError(message)


SKOPT = Contender("scikit-optimize", SkoptOptimizer, 50, ("scikit-optimize",), (20, 50), seeds=3)
SKOPT_PER_SECOND = Contender(
    "scikit-optimize, EI per second",
    partial(SkoptOptimizer, per_second=True),
    50,
    ("scikit-optimize",),
    (20, 50),
    seeds=3,
    plays="priced",
)
