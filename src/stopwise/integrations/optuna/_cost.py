# SPDX-License-Identifier: Apache-2.0
"""The cost of a trial: the seconds that the objective's body took, or what the user reports.

``trial.duration`` is not used: it contains the time that the sampler took to choose.
"""

from __future__ import annotations

import math
import numbers
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TypeVar

from optuna.trial import FrozenTrial, Trial

from stopwise.errors import InputError

COST = "cost"  # the user attribute of a trial that says what it cost

R = TypeVar("R")


@contextmanager
def timing(trial: Trial) -> Iterator[None]:
    """Time the block as the trial's cost, in seconds, also if it raises an exception.

    The sampler's time is not counted. A cost that the objective reports itself,
    ``trial.set_user_attr("cost", dollars)``, is left as it is.

    Args:
        trial: The trial; give it before the first ``suggest_...``.
    """
    _ = trial.relative_params  # the sampler chooses here, at the latest; the clock starts after
    begin = time.perf_counter()
    try:
        yield
    finally:
        seconds = time.perf_counter() - begin
        if COST not in trial.user_attrs:
            least = time.get_clock_info("perf_counter").resolution
            trial.set_user_attr(COST, max(seconds, least))


def timed(objective: Callable[[Trial], R]) -> Callable[[Trial], R]:
    """Time an objective's body as the cost of its trials; a decorator, see ``timing``."""

    @wraps(objective)
    def clocked(trial: Trial) -> R:
        with timing(trial):
            return objective(trial)

    return clocked


def paid(trial: FrozenTrial) -> float | None:
    """The cost that a finished trial reports; None if it reports none."""
    cost = trial.user_attrs.get(COST)
    if cost is None:
        return None
    number = isinstance(cost, numbers.Real) and not isinstance(cost, bool)
    if not (number and math.isfinite(cost) and cost > 0):
        message = (
            f"trial {trial.number} says that it cost {cost!r}: set the user attribute {COST!r} to"
            " a positive number, what was really paid."
        )
        raise InputError(message)
    return float(cost)
