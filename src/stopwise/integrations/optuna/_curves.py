# SPDX-License-Identifier: Apache-2.0
"""The intermediate values of Optuna's trials as curves, for ``stopwise.audit``.

Optuna keeps no time of a report, so curves stand one after the other, in the order in which their
trials ended; and what a trial cost is spread evenly over its steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from optuna.trial import FrozenTrial, TrialState

from stopwise.core.stages import Stages
from stopwise.integrations.foreign_curves import ForeignCurves, stages_among
from stopwise.integrations.optuna._space import Axes
from stopwise.record.history import Observation
from stopwise.record.outcomes import Failed
from stopwise.record.staged import Report
from stopwise.study.told_again import Telling


def read_curves(
    trials: Sequence[FrozenTrial], axes: Axes, cost_of: Callable[[FrozenTrial], float] | None
) -> ForeignCurves | None:
    """What finished trials reported on the way; None if those with a value share no step.

    The last step is the last that a trial with a value has reported. A pruned trial is one that
    was left where it last reported.

    Args:
        trials: The trials, in order.
        axes: Their search space.
        cost_of: What a trial cost; None if each whole one counts as 1.
    """
    complete = [t for t in trials if t.state == TrialState.COMPLETE]
    reported = [t for t in complete if t.intermediate_values]
    if not reported:
        return None
    offset = int(any(0 in t.intermediate_values for t in trials))  # steps of ours begin at 1
    last = offset + max(max(t.intermediate_values) for t in reported)
    shared = set[int].intersection(*({*t.intermediate_values} for t in reported))
    stages = stages_among({offset + step for step in shared}, last)
    if stages is None:
        return None
    usual = 1.0 if cost_of is None else median(map(cost_of, complete))
    tellings: list[Telling] = []
    for trial in trials:
        values = {step + offset: y for step, y in trial.intermediate_values.items()}
        if trial.state == TrialState.COMPLETE:
            values[last] = float(trial.value or 0.0)
        paid = None if cost_of is None else cost_of(trial)
        rate = (paid / max(values) if values and paid else usual / last) if usual else 0.0
        tellings += _reports(trial.number, values, stages, rate)
        if trial.state == TrialState.FAIL:
            failed = Failed(trial.state.name.lower())
            params = axes.inward(trial.params)
            tellings.append(Observation(trial.number, params, failed, paid or 0.0))
    params_of = {t.number: axes.inward(t.params) for t in trials}
    return ForeignCurves(stages, params_of, tuple(tellings)) if usual else None


def _reports(
    number: int, values: dict[int, float], stages: Stages, rate: float
) -> Iterator[Report]:
    """What a trial reported at the stages, at so much a step."""
    for step in stages.steps:
        if step in values and math.isfinite(values[step]):
            yield Report(number, step, values[step], rate * step)
