# SPDX-License-Identifier: Apache-2.0
"""The budget: what may be spent in all, and the lambda that uses it up.

Xie et al. (2026), Section 3.1.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from stopwise.core.numerics.limits import LARGEST_AMOUNT, LEAST_AMOUNT, as_float, is_amount
from stopwise.core.snapshot import Snapshot
from stopwise.errors import InputError, shown
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
        if not 0.0 <= as_float(value) < math.inf:
            given = f"lam_for_budget({name}={shown(value)})"
            message = f"{given}: give a finite number that is not negative."
            raise InputError(message)
    U, B, C = float(U), float(B), float(C)
    if U == 0:
        message = "lam_for_budget(U=0): nothing can be gained, so nothing is worth paying for."
        raise InputError(message)
    check_pays_for(B, C)
    lam = U / (B - C)
    if not is_amount(lam):
        message = (
            f"lam_for_budget(U={U!r}, B={B!r}, C={C!r}) is {lam!r}; exchange rates are from"
            f" {LEAST_AMOUNT:g} to {LARGEST_AMOUNT:g}: give objective and cost in other units."
        )
        raise InputError(message)
    return lam


def check_pays_for(B: float, C: float) -> None:
    """Refuse a budget B that does not exceed the cost C of the initial design."""
    if B <= C:
        message = (
            f"the budget of {B:g} does not exceed the {C:g} that the initial design costs, so"
            " there is nothing left to choose with. Give a larger budget, or a smaller or cheaper"
            " initial design (n_initial, start_from)."
        )
        raise InputError(message)


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
            check_pays_for(self.total, design)


def end_of_design(snapshot: Snapshot, size: int) -> Snapshot:
    """The moment after the first observations; now, if nothing kept the limits then.

    Where evaluations succeed is believed as it is now.
    """
    first = snapshot.prefix(size)
    if not math.isfinite(first.best):
        return snapshot
    return replace(first, belief=replace(first.belief, success=snapshot.belief.success))


def expected_range(snapshot: Snapshot, samples: int = SAMPLES) -> Range:
    """U = E[y* - min f | data], the expected possible gain, from posterior paths.

    It is conditioned on the data of the initial design; the prior alone would give about twice as
    much. The minimum is over what succeeds in a draw; gains are counted by what they are worth.

    Args:
        snapshot: The moment, such as after the initial design.
        samples: How many paths.

    Returns:
        The estimate and its standard error over paths; the error of the model is not included.
    """
    drawn = regrets(snapshot, snapshot.rng("expected range"), samples)
    return Range(float(drawn.mean()), float(np.std(drawn, ddof=1) / math.sqrt(samples)))
