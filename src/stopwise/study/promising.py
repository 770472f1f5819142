# SPDX-License-Identifier: Apache-2.0
"""Promising: the gain that the model expects of a choice, and the gain that came when it is told.

See ``stopwise.record.promises`` for what a gain is. Where trials run side by side, each is
credited in the order of telling, against what had been told before it.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from stopwise.core.beliefs.ensemble import Ensemble
from stopwise.core.beliefs.foresight import Foresight
from stopwise.core.beliefs.laws import Loss
from stopwise.core.beliefs.lowest_mean import actual_fall, expected_fall
from stopwise.core.beliefs.surrogate import Updatable
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.threads import single_threaded
from stopwise.core.snapshot import Snapshot
from stopwise.record.history import History, Observation
from stopwise.study.context import StudyContext


def promised_gain(snapshot: Snapshot, x: Array) -> float:
    """The gain that is expected of an evaluation at x, by the belief of the snapshot."""
    belief = snapshot.belief
    if not belief.objective.exact:
        X, counts = snapshot.X[np.isfinite(snapshot.judged)], (snapshot.loss, snapshot.fallback)
        falls = [w * expected_fall(each, X, x, *counts) for w, each in belief.own.weighted]
        chance = math.exp(float(belief.log_chance(x[None, :])[0]))
        return chance * belief.trust * sum(falls)
    law = snapshot.law(x[None, :], from_incumbent=True, valued=True)
    return math.exp(float(law.log_ei(snapshot.level).value[0]))


def foreseen(snapshot: Snapshot, x: Array) -> Foresight | None:
    """How likely each belief of an ensemble thinks it that a choice gains what is promised.

    That is the promise before it is discounted, of an evaluation that succeeds; where nothing is
    promised nothing is foreseen.
    """
    objective, best, loss = snapshot.belief.objective, snapshot.best, snapshot.loss
    if not isinstance(objective, Ensemble):
        return None
    at = x[None, :]
    believed = replace(snapshot.belief, success=None)
    law = snapshot.law(at, believed, from_incumbent=True, valued=True)
    gain = math.exp(float(law.log_ei(snapshot.level).value[0])) / snapshot.belief.trust
    level = snapshot.level - gain
    if loss is not None:  # back to a value
        level = float(loss.inverse(np.array([level]))[0])
    if not -math.inf < level < best:
        return None
    each = objective.each_relative_to(snapshot.X[snapshot.incumbent], best)
    chances = (math.exp(float(model.law(at).log_cdf(level)[0])) for model in each)
    return Foresight(level, tuple(chances))


class Promising:
    """Keeps the beliefs behind pending choices, to judge what came of them."""

    def __init__(self, context: StudyContext) -> None:
        self._context = context
        self._beliefs: dict[int, Updatable] = {}  # by number; only where observations are noisy

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
            self._beliefs[state.next] = snapshot.belief.own
        return promised_gain(chosen_by, x)

    def anew(self, history: History, since: int) -> dict[int, float]:
        """What came of promises, after the report of trial ``since`` was amended.

        That of the trial and of those told after it, where observations are exact. Where they are
        noisy a gain was judged by the model of its time, and that judgement stays, but for a
        trial that has no value after all.

        Args:
            history: The history as it is now.
            since: Number of the trial.
        """
        options, kept = self._context.options, self._context.state.promises
        self._beliefs = {}  # they are those of the report before
        gains: dict[int, float] = {}
        best, is_due = options.minimised_fallback, False
        for observation in history:
            is_due = is_due or observation.number == since
            value, gain = math.inf, 0.0
            if observation.value is not None and not observation.infeasible:
                value = options.sign * observation.value
                gain = _gain(best, value, self._context.loss) if math.isfinite(best) else 0.0
            is_exact = options.noise is None or observation.failed
            if is_due and is_exact and observation.number in kept:
                gains[observation.number] = gain
            best = min(best, value)
        return gains

    def delivered(self, observation: Observation) -> float | None:
        """The gain that comes of an observation that is about to be told; None if none was due."""
        context, state = self._context, self._context.state
        if observation.number not in state.chosen_with:
            return None
        if observation.value is None or not self._is_feasible(observation):
            return 0.0
        sign = context.options.sign
        value = sign * observation.value
        if context.options.noise is not None:
            return self._fall(observation, value)
        values = [sign * float(o.value or 0.0) for o in state.history.feasible]
        return _gain(min([*values, context.options.minimised_fallback]), value, context.loss)

    @single_threaded
    def _is_feasible(self, observation: Observation) -> bool:
        """Whether it can be the best once it is told, as far as limits go."""
        context = self._context
        after = context.history.with_(observation)
        feasible = context.model.successes.feasible(after)
        return feasible is None or bool(feasible[-1])

    @single_threaded
    def _fall(self, observation: Observation, value: float) -> float:
        """The fall of the lowest mean, at the hyper-parameters with which the trial was chosen."""
        context, history = self._context, self._context.history
        fitted, asked_at = context.state.chosen_with[observation.number]
        model = self._beliefs.get(observation.number)
        if model is None:  # the study was resumed since
            model = context.model.belief_as_fitted(history[:asked_at], fitted).own
        X, y = context.model.encoded.evaluated(history)
        since = len(history[:asked_at].succeeded)
        for x, told in zip(X[since:], y[since:], strict=True):
            model = model.append(x, float(told))
        [x] = np.asarray(context.domain.encode(observation.params))
        feasible = context.model.successes.feasible(history)
        fallback, loss = context.options.minimised_fallback, context.loss
        if feasible is not None and (feasible.any() or math.isfinite(fallback)):
            X = X[feasible]
        falls = (w * actual_fall(p, X, x, value, loss, fallback) for w, p in model.weighted)
        return float(sum(falls))


def _gain(best: float, value: float, loss: Loss | None) -> float:
    """How much better a value is than the best so far, or by how much more it is worth."""
    if loss is not None:
        best, value = loss(np.array([best, value])).tolist()
    return max(best - value, 0.0)
