# SPDX-License-Identifier: Apache-2.0
"""From a history to a belief: what a study knows of objective and price at each moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from stopwise.history import History
from stopwise.models.belief import Belief, believe
from stopwise.models.cost import CostModel, Price, expected_cost, is_known, known_cost
from stopwise.space import Domain

Array = NDArray[np.float64]


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
    _chosen_by: Belief | None = field(default=None, init=False)

    def encoded(self, params: Sequence[Mapping[str, Any]]) -> Array:
        """Configurations as rows of the unit cube."""
        return self.domain.encode(params) if params else np.empty((0, self.domain.width))

    def observed(self, history: History) -> tuple[Array, Array]:
        """Evaluated points and their values, to be minimised."""
        found = history.succeeded
        y = self.sign * np.array([float(o.value or 0.0) for o in found])
        return self.encoded([o.params for o in found]), y

    def belief(self, history: History) -> Belief:
        """What is believed after a history; of the last one it is kept."""
        if self._last is None or self._last_at != len(history):
            X, y = self.observed(history)
            belief = believe(
                self.domain,
                X,
                y,
                paid=self._paid(history),
                cost=self.cost,
                noise=self.noise,
                prior=self.prior,
                previous=self._chosen_by,
            )
            self._last = belief.with_failures(self._failed(history, X), y)
            self._last_at = len(history)
        return self._last

    def choice_was_made(self) -> None:
        """The last belief led to a choice: the next fit begins from it."""
        self._chosen_by = self._last

    def expected_cost(self, params: Mapping[str, Any], history: History) -> float:
        """What an evaluation is expected to cost; 0 while nothing is known of costs."""
        known = known_cost(self.cost, self.domain, params)
        if known is not None:
            return known
        price = self._price(history)
        return 0.0 if price is None else float(expected_cost(price, self.encoded([params]))[0])

    def _price(self, history: History) -> Price | None:
        """The price of evaluations; None while it is to be learned and nothing was paid."""
        if history.succeeded:
            return self.belief(history).price
        X, costs = self._paid(history)
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
