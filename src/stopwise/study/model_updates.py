# SPDX-License-Identifier: Apache-2.0
"""From a history to a belief: what a study knows of objective and price at each moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from stopwise.core.beliefs.belief import Belief, believe, believe_as_fitted
from stopwise.core.beliefs.prices import (
    CostModel,
    Price,
    Priced,
    expected_cost,
    is_known,
    known_cost,
)
from stopwise.core.numerics.arrays import Array
from stopwise.core.space import Domain
from stopwise.record.history import History
from stopwise.record.state import State


@dataclass(slots=True)
class Believer:
    """Encodes observations and fits beliefs to them, each history once.

    A fit begins where the fit behind the last choice ended, so a question, or one more, does not
    change the path of a study: only what is asked for and told does.

    Args:
        domain: The encoded space.
        cost: How costs are come by.
        sign: 1 to minimise, -1 to maximise; inside, everything is minimised.
        noise: None, a variance, or ``"learn"``.
        prior: Of the hyper-parameters.
    """

    domain: Domain
    cost: CostModel
    sign: float
    noise: float | Literal["learn"] | None
    prior: str | None
    _last: Belief | None = field(default=None, init=False)
    _last_at: int = field(default=-1, init=False)  # how long the history was
    _known: Price | None = field(default=None, init=False)  # does not change

    def encoded(self, params: Sequence[Mapping[str, Any]]) -> Array:
        """Configurations as rows of the unit cube."""
        return self.domain.encode(params) if params else np.empty((0, self.domain.width))

    def observed(self, history: History) -> tuple[Array, Array]:
        """Evaluated points and their values, to be minimised."""
        found = history.succeeded
        y = self.sign * np.array([float(o.value or 0.0) for o in found])
        return self.encoded([o.params for o in found]), y

    def belief(self, state: State) -> Belief:
        """What is believed at a moment; of the last history it is kept."""
        history = state.history
        if self._last is None or self._last_at != len(history):
            X, y = self.observed(history)
            belief = self._believe(X, y, state)
            self._last = belief.with_failures(self._failed(history, X), y)
            self._last_at = len(history)
        return self._last

    def expected_cost(self, params: Mapping[str, Any], state: State) -> float:
        """What an evaluation is expected to cost; 0 while nothing is known of costs."""
        known = known_cost(self.cost, self.domain, params)
        if known is not None:
            return known
        price = self._price(state)
        return 0.0 if price is None else float(expected_cost(price, self.encoded([params]))[0])

    def _believe(self, X: Array, y: Array, state: State) -> Belief:
        """Fit, beginning where the fit behind the last choice ended.

        If that choice knew this very history, the study was resumed since: the belief is then
        made of what the fit came to, for another fit might end a rounding error beside it.
        """
        cost = self.cost if self._known is None else Priced(self._known)
        paid = self._paid(state.history)
        if state.fitted is not None and state.fitted_at == len(state.history):
            return believe_as_fitted(
                self.domain,
                X,
                y,
                paid=paid,
                cost=cost,
                fitted=state.fitted,
                exact=self.noise is None,
            )
        belief = believe(
            self.domain,
            X,
            y,
            paid=paid,
            cost=cost,
            noise=self.noise,
            prior=self.prior,
            start=state.fitted,
        )
        if is_known(self.cost):
            self._known = belief.price
        return belief

    def _price(self, state: State) -> Price | None:
        """The price of evaluations; None while it is to be learned and nothing was paid."""
        if state.history.succeeded:
            return self.belief(state).price
        X, costs = self._paid(state.history)
        if not (len(costs) or is_known(self.cost)):
            return None
        return self.cost.price(self.domain, X, costs)

    def _paid(self, history: History) -> tuple[Array, Array]:
        """Points at which something was paid, and what."""
        paid = [o for o in history if o.cost > 0]
        return self.encoded([o.params for o in paid]), np.array([o.cost for o in paid])

    def _failed(self, history: History, X: Array) -> Array:
        """Points that failed, each once; not those that were evaluated at another time."""
        failed = self.encoded([o.params for o in history if o.failed])
        evaluated = set(self.domain.key(X))
        first = {key: i for i, key in reversed(list(enumerate(self.domain.key(failed))))}
        return failed[sorted(i for key, i in first.items() if key not in evaluated)]
