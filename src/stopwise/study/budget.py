# SPDX-License-Identifier: Apache-2.0
"""The budget: what may be spent in all, and the lambda that uses it up.

Xie et al. (2026), Section 3.1.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stopwise.core.snapshot import Snapshot
from stopwise.errors import InputError
from stopwise.stopping.sampled_regret import regrets

SAMPLES = 256


class Range(NamedTuple):
    """An estimate and its standard error."""

    value: float
    error: float


def lam_for_budget(U: float, B: float, C: float) -> float:
    r"""The :math:`\lambda = U/(B - C)` that keeps the expected spend within a budget.

    Args:
        U: What can be gained beyond the initial design, E[y*_0 - min f], in objective units: a
            range that you know, or ``expected_range``.
        B: The budget, in units of cost.
        C: The cost of the whole initial design.

    Returns:
        Lambda, in objective units per unit of cost.

    Example:
        >>> lam_for_budget(U=50, B=11_000, C=1_000)  # 50 points of accuracy, 10,000 s
        0.005
    """
    for name, value in (("U", U), ("B", B), ("C", C)):
        if not (math.isfinite(value) and value >= 0):
            message = (
                f"lam_for_budget({name}={value!r}): give a finite number that is not negative."
            )
            raise InputError(message)
    if U == 0:
        message = "lam_for_budget(U=0): nothing can be gained, so nothing is worth paying for."
        raise InputError(message)
    if B <= C:
        message = (
            f"the budget of {B:g} does not exceed the {C:g} that the initial design costs, so"
            " there is nothing left to choose with. Give a larger budget, or a smaller or cheaper"
            " initial design (n_initial, start_from)."
        )
        raise InputError(message)
    return U / (B - C)


def most_payable(B: float, committed: float) -> float:
    """The most that one more evaluation may cost, so that the sum in floats is within B."""
    most = B - committed + 0.5 * math.ulp(B)  # what rounds to B is within it
    while committed + most > B:  # a tie that was rounded up: one step down undoes it
        most = math.nextafter(most, -math.inf)
    return most


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be spent in all; without a total there is no limit."""

    total: float | None = None

    def left(self, committed: float) -> float:
        """What may still be spent when ``committed`` is spent or reserved."""
        return math.inf if self.total is None else self.total - committed

    def most_payable(self, committed: float) -> float:
        """The most that one more evaluation may cost."""
        return math.inf if self.total is None else most_payable(self.total, committed)

    def less(self, spent_elsewhere: float) -> Budget:
        """The budget less a cost of evaluations that the study does not contain."""
        return self if self.total is None else Budget(self.total - spent_elsewhere)

    def check_pays_for(self, design: float) -> None:
        """Refuse a budget that does not exceed the cost of the initial design."""
        if self.total is not None:
            lam_for_budget(1.0, self.total, design)


def expected_range(snapshot: Snapshot, samples: int = SAMPLES) -> Range:
    """U = E[y* - min f | data], the expected possible gain, from posterior paths.

    It is conditioned on the data of the initial design; the prior alone would give about twice as
    much.

    Args:
        snapshot: The moment, such as after the initial design.
        samples: How many paths.

    Returns:
        The estimate and its standard error over paths; the error of the model is not included.
    """
    drawn = regrets(snapshot, snapshot.rng("expected range"), samples)
    return Range(float(drawn.mean()), float(np.std(drawn, ddof=1) / math.sqrt(samples)))
