# SPDX-License-Identifier: Apache-2.0
"""The initial design of a study: the configurations of ``start_from``, then those of a ``Design``.

A design that plans ahead is queued at the first ask. Another one is asked for its next point when
that is handed out, since it depends on the costs that were paid until then; a resumed study knows
the same costs, so it hands out the same point.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from stopwise.core.beliefs.prices import UnitCost, is_known
from stopwise.core.numerics.arrays import Array
from stopwise.core.space import Domain
from stopwise.core.space.held import Holding
from stopwise.record.events import DesignPlanned
from stopwise.study.context import StudyContext
from stopwise.study.designs import DesignSoFar, design_of
from stopwise.study.spending import Spending

# After so many times its size a design is done with the values that it has: where most evaluations
# fail, a model of where they do chooses better than further points that are spread evenly.
TRIES = 2.0
_MANY = 1e9  # evaluations: a larger budget buys any number of them
_EXTRA = 64  # points drawn to find an affordable one while there are no observations


class InitialDesign:
    """The first points of a study: how many there are, which remain, and their cost."""

    def __init__(self, context: StudyContext, spending: Spending) -> None:
        self._context = context
        self._spending = spending
        self._design = design_of(context.options.surrogate)

    @cached_property
    def wanted(self) -> int:
        """Number of observations that the user wants before a model chooses."""
        wanted = self._context.options.n_initial
        if wanted is not None:
            return wanted
        nowhere = self._context.model.encoded.encode([])
        return self._design.size(self._so_far(nowhere, nowhere, np.empty(0)))

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
    def progress(self) -> str:
        """How many of its points have a value, in words; repeats of a point are named apart."""
        X, _ = self._context.model.encoded.evaluated(self._context.history)
        evaluations, points = len(X), len(set(self._context.domain.key(X)))
        if points == evaluations:
            return f"{evaluations} of {self.size}"
        whole = self.size - evaluations + points
        return f"{points} of {whole} points ({evaluations} evaluations)"

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
        missing = self._missing()
        if check_budget and is_known(self._context.cost_model):
            remaining = sum(map(self._spending.expected, missing))
            self._context.budget.check_pays_for(state.history.spent + remaining)
        size = len(state.history.succeeded) + len(missing)
        if not self._design.plans_ahead(self._context.cost_model):
            wanted_first = self._context.options.start_from
            missing = distinct(self._context.domain, list(wanted_first), self._taken())
        self._context.log.commit(DesignPlanned(size, tuple(missing)))

    def give_up(self) -> None:
        """End a design of which so much has failed that ``TRIES`` times its size was evaluated.

        Only where failures teach (``failures="chance"``), and not before there is a value.
        """
        state, n = self._context.state, len(self._context.history.succeeded)
        if state.initial is None or self._context.options.failures != "chance":
            return
        if 0 < n < state.initial and len(state.history) >= TRIES * state.initial:
            self._context.log.commit(DesignPlanned(n, ()))

    def next(self) -> dict[str, Any] | None:
        """The next affordable point of the design, if any; points before it are left out."""
        self.give_up()
        while self._context.state.queue:  # each pass takes a point of it away
            params, *others = self._context.state.queue
            if self._spending.is_payable(params):
                return dict(params)
            self._context.log.commit(DesignPlanned(max(self.size - 1, 1), tuple(others)))
        return None

    def another(self, holding: Holding | None = None) -> dict[str, Any] | None:
        """An affordable point that is not queued, unless one in the queue has the held values.

        It is the next one of a design that does not plan ahead, or beyond the design, for example
        because some of its points failed.

        Args:
            holding: The parameters that are held, if any.
        """
        queued: list[dict[str, Any]] = []
        if holding is not None:
            queued = [dict(p) for p in self._context.state.queue if holding.agrees(p)]
        drawn = (
            params for size in (1, _EXTRA) for params in self.points(size, queued, holding=holding)
        )
        return next(filter(self._spending.is_payable, drawn), None)

    def cheapest(self) -> float:
        """Expected cost of the cheapest point that could be next."""
        return min(map(self._spending.expected, self._context.state.queue or self.points(_EXTRA)))

    def make_room(self, params: Mapping[str, Any], holding: Holding | None = None) -> None:
        """Remove a planned point in favour of one that others chose: the same one, or the last.

        The last one stays if points are missing that are not planned yet: there is room then.

        Args:
            params: The configuration that was chosen.
            holding: The parameters that were held, if any; a planned point that differs in these
                alone is the same one.
        """
        queue, domain = list(self._context.state.queue), self._context.domain
        if not queue:
            return
        key = domain.key(domain.encode(params))
        same = [planned for planned in queue if domain.key(domain.encode(planned)) == key]
        if holding is not None:
            same += [planned for planned in queue if holding.is_beside(planned, params)]
        if not same and self._has_unplanned(len(queue)):
            return
        queue.remove(same[0] if same else queue[-1])
        self._context.log.commit(DesignPlanned(self.size, tuple(queue)))

    def points(
        self,
        size: int,
        first: Sequence[Mapping[str, Any]] = (),
        *,
        holding: Holding | None = None,
    ) -> list[dict[str, Any]]:
        """Points that are neither evaluated nor pending, none twice, beginning with ``first``.

        Args:
            size: Number of points, ``first`` included; fewer if the domain has no more.
            first: Configurations that come first, however many they are.
            holding: Parameters that all points but the first ones have at given values.
        """
        encoded, taken = self._context.model.encoded, self._taken()
        chosen = distinct(self._context.domain, first, taken)
        paid_at, paid = encoded.paid(self._context.history)
        so_far = self._so_far(np.vstack([taken, encoded.encode(chosen)]), paid_at, paid, holding)
        return chosen + self._design.points(max(size - len(chosen), 0), so_far)

    def _so_far(
        self, taken: Array, paid_at: Array, paid: Array, holding: Holding | None = None
    ) -> DesignSoFar:
        context = self._context
        domain = context.domain if holding is None else holding.domain
        among = None if holding is None else holding.rows
        options = context.options
        return DesignSoFar(
            domain,
            context.cost_model,
            options.seed,
            taken,
            paid_at,
            paid,
            among,
            self._max_trials(),
            None if holding is None else holding.free,
        )

    def _max_trials(self) -> int | None:
        """The most evaluations that there may be, as far as that is known beforehand."""
        options = self._context.options
        limits = [] if options.max_trials is None else [options.max_trials]
        model = self._context.cost_model
        if options.budget is not None and isinstance(model, UnitCost):
            limits.append(math.floor(min(options.budget / model.each, _MANY)))
        return min(limits, default=None)

    def _missing(self) -> list[dict[str, Any]]:
        """Points that the design still lacks; data told before the first ask are part of it."""
        n = len(self._context.history.succeeded)
        return self.points(self.wanted - n, list(self._context.options.start_from))

    def _has_unplanned(self, queued: int) -> bool:
        """Whether points of the design are missing that are chosen when they are asked for."""
        state = self._context.state
        begun = len(state.history.succeeded) + len(state.pending)
        ahead = self._design.plans_ahead(self._context.cost_model)
        return not ahead and begun + queued < self.size

    def _taken(self) -> Array:
        """Encoded points that are evaluated or pending."""
        encoded, state = self._context.model.encoded, self._context.state
        return np.vstack([encoded.all(state.history), encoded.pending(state.pending)])


def distinct(
    domain: Domain, points: Sequence[Mapping[str, Any]], taken: Array
) -> list[dict[str, Any]]:
    """Configurations in their order, each once, without those that are taken."""
    seen = set(domain.key(taken)) if len(taken) else set()
    chosen: list[dict[str, Any]] = []
    for params in points:
        [key] = domain.key(domain.encode(params))
        if key not in seen:
            seen.add(key)
            chosen.append(dict(params))
    return chosen
