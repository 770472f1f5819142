# SPDX-License-Identifier: Apache-2.0
"""EIC: expected improvement less its price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.acquisition._pointwise import Partials, PointwiseScore
from stopwise.acquisition.logeipc import priced_score
from stopwise.core.beliefs.laws import Law
from stopwise.core.exchange_rate import check_lam, in_objective_units
from stopwise.core.numerics.arrays import Array
from stopwise.core.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class EIC:
    r"""Net gain, :math:`\mathrm{EI}(x; y^*) - \lambda c(x)`.

    Positive exactly where a point is worth its price, so the paper's Lemma holds for it as for
    PBGI and LogEIPC (Xie et al. 2026, Appendix A, first footnote). Assumes that one evaluation is
    left: what it teaches for later ones does not count.

    Args:
        lam: Objective units per unit of cost, lambda > 0.

    References:
        Hu et al. (2025); Xie et al. (2026).
    """

    lam: float
    name: ClassVar[str] = "eic"

    def __post_init__(self) -> None:
        object.__setattr__(self, "lam", check_lam(self.lam))

    def __call__(self, law: Law, log_price: Array, best: float) -> Partials:
        """Score and partial derivatives."""
        log_ei, slopes = law.log_ei(best)
        gain, price = np.exp(log_ei), in_objective_units(self.lam, log_price)
        # Where EI is 0 its logarithm's slopes may be infinite; those of EI are then 0.
        d_law = tuple(gain * np.where(gain > 0, slope, 0.0) for slope in slopes)
        return Partials(gain - price, d_law, -price)

    def bind(self, snapshot: Snapshot) -> PointwiseScore:
        """The score on a snapshot; its search starts from the argmax of LogEIPC, as PBGI's."""
        return priced_score(self, snapshot)
