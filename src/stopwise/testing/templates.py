# SPDX-License-Identifier: Apache-2.0
"""A stopping rule and an acquisition to copy: both keep every law, and use public names only.

Copy a class into a file of your own, change its name and its formula, and keep the test below it::

    def test_my_rule_keeps_the_laws():
        stopwise.testing.check_stopping_rule(MyRule())
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stopwise.acquisition import Partials, PointwiseScore, Snapshot
from stopwise.core.beliefs import Law
from stopwise.stopping import (
    Boundary,
    RuleParameter,
    RuleTraits,
    Signal,
    SignalKind,
    SignalRecord,
    ThresholdRule,
)

__all__ = ["MyAcquisition", "MyRule"]


@dataclass(frozen=True)
class MyRule(ThresholdRule):
    """Stop when the last ``window`` evaluations have gained no more than ``tolerance``.

    Args:
        tolerance: In objective units.
        window: How many evaluations are looked back.
    """

    tolerance: float = 0.01
    window: int = 5
    name: ClassVar[str] = "my-rule"  # of your own: shown in verdicts, reports and audits

    @property
    def traits(self) -> RuleTraits:
        """What others need to know: what the signal is, and which parameters have a unit."""
        signal = SignalKind(
            key=f"my-gain-{self.window}",  # names all that the number depends on, and no more
            scale="linear",
            label="gain of the last evaluations",
            reads="judged values",  # neither the model nor prices
            unit=(1, 0),  # powers of the objective's unit and of the cost's
        )
        tolerance = RuleParameter("tolerance", self.tolerance, (1, 0))
        return RuleTraits(signal, memory=1, parameters=(tolerance,))

    def signal(self, snapshot: Snapshot) -> Signal:
        """The number that decides; nan while there is no answer. It is recorded once."""
        if snapshot.t < self.window:
            return snapshot.signal(np.nan)
        values = snapshot.attained  # to be minimised, whatever the direction
        before = values[: snapshot.n - self.window].min()
        return snapshot.signal(max(before - values.min(), 0.0))

    def boundary(self, record: SignalRecord) -> Boundary:  # noqa: ARG002  it is the same always
        """What the signal is compared with; ties stop."""
        return Boundary(self.tolerance)

    def sentence(self, now: Signal, level: float) -> str:
        """The comparison in words, with its numbers."""
        return (
            f"the last {self.window} evaluations have gained {now.value:.4g}{now.units.in_value},"
            f" and {level:.4g} is tolerated"
        )

    def waiting(self, now: Signal) -> str:
        """Why there is no answer yet."""
        return f"{now.t} of {self.window} evaluations after the initial design"


@dataclass(frozen=True)
class MyAcquisition:
    """Log expected improvement, less a share of the log price: between EI and EI per cost.

    Args:
        share: How much the price counts: 0 not at all, 1 as in ``LogEIPC``.
    """

    share: float = 0.5
    name: ClassVar[str] = "my-acquisition"

    def __call__(self, law: Law, log_price: NDArray[np.float64], best: float) -> Partials:
        """Scores, larger is better, and their slopes in the law's parameters and the log price.

        Ask the law, never for a mean and a deviation: it may be a mixture, or bounded.
        """
        log_ei, slopes = law.log_ei(best)
        score = log_ei - self.share * log_price
        return Partials(score, slopes, np.full_like(log_ei, -self.share))

    def bind(self, snapshot: Snapshot) -> PointwiseScore:
        """The score on a snapshot: evaluated, pending and barred points are left out for you."""
        return PointwiseScore(self, snapshot, from_incumbent=True, valued=True)
