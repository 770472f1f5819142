# SPDX-License-Identifier: Apache-2.0
"""The cheapest rows of a table first: what knowing the costs brings without a model of values."""

from __future__ import annotations

import numpy as np

import stopwise as sw
from stopwise.errors import InputTypeError
from stopwise_paper.runs.field.contenders.contender import (
    Contender,
    FieldEvaluation,
    Params,
    Setting,
    log_costs_of_rows,
)


class CheapestFirst:
    """Each row once, in the order of their costs."""

    def __init__(self, setting: Setting) -> None:
        log_costs = log_costs_of_rows(setting)
        if log_costs is None or not isinstance(setting.domain, sw.space.Finite):
            raise InputTypeError("cheapest first needs a table whose costs are known.")
        self._table = setting.domain
        self._rows = iter(np.argsort(log_costs, kind="stable"))

    def ask(self) -> Params:
        """The cheapest row that is left."""
        return self._table.params(int(next(self._rows)))

    def tell(self, evaluated: FieldEvaluation) -> None:
        """Values change nothing."""

    def would_stop(self) -> bool:
        """It has no rule."""
        return False


CHEAPEST_FIRST = Contender(
    "cheapest rows first",
    CheapestFirst,
    200,
    ("stopwise",),
    (20, 50, 100),
    seeds=1,  # nothing is random
    plays="known",
)
