# SPDX-License-Identifier: Apache-2.0
"""The worth of going on where a budget alone decides, by the lam that the budget has set.

A budget without lam stops when nothing affordable remains, whatever is still to be gained. But
PBGI-D has a lam, U/(B - C), halved each time the stopping rule would have triggered, and by it the
rule has an answer at every moment. Its signal is recorded as that of any rule; once nothing is
affordable any more, it is that of what one would evaluate with more money.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from stopwise.acquisition import PBGID, Acquisition, LogEIPC
from stopwise.core.quantity import quantity
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Signal, Trace
from stopwise.stopping import PBGI, LogEIPCMedian
from stopwise.stopping.signals import GAIN_PER_COST, gain_per_cost
from stopwise.stopping.verdict import Verdict
from stopwise.study.context import StudyContext
from stopwise.study.options import StudyOptions


@dataclass(frozen=True, slots=True)
class WorthRecorder(LogEIPCMedian):
    """Records what going on would gain per cost, where a budget alone decides; nobody obeys it."""

    def signal(self, snapshot: Snapshot) -> Signal:
        """The supremum of log EI per cost; with more money, if nothing is affordable."""
        return gain_per_cost(beyond_budget(snapshot))


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

    @property
    def while_money_is_left(self) -> str:
        """A clause about the answer, while the budget goes on."""
        if self.verdict.stop:
            return (
                f"; at {self._price} nothing that remains is worth its price, but a budget is used"
                " up"
            )
        return f", and at {self._price} the next evaluation is worth its price"

    @property
    def after_the_last(self) -> str:
        """A clause about the answer, once nothing is affordable."""
        would = "would not" if self.verdict.stop else "would"
        return f"; with more money, at {self._price}, going on {would} be worth its price"

    @property
    def _price(self) -> str:
        if self.lam == self.lam0:
            return f"the lam of {quantity(self.lam)} that the budget has set"
        return f"the lam of {quantity(self.lam)} (that of the budget was halved)"


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
    trace = trace_of_budget(traces, snapshot)
    if not len(trace) or trace.current.n != snapshot.n:
        return None
    lam = lams_of_budget(acquisition, trace)[trace.current.t]
    return BudgetWorth(acquisition.lam0, lam, PBGI(lam).verdict(trace.in_units(options.units)))


def worth_by_budget(context: StudyContext, snapshot: Snapshot) -> BudgetWorth | None:
    """The answer for a study at this moment, by the lam that its budget has set; see above."""
    state = context.state
    acquisition = None if state.lam0 is None else PBGID(state.lam0)
    return budget_worth(context.options, acquisition, state.traces, snapshot)


def trace_of_budget(traces: Mapping[str, Trace], snapshot: Snapshot) -> Trace:
    """The record, and the present signal if it is not in it: looking records nothing."""
    trace = traces.get(GAIN_PER_COST.key, Trace())
    if snapshot.t < 0 or not snapshot.has_incumbent or trace.current.n == snapshot.n:
        return trace
    return Trace.of((*trace.signals, WorthRecorder().signal(snapshot)))


def beyond_budget(snapshot: Snapshot) -> Snapshot:
    """The moment; if nothing that remains is affordable, as it would be with more money."""
    if math.isinf(snapshot.left) or snapshot.sup(LogEIPC()).x is not None:
        return snapshot
    return replace(snapshot, left=math.inf)


def lams_of_budget(acquisition: PBGID, trace: Trace) -> dict[int, float]:
    """The lam that each recorded signal was compared with, by t."""
    signals = trace.signals
    return {
        signal.t: acquisition.lam(Trace.of(signals[:before]))
        for before, signal in enumerate(signals)
    }
