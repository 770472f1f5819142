# SPDX-License-Identifier: Apache-2.0
"""Choosing in stages: the action with the lowest fair value, over all starts and continuations.

The design: first 2(d + 1) configurations (or ``n_initial``) are started and run to their first
stage only. From then on the action with the lowest fair value is taken. A fair value needs no
incumbent, so the same comparison says which trial is finished first; before one has, the study
does not stop.

The leaving rule: a trial that has just reported is left only if its fair value exceeds the one at
which it was last started or taken up again. So what finished trials gain pays for the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stopwise.acquisition import LCB, PBGI
from stopwise.core.beliefs.belief import Belief
from stopwise.core.beliefs.curves import NEW, CurvePosterior
from stopwise.core.beliefs.prices import expected_cost, known_cost
from stopwise.core.numerics.arrays import Array, Indices
from stopwise.core.numerics.limits import as_amount
from stopwise.core.numerics.seeds import stream
from stopwise.core.search.supremum import Search
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Finite
from stopwise.core.staged_actions import Prospects
from stopwise.core.stages import Stages
from stopwise.record.staged import Leg
from stopwise.study.context import StudyContext
from stopwise.study.hard_limits import is_exhausted
from stopwise.study.staged.beliefs import StagedBelief, StagedBeliefs
from stopwise.study.staged.run_costs import RunCost, usual_start
from stopwise.study.staged.starting import best_start

_LOOKING_AROUND = 2.0  # whole evaluations, before one is finished
_TYPICAL = 64  # points whose median deviation says how much of a start's price is paid as a rule


@dataclass(frozen=True, slots=True, eq=False)
class PossibleActions:
    """The actions of one moment.

    Args:
        numbers: The trial of each; None for a new configuration.
        params: The new configuration, if one can be started.
        prospects: What they are worth; None if there are none.
        best: The best finished value, minimised; infinite before there is one.
    """

    numbers: tuple[int | None, ...]
    params: Mapping[str, Any] | None
    prospects: Prospects | None
    best: float


class StagedChoosing:
    """Finds the actions of a study with stages, and what they are worth."""

    def __init__(
        self, context: StudyContext, stages: Stages, beliefs: StagedBeliefs, search: Search
    ) -> None:
        self._context = context
        self._stages = stages
        self._beliefs = beliefs
        self._search = search
        self._shares = np.diff(np.array([0, *stages.steps])) / stages.last
        self._latest: tuple[object, PossibleActions] | None = None

    @property
    def best(self) -> float:
        """The best result, minimised: of finished trials, or reported if that is usable."""
        state, sign = self._context.state, self._context.options.sign
        values = [sign * float(o.value or 0.0) for o in state.history.succeeded]
        if self._stages.usable:
            values += [sign * report.value for report in state.reports]
        return min(values, default=math.inf)

    def options(self) -> PossibleActions:
        """The actions of this moment; kept until something is asked or told."""
        state = self._context.state
        if self._latest is None or self._latest[0] is not state:
            if self._latest is None or not _same(self._latest[0], state):
                self._latest = state, self._found()
            else:
                self._latest = state, self._latest[1]
        return self._latest[1]

    def leg_of(self, options: PossibleActions, row: int, fair_value: float, to_step: int) -> Leg:
        """The leg of an action: how far it goes, and what it is worth."""
        sign = self._context.options.sign
        worth = None
        if options.prospects is not None and math.isfinite(options.best):
            worth = math.exp(min(options.prospects.log_worth(row, options.best), 700.0))
        return Leg(to_step, sign * fair_value, worth)

    def expected_cost(self, params: Mapping[str, Any]) -> float | None:
        """The expected cost of a whole evaluation; None while nothing is known of costs."""
        context = self._context
        known = known_cost(context.cost_model, context.domain, params)
        if known is not None or not context.state.reports:
            return known
        x = context.model.encoded.encode([params])
        return float(expected_cost(self._beliefs.now().price, x)[0])

    def price_of_finishing(self, number: int) -> float:
        """What the rest of a trial is expected to cost, from its last report on."""
        step = self._context.state.staged.latest[number].step
        cost = self._beliefs.costs().get(number, RunCost(0.0, 0.0))
        return cost.steps / self._stages.last * (self._stages.last - step)

    @property
    def lam(self) -> float:
        """What a unit of cost is worth; a study with stages has one."""
        return self._context.options.lam or 1.0

    def snapshot(self, belief: StagedBelief | None = None) -> Snapshot:
        """This moment as acquisitions see it: a new configuration is a whole evaluation."""
        context, state = self._context, self._context.state
        believed = self._beliefs.now() if belief is None else belief
        X, y = self._results(believed)
        begun = [*state.pending, *(o.number for o in state.history)]
        return Snapshot(
            context.domain,
            X,
            y,
            Belief(believed.posterior, believed.price),
            np.array([self._beliefs.encoded(n) for n in begun]),
            seed=context.options.seed,
            trial=state.next,
            search=self._search,
        )

    def _results(self, belief: StagedBelief) -> tuple[Array, Array]:
        """Configurations that have finished and their values; before one has, those begun."""
        state, sign = self._context.state, self._context.options.sign
        finished = state.history.succeeded
        if finished:
            X = np.array([self._beliefs.encoded(o.number) for o in finished])
            return X, sign * np.array([float(o.value or 0.0) for o in finished])
        begun = dict.fromkeys(report.trial for report in state.reports)
        X = np.array([self._beliefs.encoded(n) for n in begun])
        return X, np.asarray(belief.posterior.law(X).median)

    # ------------------------------------------------------------------ details

    def _found(self) -> PossibleActions:
        state, belief = self._context.state, self._beliefs.now(running=True)
        reached, left = state.staged.latest, self._left()
        stages = {n: self._stages.index(reached[n].step) for n in state.paused}
        costs = self._beliefs.costs()
        free = RunCost(0.0, 0.0)  # a trial that was never charged
        prices = {n: costs.get(n, free).steps * self._shares[i + 1 :] for n, i in stages.items()}
        numbers: list[int | None] = [n for n in stages if prices[n][0] <= left]
        actions = _Actions(belief.posterior)
        for number in numbers:
            actions.add(self._beliefs.encoded(number), stages[number], number, prices[number])  # type: ignore[arg-type,index]
        x = self._new(belief) if self._may_start() else None
        params = None
        if x is not None:
            price = expected_cost(belief.price, x[None, :])[0] * self._shares_of_a_start()
            if price[0] <= left:
                [params] = self._context.domain.decode(x[None, :])
                numbers.append(None)
                actions.add(x, -1, NEW, price)
        prospects = actions.prospects(self.lam) if numbers else None
        return PossibleActions(tuple(numbers), params, prospects, self.best)

    def _shares_of_a_start(self) -> Array:
        """The shares of the stages in the price of a new run, whose start is part of the first."""
        start = usual_start(self._beliefs.costs())
        if not start:
            return self._shares
        shares = (1.0 - start) * self._shares
        shares[0] += start
        return shares

    def _may_start(self) -> bool:
        most, state = self._context.options.max_trials, self._context.state
        capped = most is not None and state.asked >= most
        return not (capped or is_exhausted(self._context) or self._must_finish())

    def _must_finish(self) -> bool:
        """Whether one of the paused trials is to be finished before others are started.

        So it is once looking around has cost as much as two whole evaluations: a model that has
        seen no final value may expect ever more of new configurations.
        """
        state, costs = self._context.state, self._beliefs.paid()[1]
        if math.isfinite(self.best) or not state.paused or not costs.size:
            return False
        return state.spent >= _LOOKING_AROUND * float(np.median(costs))

    def _left(self) -> float:
        total = self._context.budget.total
        return math.inf if total is None else total - self._context.state.spent

    def _new(self, belief: StagedBelief) -> Array | None:
        """The configuration that is best to start: PBGI at the price that is paid as a rule."""
        snapshot = self.snapshot(belief)
        for score in (PBGI(as_amount(self.lam * self._share_paid(belief))), LCB()):
            x = best_start(snapshot, score)
            if x is not None:
                return x
        return None

    def _share_paid(self, belief: StagedBelief) -> float:
        """How much of the price of a whole evaluation counts, since most are left early.

        It is that of a typical configuration, the one with the median deviation among some.
        """
        domain, seed = self._context.domain, self._context.options.seed
        rng = stream(seed, "typical", len(belief.posterior))
        if isinstance(domain, Finite):
            points = domain.design(min(_TYPICAL, len(domain)), rng)
        else:
            points = domain.sobol(_TYPICAL, rng)
        order = np.argsort(np.asarray(belief.posterior.law(points).std), kind="stable")
        x = points[order[len(order) // 2]]
        prices = expected_cost(belief.price, x[None, :])[0] * self._shares_of_a_start()
        actions = _Actions(belief.posterior)
        actions.add(x, -1, NEW, prices)
        counting = actions.prospects(self.lam).counting_prices(np.array([0]))
        return float(counting[0] / (self.lam * prices.sum()))


class _Actions:
    """Actions that are collected one by one."""

    def __init__(self, posterior: CurvePosterior) -> None:
        self._posterior = posterior
        self._rows: list[tuple[Array, int, int]] = []
        self._prices: list[Array] = []

    def add(self, x: Array, stage: int, trial: int, prices: Array) -> None:
        """Add the continuation of a trial from a stage, or the start of a new one."""
        self._rows.append((x, stage, trial))
        self._prices.append(prices)

    def prospects(self, lam: float) -> Prospects:
        """What they are worth."""
        X = np.array([x for x, _, _ in self._rows])
        trials = np.array([trial for _, _, trial in self._rows], dtype=np.intp)
        law = self._posterior.law_of_trials(X, trials)

        def steps_of(rows: Indices) -> Array:
            stage = self._rows[rows[0]][1]  # all have as many to come
            return self._posterior.steps(X[rows], stage, trials[rows])

        return Prospects(law, steps_of, self._prices, lam)


def _same(before: Any, now: Any) -> bool:  # noqa: ANN401  states
    """Whether two states offer the same actions."""
    return (
        before.staged is now.staged
        and before.history is now.history
        and before.pending is now.pending
        and before.asked == now.asked
    )
