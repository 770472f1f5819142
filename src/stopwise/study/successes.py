# SPDX-License-Identifier: Apache-2.0
"""Successes: the chance to succeed that follows from a history.

It is the probability that an evaluation gives a value, learned where some have failed, times the
probabilities that measured outcomes keep their limits. It depends on the history alone, so a
resumed study has the same. Hyper-parameters are chosen at the sizes of ``RefitAtSizes``.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from stopwise.core.beliefs.classifier import choose_hyperparameters, fit_classifier
from stopwise.core.beliefs.fit import NUGGET, fit_posterior
from stopwise.core.beliefs.gp import Posterior, condition
from stopwise.core.beliefs.hyperparameters import Hyperparameters
from stopwise.core.beliefs.refits import RefitAtSizes
from stopwise.core.beliefs.second_guess import SecondGuess
from stopwise.core.beliefs.success import LogChance, Success, WithinLimits
from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.outcome_limits import as_interval
from stopwise.core.space import Finite
from stopwise.record.history import History
from stopwise.study.encoded_history import EncodedHistory
from stopwise.study.options import StudyOptions

FEASIBLE_FROM = 0.5  # with noise, a point keeps the limits if that is more likely than not
_SPREAD = 512  # points by which the room around evaluations is judged
_FAILURES, _OUTCOMES = RefitAtSizes(always_up_to=30), RefitAtSizes()


class Successes:
    """The chance to succeed after each observation.

    Args:
        encoded: The encoded history.
        options: Of the study; failures, limits and noise matter here.
    """

    def __init__(self, encoded: EncodedHistory, options: StudyOptions) -> None:
        self._encoded = encoded
        self._options = options
        # For each model, the first observations and the hyper-parameters that were chosen by them.
        self._chosen: dict[str, tuple[History, Hyperparameters]] = {}
        self._latest: tuple[History, Success | None] | None = None

    def after(self, history: History) -> Success | None:
        """The chance after a history; None while nothing speaks against success."""
        if self._latest is None or self._latest[0] is not history:
            limits = self._of_limits(history, doubted=self._is_searched_for(history))
            parts = (*self._of_failures(history), *limits)
            self._latest = history, Success(parts) if parts else None
        return self._latest[1]

    def feasible(self, history: History) -> Mask | None:
        """Which observations with a value keep the limits; None where there are none.

        They are judged as measured, or, where evaluations are noisy, by the probability that they
        keep all limits: it must be ``FEASIBLE_FROM`` at least.
        """
        if self._options.limits is None:
            return None
        if self._options.noise is None:
            return np.array([not o.infeasible for o in history.succeeded], dtype=bool)
        X, _ = self._encoded.evaluated(history)
        if not len(X):
            return np.zeros(0, dtype=bool)
        log_chance = Success(tuple(self._of_limits(history))).log_chance(X)
        return np.asarray(log_chance >= np.log(FEASIBLE_FROM))

    def _is_searched_for(self, history: History) -> bool:
        """Whether limits are all that counts: nothing keeps them, and there is no fallback."""
        if self._options.limits is None or self._options.fallback is not None:
            return False
        feasible = self.feasible(history)
        return feasible is not None and not feasible.any()

    def _of_failures(self, history: History) -> list[LogChance]:
        """Where evaluations fail, if any has."""
        succeeded = np.array([not o.failed for o in history], dtype=bool)
        if succeeded.all() or self._options.failures == "median":
            return []
        X, groups = self._encoded.all(history), self._encoded.domain.groups
        size = _FAILURES.latest(len(history))
        kept = self._chosen.get("")
        if kept is None or kept[0] != history[:size]:
            chosen = choose_hyperparameters(X[:size], succeeded[:size], groups)
            self._chosen[""] = kept = history[:size], chosen
        return [fit_classifier(X, succeeded, groups, kept[1])]

    def _of_limits(self, history: History, *, doubted: bool = False) -> list[WithinLimits]:
        """Whether each limited outcome is within its limits, once it was measured.

        Args:
            history: What it is learned from.
            doubted: Whether the models of outcomes are not taken at their word.
        """
        measured = {name for o in history for name in o.outcomes}
        return [
            WithinLimits(
                self._outcome(name, history),
                *as_interval(*bounds),
                self._second_guess(name, history) if doubted else None,
            )
            for name, bounds in (self._options.limits or {}).items()
            if name in measured
        ]

    def _second_guess(self, name: str, history: History) -> SecondGuess | None:
        """What else may be so of an outcome; where an evaluation failed it kept no limits.

        None where all that was measured kept its limits.
        """
        low, high = as_interval(*(self._options.limits or {})[name])
        kept = np.array([low <= o.outcomes.get(name, math.nan) <= high for o in history])
        if kept.all():
            return None
        return SecondGuess.of(self._encoded.all(history), kept, self._everywhere)

    @cached_property
    def _everywhere(self) -> Array:
        """Points spread over the domain."""
        domain, rng = self._encoded.domain, np.random.default_rng(0)
        if isinstance(domain, Finite):
            return domain.design(_SPREAD, rng)
        return domain.sobol(_SPREAD, rng)

    def _outcome(self, name: str, history: History) -> Posterior:
        """The plain model of an outcome; exact, or with a noise that is learned."""
        X, y = self._encoded.outcome(history, name)
        key = f"outcome {name}"
        exact, groups = self._options.noise is None, self._encoded.domain.groups
        size = _OUTCOMES.latest(len(y))
        kept = self._chosen.get(key)
        first = History(tuple(o for o in history if name in o.outcomes)[:size])
        if kept is None or kept[0] != first:
            fitted = fit_posterior(
                X[:size], y[:size], groups=groups, noise=NUGGET if exact else None,
                interpolate=exact,
            )  # fmt: skip
            self._chosen[key] = kept = first, fitted.hyper
        return condition(X, y, kept[1], groups=groups, interpolate=exact)
