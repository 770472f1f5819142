# SPDX-License-Identifier: Apache-2.0
"""A study of what somebody else chooses: a history from elsewhere, or another package's trials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from stopwise.core.beliefs.belief import Belief
from stopwise.core.beliefs.prices import LearnedPrice
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.threads import single_threaded
from stopwise.core.search.supremum import Search
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Space
from stopwise.record.events import Asked, Designed
from stopwise.record.history import History, Trial
from stopwise.record.state import State
from stopwise.stopping import StoppingRule
from stopwise.study import Study
from stopwise.study.model_updates import Believer

_ALWAYS_REFIT = 50  # up to so many observations each one may change a fit
_GROWTH = 1.1  # beyond, hyper-parameters are fitted again when there are a tenth more


@dataclass(slots=True)
class _ThriftyBeliever(Believer):
    """Fits anew when the data have grown by a tenth, and appends in between.

    A history of hundreds, asked about at every observation, would otherwise be a fit of hundreds,
    hundreds of times.
    """

    _base: Belief | None = field(default=None, init=False)  # knows nothing of failures
    _fitted_to: int = field(default=0, init=False)  # observations at the last fit
    _priced: int = field(default=0, init=False)  # costs that the price knows

    def _believe(self, X: Array, y: Array, state: State) -> Belief:
        due = len(y) <= _ALWAYS_REFIT or len(y) >= _GROWTH * self._fitted_to
        if self._base is None or due:
            before = None if self._base is None else self._base.fitted
            start = replace(state, fitted=before, fitted_at=-1)
            # A class with slots is made twice, so super() would not find itself.
            self._base = Believer._believe(self, X, y, start)  # noqa: SLF001
            self._fitted_to = len(y)
            self._priced = len(self._paid(state.history)[1])
        else:
            self._base = self._extended(self._base, X, y, state.history)
        return self._base

    def _extended(self, base: Belief, X: Array, y: Array, history: History) -> Belief:
        """The belief with the newest observations and costs, at the same hyper-parameters."""
        objective, price = base.posterior, base.price
        for x, value in zip(X[len(objective) :], y[len(objective) :], strict=True):
            objective = objective.append(x, float(value))
        if isinstance(price, LearnedPrice):
            paid_at, costs = self._paid(history)
            posterior = price.posterior
            for x, cost in zip(paid_at[self._priced :], costs[self._priced :], strict=True):
                posterior = posterior.append(x, float(np.log(cost)))
            self._priced = len(costs)
            price = LearnedPrice(posterior)
        return Belief(objective, price)


class Follower(Study):
    """A study in which trials may be begun by others.

    What is begun counts as this study's own: it is pending until it is told or dropped, its
    cost is charged, and t counts from ``n_initial`` on, whoever chose the first points.

    Args:
        space: As for ``Study``.
        search: How hard suprema are looked for where they are numerical.
        **options: As for ``Study``.
    """

    def __init__(
        self,
        space: Space,
        *,
        search: Search = Search(),
        **options: Any,  # noqa: ANN401  Study checks them
    ) -> None:
        super().__init__(space, **options)
        self._search = search
        self._found: list[Array] = []
        known = self._believer
        self._believer = _ThriftyBeliever(
            known.domain, known.cost, known.sign, known.noise, known.prior
        )

    @single_threaded
    def begin(self, params: Mapping[str, Any]) -> Trial:
        """A trial that somebody else chose and evaluates; tell or drop it like one of ours."""
        self.settle()
        self._make_room(params)
        trial = Trial(self._state.next, dict(params))
        self._happen(Asked(trial, designed=False, fitted=None))
        return trial

    def settle(self) -> None:
        """Settle the initial design now, rather than at the first ask."""
        if self._state.initial is None:
            self._settle_design()

    def encoded(self, params: Mapping[str, Any]) -> Array:
        """One configuration as a point of the unit cube."""
        return np.asarray(self.domain.encode(params)[0])

    def price_of(self, params: Mapping[str, Any]) -> float:
        """What an evaluation is expected to cost; 0 while nothing is known of costs."""
        return self._expected(params)

    @property
    def design_size(self) -> int:
        """Observations at t = 0."""
        return self._design_size

    @property
    def left(self) -> float:
        """What may still be spent; infinite without a budget."""
        return self._left()

    def _now(self) -> Snapshot:
        """The snapshot of this moment; its searches start where those of the last one ended."""
        if self._snapshot is None:
            hints = np.array(self._found) if self._found else None
            self._snapshot = replace(super()._now(), search=self._search, hints=hints)
        return self._snapshot

    def _take_signals(self, rules: Iterable[StoppingRule]) -> None:
        super()._take_signals(rules)
        self._found = self._now().found

    def _make_room(self, params: Mapping[str, Any]) -> None:
        """Somebody else's point takes the place of the same point of the design, or the last."""
        queue = list(self._state.queue)
        if not queue:
            return
        key = self.domain.key(self._believer.encoded([params]))
        same = [q for q in queue if self.domain.key(self._believer.encoded([q])) == key]
        queue.remove(same[0] if same else queue[-1])
        self._happen(Designed(self._design_size, tuple(queue)))
