# SPDX-License-Identifier: Apache-2.0
"""The worth of going on where a budget alone decides, by the lam that the budget has set.

A budget without lam stops when nothing affordable remains, whatever is still to be gained. But
PBGI-D has a lam, U/(B - C), halved each time the stopping rule would have triggered, and by it the
rule has an answer at every moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stopwise.acquisition import PBGID, Acquisition
from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Trace
from stopwise.stopping import PBGI
from stopwise.stopping.signals import GAIN_PER_COST
from stopwise.stopping.verdict import Verdict
from stopwise.study.lam_ladder import with_this_moment
from stopwise.study.options import StudyOptions


@dataclass(frozen=True, slots=True)
class BudgetWorth:
    """The answer of the PBGI rule at the lam that a budget has set.

    Args:
        lam0: The first lam, U/(B - C).
        lam: The lam of this moment: halved each time the rule would have stopped.
        verdict: What the rule says at this lam; it is shown, and not obeyed.
    """

    lam0: float
    lam: float
    verdict: Verdict

    @property
    def words(self) -> str:
        """The lam and the answer, as a sentence."""
        now = "" if self.lam == self.lam0 else f", by now halved to {quantity(self.lam)}"
        return (
            f"The budget has set lam = {quantity(self.lam0)}{now}. At this price"
            f" {self.verdict.reason}."
        )


def budget_worth(
    options: StudyOptions,
    acquisition: Acquisition | None,
    traces: Mapping[str, Trace],
    snapshot: Snapshot,
) -> BudgetWorth | None:
    """The answer at this moment; None unless a budget alone decides and has set its lam.

    Args:
        options: Of the study.
        acquisition: Of the study; None until the budget has chosen its lam.
        traces: Recorded signals, by key.
        snapshot: This moment.
    """
    if not options.budget_decides or not isinstance(acquisition, PBGID):
        return None
    trace = with_this_moment(traces.get(GAIN_PER_COST.key, Trace()), snapshot)
    if not len(trace) or trace.current.n != snapshot.n:
        return None
    lam = lams_of_budget(acquisition, trace)[trace.current.t]
    return BudgetWorth(acquisition.lam0, lam, PBGI(lam).verdict(trace.in_units(options.units)))


def lams_of_budget(acquisition: PBGID, trace: Trace) -> dict[int, float]:
    """The lam that each recorded signal was compared with, by t."""
    signals = trace.signals
    return {
        signal.t: acquisition.lam(Trace.of(signals[:before]))
        for before, signal in enumerate(signals)
    }
