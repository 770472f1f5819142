# SPDX-License-Identifier: Apache-2.0
"""The best configuration so far: by value, or by posterior median where evaluations are noisy."""

from __future__ import annotations

from stopwise.core.numerics.threads import single_threaded
from stopwise.core.stages import Stages
from stopwise.study.context import StudyContext
from stopwise.study.result import Best
from stopwise.study.snapshots import Snapshots


def best_of(context: StudyContext, snapshots: Snapshots) -> Best | None:
    """The best configuration that keeps all limits, the first of equals; None before any does."""
    stages = context.options.stages
    if isinstance(stages, Stages) and stages.usable and context.state.reports:
        return _best_reported(context)
    if context.options.noise is not None:
        return _believed_best(context, snapshots) if context.history.succeeded else None
    feasible = context.history.feasible
    if not feasible:
        return None
    best = min(feasible, key=lambda o: context.options.sign * float(o.value or 0.0))
    value, outcomes = float(best.value or 0.0), dict(best.outcomes)
    return Best(dict(best.params), value, best.number, outcomes=outcomes)


def _best_reported(context: StudyContext) -> Best:
    """The best value of any stage, where early values are results."""
    sign, state = context.options.sign, context.state
    best = min(state.reports, key=lambda report: sign * report.value)
    told = state.observed(best.trial) or state.pending.get(best.trial)
    params = {} if told is None else dict(told.params)
    return Best(params, best.value, best.trial, step=best.step)


@single_threaded
def _believed_best(context: StudyContext, snapshots: Snapshots) -> Best | None:
    """The configuration with the best posterior median, and its deviation."""
    succeeded = context.history.succeeded
    snapshot = snapshots.now().prefix(len(succeeded))  # without the values believed of failures
    if not snapshot.has_incumbent:
        return None
    best = succeeded[snapshot.incumbent]
    law = snapshot.belief.objective.law(snapshot.X[[snapshot.incumbent]])
    value = context.options.sign * float(law.median[0])
    std = float(law.std[0])
    return Best(dict(best.params), value, best.number, std, dict(best.outcomes))
