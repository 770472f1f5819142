# SPDX-License-Identifier: Apache-2.0
"""The initial design: the configurations of ``start_from``, then points spread over the space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stopwise.core.beliefs.prices import CostModel, KnownCost, is_known
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.seeds import stream
from stopwise.core.space import Domain, Finite
from stopwise.record.events import DesignPlanned
from stopwise.study.context import StudyContext
from stopwise.study.spending import Spending

_EXTRA = 64  # points drawn to find an affordable one while there are no observations


class InitialDesign:
    """The first points of a study: how many there are, which remain, and their cost."""

    def __init__(self, context: StudyContext, spending: Spending) -> None:
        self._context = context
        self._spending = spending

    @property
    def wanted(self) -> int:
        """Number of observations that the user wants before a model chooses."""
        wanted = self._context.options.n_initial
        return 2 * (self._context.domain.d + 1) if wanted is None else wanted

    @property
    def size(self) -> int:
        """Number of observations at t = 0; fixed at the first ask."""
        state = self._context.state
        if state.initial is not None:
            return state.initial
        return len(state.history.succeeded) + len(self._missing())

    @property
    def is_done(self) -> bool:
        """Whether there are enough observations to fit a model and ask rules."""
        return len(self._context.history.succeeded) >= max(self.size, 1)

    @property
    def cost(self) -> float:
        """C: the cost of the observations up to t = 0, failures among them included."""
        n, cost = 0, 0.0
        for observation in self._context.history:
            if n == self.size:
                break
            n += not observation.failed
            cost += observation.cost if observation.charged else 0.0
        return cost

    def plan(self, *, check_budget: bool = True) -> None:
        """Fix the design, once; data told before are part of it, and t counts from its end.

        Args:
            check_budget: Whether to refuse a budget that does not pay for the design.
        """
        state = self._context.state
        if state.initial is not None:
            return
        queue = self._missing()
        if check_budget and is_known(self._context.cost_model):
            remaining = sum(map(self._spending.expected, queue))
            self._context.budget.check_pays_for(state.history.spent + remaining)
        n = len(state.history.succeeded)
        self._context.log.commit(DesignPlanned(n + len(queue), tuple(queue)))

    def next(self) -> dict[str, Any] | None:
        """The next affordable point of the design, if any; points before it are left out."""
        state = self._context.state
        while state.queue:
            params, *others = state.queue
            if self._spending.is_payable(params):
                return dict(params)
            self._context.log.commit(DesignPlanned(max(self.size - 1, 1), tuple(others)))
        return None

    def another(self) -> dict[str, Any] | None:
        """An affordable point beyond the design, for example because some of its points failed."""
        drawn = (params for size in (1, _EXTRA) for params in self.points(size))
        return next(filter(self._spending.is_payable, drawn), None)

    def cheapest(self) -> float:
        """Expected cost of the cheapest point that could be next."""
        return min(map(self._spending.expected, self._context.state.queue or self.points(_EXTRA)))

    def make_room(self, params: Mapping[str, Any]) -> None:
        """Remove a planned point in favour of one that others chose: the same one, or the last."""
        queue, domain = list(self._context.state.queue), self._context.domain
        if not queue:
            return
        key = domain.key(domain.encode(params))
        same = [planned for planned in queue if domain.key(domain.encode(planned)) == key]
        queue.remove(same[0] if same else queue[-1])
        self._context.log.commit(DesignPlanned(self.size, tuple(queue)))

    def points(self, size: int, first: Sequence[Mapping[str, Any]] = ()) -> list[dict[str, Any]]:
        """Points that are neither evaluated nor pending, beginning with ``first``."""
        context = self._context
        encoded, state = context.model.encoded, context.state
        return initial_design(
            context.domain,
            size,
            start_from=first,
            known=np.vstack([encoded.all(state.history), encoded.pending(state.pending)]),
            cost=context.cost_model,
            seed=context.options.seed,
        )

    def _missing(self) -> list[dict[str, Any]]:
        """Points that the design still lacks; data told before the first ask are part of it."""
        n = len(self._context.history.succeeded)
        return self.points(self.wanted - n, list(self._context.options.start_from))


def initial_design(
    domain: Domain,
    size: int,
    *,
    start_from: Sequence[Mapping[str, Any]],
    known: Array,
    cost: CostModel,
    seed: int,
) -> list[dict[str, Any]]:
    """Configurations for the initial design, none of them twice and none in ``known``.

    Args:
        domain: The space.
        size: Number of configurations, ``start_from`` included; fewer if the domain has no more.
        start_from: Configurations that come first, whatever ``size`` is.
        known: Encoded points that are evaluated or pending.
        cost: The cost model; if costs are known in advance, cheap points come first.
        seed: The study's seed.
    """
    seen = set(domain.key(known)) if len(known) else set()
    chosen: list[dict[str, Any]] = []
    for params in start_from:
        key = domain.key(domain.encode(params))[0]
        if key not in seen:
            seen.add(key)
            chosen.append(dict(params))
    fresh = domain.decode(_fresh_points(domain, max(size - len(chosen), 0), seen, seed))
    if isinstance(cost, KnownCost):
        fresh.sort(key=lambda params: cost.at(domain, params))
    return chosen + fresh


def _fresh_points(domain: Domain, count: int, seen: set[bytes], seed: int) -> Array:
    """Up to ``count`` spread-out points whose keys are not in ``seen``."""
    if not count:
        return np.empty((0, domain.width))
    rng = stream(seed, "design")
    if isinstance(domain, Finite):
        pool = domain.design(len(domain), rng)
    else:  # rounding may make points equal: draw a generous block, and keep its order
        pool = domain.sobol(max(4 * (count + len(seen)), 64), rng)
    kept: list[int] = []
    for i, key in enumerate(domain.key(pool)):
        if key not in seen and len(kept) < count:
            seen.add(key)
            kept.append(i)
    return pool[kept]
