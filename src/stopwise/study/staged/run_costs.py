# SPDX-License-Identifier: Apache-2.0
"""The costs of runs by what was paid so far: a start, and then so much for every step.

A program loads its libraries and data before its first step. If that were taken for the cost of a
step, a whole run would look many times as dear as it is. What a start costs is seen once a run has
reported twice. In runs that have reported once it is taken to be the median share of what they
paid: a share, since a start that took long because the machine was busy says nothing of the steps.
Where a start costs next to nothing, a run costs what it has cost so far, divided by its steps and
times all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stopwise.record.staged import Report

_NOTHING = 0.05  # of the cost of the first report: a start that costs less is not seen
_MOST = 0.999  # of the cost of a first report may be its start


@dataclass(frozen=True, slots=True)
class RunCost:
    """What a run costs.

    Args:
        start: Before its first step.
        steps: All its steps together.
    """

    start: float
    steps: float

    @property
    def whole(self) -> float:
        """The whole of it."""
        return self.start + self.steps if self.start else self.steps


def run_costs(reports: Sequence[Report], last: int) -> dict[int, RunCost]:
    """What each trial that was charged is expected to cost as a whole, by number.

    Args:
        reports: The reports, in order.
        last: The last step.
    """
    from statistics import median  # which takes long to import

    charged = [report for report in reports if report.cost > 0.0]
    latest = {report.trial: report for report in charged}
    first = {report.trial: report for report in reversed(charged)}
    starts = {n: _start(first[n], latest[n]) for n in latest if first[n].step < latest[n].step}
    share = median(start / first[n].cost for n, start in starts.items()) if starts else 0.0
    return {
        n: _cost(report, starts.get(n, share * report.cost), last) for n, report in latest.items()
    }


def usual_start(costs: dict[int, RunCost]) -> float:
    """The share of a whole run that its start costs, as a rule."""
    from statistics import median

    return median(cost.start / cost.whole for cost in costs.values()) if costs else 0.0


def _start(first: Report, latest: Report) -> float:
    """What a run paid before its first step, by the line through two of its reports."""
    rate = (latest.cost - first.cost) / (latest.step - first.step)
    start = min(first.cost - rate * first.step, _MOST * first.cost)
    return start if start > _NOTHING * first.cost else 0.0


def _cost(report: Report, start: float, last: int) -> RunCost:
    return RunCost(start, (report.cost - start) / report.step * last)
