# SPDX-License-Identifier: Apache-2.0
"""PBGI: the Pandora's Box Gittins index, a point's fair value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.acquisition._pointwise import Partials, PointwiseScore
from stopwise.acquisition.logeipc import priced_score
from stopwise.core.beliefs.laws import Law
from stopwise.core.exchange_rate import check_lam, in_objective_units
from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.snapshot import Snapshot

_ROUNDING = 1e-6  # of log EI, generously; relative where that is larger than 1


@dataclass(frozen=True, slots=True)
class PBGI:
    r"""Fair value, the g with :math:`\mathrm{EI}(x; g) = \lambda c(x)` (Eq. 3 of Xie et al. 2026).

    The score is -g: the box with the lowest fair value is opened next. Assumes boxes that are
    independent: then it is the best policy. Those of a Gaussian process are not.

    On a box its search starts from the argmax of LogEIPC, and is never worse than it. So wherever
    any point's expected improvement is worth its price, the chosen point's is (the paper's Lemma),
    although both optima are found numerically.

    Args:
        lam: Objective units per unit of cost, lambda > 0.

    References:
        Weitzman (1979); Xie et al. (2024); Xie et al. (2026).
    """

    lam: float
    name: ClassVar[str] = "pbgi"

    def __post_init__(self) -> None:
        object.__setattr__(self, "lam", check_lam(self.lam))

    def __call__(self, law: Law, log_price: Array, best: float) -> Partials:  # noqa: ARG002
        """Score and partial derivatives."""
        fair, slopes, d_log_price = law.fair_value(in_objective_units(self.lam, log_price))
        return Partials(-fair, tuple(-slope for slope in slopes), -d_log_price)

    def may_exceed(self, law: Law, log_price: Array, score: float) -> Mask:
        """Where the score may be above another: a fair value is below g where EI(g) > price."""
        log_prices = np.log(in_objective_units(self.lam, log_price))
        rounding = _ROUNDING * np.maximum(np.abs(log_prices), 1.0)
        return ~np.asarray(law.log_ei(-score).value < log_prices - rounding)

    def bind(self, snapshot: Snapshot) -> PointwiseScore:
        """The score on a snapshot."""
        return priced_score(self, snapshot)
