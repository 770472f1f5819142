# SPDX-License-Identifier: Apache-2.0
"""Optuna: a sampler that chooses by cost, and a callback that stops.

    study = optuna.create_study(sampler=StopwiseSampler(lam, cost="seconds"))
    study.optimize(timed(objective), callbacks=[StopwiseCallback(lam, cost="seconds")])

Either works without the other, on any storage, with any number of workers.
"""

from stopwise.errors import MissingExtraError

try:
    import optuna  # noqa: F401
except ImportError as error:
    raise MissingExtraError.of(
        "optuna", extra="optuna", purpose="the Optuna integration", cause=error
    ) from error

from stopwise.integrations.foreign_space import Told
from stopwise.integrations.optuna._callback import StopwiseCallback
from stopwise.integrations.optuna._cost import COST, timed, timing
from stopwise.integrations.optuna._pruner import StopwisePruner
from stopwise.integrations.optuna._reader import read_history
from stopwise.integrations.optuna._sampler import StopwiseSampler

__all__ = [
    "COST",
    "StopwiseCallback",
    "StopwisePruner",
    "StopwiseSampler",
    "Told",
    "read_history",
    "timed",
    "timing",
]
