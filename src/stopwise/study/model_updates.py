# SPDX-License-Identifier: Apache-2.0
"""Model updates: the belief about objective and price after each observation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stopwise.core.beliefs.belief import Belief, Fitted, believe, believe_as_fitted, data_of
from stopwise.core.beliefs.extending import can_extend
from stopwise.core.beliefs.foresight import Seen
from stopwise.core.beliefs.models import DataOptions, make_model
from stopwise.core.beliefs.prices import (
    CostModel,
    LearnedPrice,
    Price,
    Priced,
    expected_cost,
    is_known,
    known_cost,
)
from stopwise.core.beliefs.refits import RefitAtSizes, RefitPolicy
from stopwise.core.beliefs.surrogate import Updatable
from stopwise.core.numerics.arrays import Array
from stopwise.core.space import Domain
from stopwise.record.history import History, Observation
from stopwise.record.state import State
from stopwise.study.encoded_history import EncodedHistory
from stopwise.study.options import StudyOptions
from stopwise.study.successes import Successes


@dataclass(frozen=True, slots=True)
class _Anchor:
    """The belief that the next one is computed from.

    Args:
        belief: The belief, without the values believed of failures.
        fitted_to: Number of observations at the last fit.
        priced: Number of costs in its model of costs.
    """

    belief: Belief
    fitted_to: int
    priced: int


class ModelUpdates:
    """The belief after each observation; one fit for one history, whoever asks.

    A fit starts from the hyper-parameters of the last choice. So looking at a belief does not
    change the path of a study: only asking, telling and recording do. Beyond 100 observations
    hyper-parameters are kept until the data have grown by a tenth (``RefitAtSizes``), unless
    another policy is given; observations in between are conditioned on.

    Args:
        domain: The encoded space.
        cost: The model of costs.
        options: Of the study; direction, noise, bounds and prior matter here.
        refits: When hyper-parameters are fitted anew.
    """

    def __init__(
        self,
        domain: Domain,
        cost: CostModel,
        options: StudyOptions,
        refits: RefitPolicy | None = None,
    ) -> None:
        self.encoded = EncodedHistory(domain, options.sign)
        self._domain = domain
        self._cost = cost
        self._options = options
        self._refits = RefitAtSizes() if refits is None else refits
        self._model = make_model(options.surrogate)
        self.successes = Successes(self.encoded, options)
        self._anchor: _Anchor | None = None
        self._of_prefix: tuple[int, Fitted | None, Fitted] | None = None  # length, start and fit
        self._extended_from: tuple[int, Updatable] | None = None  # the size, and the latest since
        self._known_price: Price | None = None  # the price of a known cost never changes
        self._latest_for: tuple[Observation, ...] | None = None  # the history of _latest
        self._latest: tuple[_Anchor, Belief] | None = None

    def belief(self, state: State) -> Belief:
        """The belief after the history of a state."""
        history = state.history
        if self._latest is None or self._latest_for is not history.observations:
            if not _goes_on(self._latest_for or (), history.observations):  # a report was amended
                self._anchor = self._of_prefix = None
            X, y = self.encoded.evaluated(history)
            self._latest = None  # a large model is not to be in memory beside the next one
            updated = self._updated(X, y, state)
            self._latest = updated, self._with_failures(updated.belief, history, X, y)
            self._latest_for = history.observations
        return self._latest[1]

    def go_on_from_here(self) -> None:
        """Compute the next belief from the latest one, because a decision was made with it.

        Where the size of the data alone says what is fitted, this is not needed: fits start from
        the hyper-parameters in the state.
        """
        if self._latest is not None and self._refits.latest(0) is None:
            self._anchor = self._latest[0]

    def expected_cost(self, params: Mapping[str, Any], state: State) -> float:
        """Expected cost of an evaluation; 0 while nothing is known of costs."""
        known = known_cost(self._cost, self._domain, params)
        if known is not None:
            return known
        price = self._price(state)
        if price is None:
            return 0.0
        return float(expected_cost(price, self.encoded.encode([params]))[0])

    def belief_as_fitted(self, history: History, fitted: Fitted) -> Belief:
        """The belief after a history, at hyper-parameters that were fitted to it before."""
        X, y = self.encoded.evaluated(history)
        belief = self._as_fitted(X, y, history, fitted)
        return self._with_failures(belief, history, X, y)

    def _updated(self, X: Array, y: Array, state: State) -> _Anchor:
        anchor, size = self._anchor, self._refits.latest(len(y))
        if size is not None and size < len(y):
            return self._between_fits(X, y, state, size)
        if anchor is None:
            return self._fitted(X, y, state)
        t = len(y) - (state.initial or 0)
        if self._refits.is_due(len(y), fitted_to=anchor.fitted_to, t=t):
            return self._fitted(X, y, state)
        return self._extended(anchor, X, y, state)

    def _fitted(self, X: Array, y: Array, state: State) -> _Anchor:
        """Fit, starting from the hyper-parameters of the last choice.

        If that choice was made with this very history, the study was resumed since. The belief
        then takes the recorded hyper-parameters, because another fit might differ from them by a
        rounding error.
        """
        self._extended_from = None
        paid = self.encoded.paid(state.history)
        start = state.fitted if self._anchor is None else self._anchor.belief.fitted
        if self._anchor is None and state.fitted_at == len(state.history) and start is not None:
            belief = self._as_fitted(X, y, state.history, start)
        else:
            belief = believe(
                self._domain,
                X,
                y,
                paid=paid,
                cost=self._cost_once_known,
                model=self._model,
                start=start,
                seen=self.seen(state),
                **self._about(state.initial),
            )
            if is_known(self._cost):
                self._known_price = belief.price
            if len(y) and not state.history[-1].failed:  # the history is that of a prefix
                self._of_prefix = len(y), state.fitted, belief.fitted
        return _Anchor(belief, len(y), len(paid[1]))

    def _between_fits(self, X: Array, y: Array, state: State, size: int) -> _Anchor:
        """All observations, at the hyper-parameters of the first ``size`` of them.

        They are those of the last choice if it was made since; else they are fitted now. Both
        follow from the state, so that a resumed study has the same.
        """
        history = state.history
        chosen_with = len(history[: max(state.fitted_at, 0)].succeeded)
        fitted = state.fitted
        if fitted is None or chosen_with < size:
            fitted = self._fitted_to_first(size, state)
        belief = self._as_fitted(X, y, history, fitted)
        weighed = self._model.weighed(belief.own, self.seen(state))
        return _Anchor(
            replace(belief, objective=weighed), size, len(self.encoded.paid(history)[1])
        )

    def _fitted_to_first(self, size: int, state: State) -> Fitted:
        """The fit to the first so many observations, from the last choice; made once."""
        kept, start = self._of_prefix, state.fitted
        if kept is None or kept[0] != size or kept[1] is not start:
            last = state.history.succeeded[size - 1]
            upto = next(i for i, o in enumerate(state.history, 1) if o is last)
            first = replace(state, history=state.history[:upto], fitted_at=-1)
            X, y = self.encoded.evaluated(state.history)
            fitted = self._fitted(X[:size], y[:size], first).belief.fitted
            self._of_prefix = kept = size, start, fitted
        return kept[2]

    def _as_fitted(self, X: Array, y: Array, history: History, fitted: Fitted) -> Belief:
        """The belief at given hyper-parameters.

        Where they are those of the first observations, the surrogate of these is extended, whoever
        asks: a resumed study has the same to the last bit.
        """
        size = self._refits.latest(len(y)) or len(y)
        first = self._of_first(size, X, y, fitted) if size < len(y) else None
        belief = believe_as_fitted(
            self._domain,
            X,
            y,
            paid=self.encoded.paid(history),
            cost=self._cost_once_known,
            fitted=fitted,
            model=self._model,
            first=first,
            **self._about(None),
        )
        if first is not None:
            self._extended_from = size, belief.own
        return belief

    def _of_first(self, size: int, X: Array, y: Array, fitted: Fitted) -> Updatable:
        """The surrogate of the first so many observations, with later ones if it has some."""
        kept, fit = self._extended_from, fitted.objective
        if kept is not None and kept[0] == size and can_extend(kept[1], X, fit):
            return kept[1]
        data = data_of(self._domain, X[:size], y[:size], **self._about(None))
        return self._model.as_fitted(data, fit)

    @property
    def _cost_once_known(self) -> CostModel:
        """The model of costs; a price that was computed from known costs is not computed again."""
        return self._cost if self._known_price is None else Priced(self._known_price)

    def seen(self, state: State) -> list[Seen]:
        """What was foreseen of the choices that were told, and whether it came.

        Where the chance to succeed is learned, a failure says nothing of the values that were
        foreseen.
        """
        sign, chances = self._options.sign, self._options.failures == "chance"
        return [
            Seen(
                foresight,
                came=value is not None and sign * value < foresight.level,
                came_discounted=number in state.promises and state.promises[number].is_kept,
            )
            for number, (foresight, value) in state.told_choices.items()
            if not (chances and value is None)
        ]

    def _about(self, design: int | None) -> DataOptions:
        options = self._options
        return DataOptions(
            design=design,
            noise=options.noise,
            prior=options.prior,
            bounds=options.minimised_bounds,
        )

    def _extended(self, anchor: _Anchor, X: Array, y: Array, state: State) -> _Anchor:
        """The anchor with the newest observations and costs, at the same hyper-parameters."""
        history, price = state.history, anchor.belief.price
        objective = anchor.belief.own
        for x, value in zip(X[len(objective) :], y[len(objective) :], strict=True):
            objective = objective.append(x, float(value))
        objective = self._model.weighed(objective, self.seen(state))
        paid_at, costs = self.encoded.paid(history)
        if isinstance(price, LearnedPrice):
            posterior = price.posterior
            for x, cost in zip(paid_at[anchor.priced :], costs[anchor.priced :], strict=True):
                posterior = posterior.append(x, float(np.log(cost)))
            price = LearnedPrice(posterior)
        belief = replace(anchor.belief, objective=objective, price=price)
        return _Anchor(belief, anchor.fitted_to, len(costs))

    def _price(self, state: State) -> Price | None:
        """The price of evaluations; None while it is to be learned and nothing was paid."""
        if state.history.succeeded:
            return self.belief(state).price
        X, costs = self.encoded.paid(state.history)
        if not (len(costs) or is_known(self._cost)):
            return None
        return self._cost.price(self._domain, X, costs)

    def _with_failures(self, belief: Belief, history: History, X: Array, y: Array) -> Belief:
        """The belief that knows of failures and limits: by the chance to succeed, if learned."""
        failed, feasible = self._failed(history, X), self.successes.feasible(history)
        kept = y if feasible is None else y[feasible]
        ordinary = float(np.median(kept if len(kept) else y))
        success = self.successes.after(history)
        if success is None or self._options.failures == "median":
            believed = belief.with_failures(failed, ordinary)
        else:
            best = float(np.min(kept)) if len(kept) else -math.inf
            believed = belief.with_failures(failed, best)
        return believed if success is None else replace(believed, success=success)

    def _failed(self, history: History, evaluated: Array) -> Array:
        """Points that failed, each once, without those that gave a value at another time."""
        failed = self.encoded.failed(history)
        keys = set(self._domain.key(evaluated))
        first = {key: i for i, key in reversed(list(enumerate(self._domain.key(failed))))}
        return failed[sorted(i for key, i in first.items() if key not in keys)]


def _goes_on(before: Sequence[Observation], now: Sequence[Observation]) -> bool:
    """Whether a history begins with another one."""
    return len(before) <= len(now) and all(a is b for a, b in zip(before, now, strict=False))
