# SPDX-License-Identifier: Apache-2.0
"""LogEIPC: log expected improvement per unit of cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.acquisition._pointwise import Formula, Partials, PointwiseScore
from stopwise.core.beliefs.belief import Pricing
from stopwise.core.beliefs.laws import Law
from stopwise.core.numerics.arrays import Array
from stopwise.core.snapshot import Snapshot
from stopwise.errors import InputError


@dataclass(frozen=True, slots=True)
class LogEIPC:
    r"""Gain per price, :math:`\log\,\mathrm{EI}(x; y^*) - \log c(x)` (Eq. 4 of Xie et al. 2026).

    It does not depend on lambda. Its supremum is what the PBGI/LogEIPC rule compares with
    :math:`\log\lambda`. Assumes that a budget is to be used at the best rate, one step ahead.

    Args:
        cost: How an uncertain price enters: ``"exp"`` by E[c], on which the guarantees rest, or
            ``"inv"`` by 1/E[1/c] (Astudillo et al. 2021), which explores more.

    References:
        Snoek et al. (2012); Ament et al. (2023); Xie et al. (2026).
    """

    cost: Pricing = "exp"
    name: ClassVar[str] = "logeipc"

    def __post_init__(self) -> None:
        if self.cost not in ("exp", "inv"):
            message = f"LogEIPC(cost={self.cost!r}): give 'exp' (by E[c]) or 'inv' (by 1/E[1/c])."
            raise InputError(message)

    def __call__(self, law: Law, log_price: Array, best: float) -> Partials:
        """Score and partial derivatives."""
        log_ei, slopes = law.log_ei(best)
        return Partials(log_ei - log_price, slopes, np.full_like(log_ei, -1.0))

    def bind(self, snapshot: Snapshot) -> PointwiseScore:
        """The score on a snapshot."""
        return PointwiseScore(
            self, snapshot, self.cost, from_incumbent=True, valued=True, is_log_gain=True
        )


def priced_score(formula: Formula, snapshot: Snapshot) -> PointwiseScore:
    """A formula in objective units on a snapshot; its search starts from LogEIPC's argmax too."""
    best_per_cost = snapshot.sup(LogEIPC()).x
    starts = None if best_per_cost is None else best_per_cost[None, :]
    return PointwiseScore(
        formula,
        snapshot,
        starts=starts,
        from_incumbent=True,
        in_objective_units=True,
        valued=True,
    )
