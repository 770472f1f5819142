# SPDX-License-Identifier: Apache-2.0
"""scikit-optimize: its Optimizer with its defaults, a Gaussian process and a hedge of three."""

from __future__ import annotations

import warnings
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
    """

    def __init__(self, setting: Setting) -> None:
        from skopt import Optimizer

        warnings.simplefilter("ignore")
        self._names = tuple(setting.space)
        dimensions = [_dimension(parameter) for parameter in setting.space.values()]
        self._optimizer = Optimizer(dimensions, random_state=setting.seed)
        self._failures = FailuresAsWorst()

    def ask(self) -> Params:
        """The next point."""
        return dict(zip(self._names, self._optimizer.ask(), strict=True))

    def tell(self, evaluated: FieldEvaluation) -> None:
        """Tell a value, and failures as the worst one."""
        params, value, _ = evaluated
        x = [params[name] for name in self._names]
        for point, told in self._failures.to_tell(x, value):
            self._optimizer.tell(point, told)

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
