# SPDX-License-Identifier: Apache-2.0
"""The best configuration so far: by value, or by posterior median where evaluations are noisy."""

from __future__ import annotations

import math

from stopwise.core.numerics.threads import single_threaded
from stopwise.core.stages import Stages
from stopwise.study.context import StudyContext
from stopwise.study.result import Best
from stopwise.study.snapshots import Snapshots


def best_of(context: StudyContext, snapshots: Snapshots) -> Best | None:
    """The best configuration that keeps all limits, the first of equals; None before any does.

    With noise, that is believed to keep them with a probability of one half at least.
    """
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
    x = snapshot.X[[snapshot.incumbent]]
    best = succeeded[int((x == snapshot.X).all(axis=1).argmax())]  # the first of its repeats
    law = snapshot.belief.objective.law(x)
    value = context.options.sign * float(law.median[0])
    std = float(law.std[0])
    success, chance = snapshots.now().belief.success, None  # of which a prefix knows nothing
    if context.options.limits is not None and success is not None:
        chance = math.exp(float(success.log_chance_of_limits(x)[0]))
    return Best(dict(best.params), value, best.number, std, dict(best.outcomes), chance=chance)
