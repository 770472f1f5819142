# SPDX-License-Identifier: Apache-2.0
"""Our own: a study asked until it stops, with the default model and with the published one."""

from __future__ import annotations

import math
from functools import partial

import stopwise as sw
from stopwise_paper.runs.field.contenders.contender import (
    Contender,
    FieldEvaluation,
    Params,
    Setting,
)


class StopwiseStudy:
    """A study with a price, which says itself when to stop; without one it counts its trials."""

    def __init__(self, setting: Setting, surrogate: str = "default") -> None:
        priced = not math.isnan(setting.lam)
        self._study = sw.Study(
            setting.domain,
            cost=setting.cost,
            lam=setting.lam if priced else None,
            max_trials=None if priced else setting.trials,
            surrogate=surrogate,
            seed=setting.seed,
        )

    def ask(self) -> Params:
        """The study's next trial."""
        self._trial = self._study.ask()
        return self._trial.params

    def tell(self, evaluated: FieldEvaluation) -> None:
        """Tell it; params are those that were asked for, since the study knows the table."""
        self._study.tell(self._trial, evaluated.value, evaluated.cost)

    def would_stop(self) -> bool:
        """The study's verdict."""
        return bool(self._study.should_stop())


STOPWISE = Contender("stopwise", StopwiseStudy, 200, ("stopwise",), priced=True, plays="priced")
STOPWISE_PAPER = Contender(
    "stopwise, surrogate='paper'",
    partial(StopwiseStudy, surrogate="paper"),
    200,
    ("stopwise",),
    priced=True,
    seeds=3,
    plays="priced",
)
# Without a price, for equal numbers of trials.
STOPWISE_UNPRICED = Contender(
    "stopwise, stopping off", StopwiseStudy, 100, ("stopwise",), plays="unpriced"
)
