# SPDX-License-Identifier: Apache-2.0
"""Promising: the gain that the model expects of a choice, and the gain that came when it is told.

See ``stopwise.record.promises`` for what a gain is. Where trials run side by side, each is
credited in the order of telling, against what had been told before it.
"""

from __future__ import annotations

import math

import numpy as np

from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.lowest_mean import actual_fall, expected_fall
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.threads import single_threaded
from stopwise.core.snapshot import Snapshot
from stopwise.record.history import Observation
from stopwise.study.context import StudyContext


def promised_gain(snapshot: Snapshot, x: Array) -> float:
    """The gain that is expected of an evaluation at x, by the belief of the snapshot."""
    belief = snapshot.belief
    if not belief.objective.exact:
        return expected_fall(belief.posterior, snapshot.X, x)
    return math.exp(float(belief.objective.law(x[None, :]).log_ei(snapshot.best).value[0]))


class Promising:
    """Keeps the beliefs behind pending choices, to judge what came of them."""

    def __init__(self, context: StudyContext) -> None:
        self._context = context
        self._beliefs: dict[int, Posterior] = {}  # by number; only where observations are noisy

    def promise(self, snapshot: Snapshot, chosen_by: Snapshot, x: Array) -> float:
        """The gain promised by the next trial, at x.

        Args:
            snapshot: This moment.
            chosen_by: The same, with values believed of pending trials.
            x: The point that was chosen.
        """
        state = self._context.state
        self._beliefs = {n: belief for n, belief in self._beliefs.items() if n in state.pending}
        if not snapshot.belief.objective.exact:
            self._beliefs[state.next] = snapshot.belief.posterior
        return promised_gain(chosen_by, x)

    def delivered(self, observation: Observation) -> float | None:
        """The gain that comes of an observation that is about to be told; None if none was due."""
        context, state = self._context, self._context.state
        if observation.number not in state.chosen_with:
            return None
        if observation.value is None:
            return 0.0
        sign = context.options.sign
        value = sign * observation.value
        if context.options.noise is None:
            best = min(sign * float(o.value or 0.0) for o in state.history.succeeded)
            return max(best - value, 0.0)
        return self._fall(observation, value)

    @single_threaded
    def _fall(self, observation: Observation, value: float) -> float:
        """The fall of the lowest mean, at the hyper-parameters with which the trial was chosen."""
        context, history = self._context, self._context.history
        fitted, asked_at = context.state.chosen_with[observation.number]
        posterior = self._beliefs.get(observation.number)
        if posterior is None:  # the study was resumed since
            posterior = context.model.belief_as_fitted(history[:asked_at], fitted).posterior
        X, y = context.model.encoded.evaluated(history)
        since = len(history[:asked_at].succeeded)
        for x, told in zip(X[since:], y[since:], strict=True):
            posterior = posterior.append(x, float(told))
        [x] = np.asarray(context.domain.encode(observation.params))
        return actual_fall(posterior, X, x, value)
