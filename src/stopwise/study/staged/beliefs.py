# SPDX-License-Identifier: Apache-2.0
"""The belief of a study with stages: final values and prices, from all that was reported.

Both follow from the state alone. Hyper-parameters are fitted to the first so many reports, by a
schedule of sizes, each time from the same beginning; so a resumed study believes the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stopwise.core.beliefs.curves import (
    CurveData,
    CurveFit,
    CurvePosterior,
    condition_curves,
    fit_curves,
)
from stopwise.core.beliefs.curves.data import stage_times
from stopwise.core.beliefs.prices import LearnedCost, LearnedPrice, Price, is_known
from stopwise.core.beliefs.refits import RefitAtSizes
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.limits import as_modelled
from stopwise.core.stages import Stages
from stopwise.record.staged import Leg, Report
from stopwise.record.state import State
from stopwise.study.context import StudyContext
from stopwise.study.staged.run_costs import RunCost, run_costs

_SIZES = RefitAtSizes(always_up_to=30, part=7)
_BELIEFS = 2  # that are kept: of now, and as if running trials had reported


@dataclass(frozen=True, slots=True, eq=False)
class StagedBelief:
    """What is believed at one moment.

    Args:
        posterior: Of final values.
        price: Of whole evaluations.
    """

    posterior: CurvePosterior
    price: Price


class StagedBeliefs:
    """The beliefs of a study with stages; those of the present state are kept."""

    def __init__(self, context: StudyContext, stages: Stages) -> None:
        self._context = context
        self._stages = stages
        self._rows: dict[int, tuple[Mapping[str, Any], Array]] = {}
        self._fit: tuple[tuple[Report, ...], CurveFit] | None = None
        self._price_fit: tuple[tuple[Report, ...], Price] | None = None
        self._known_price: Price | None = None
        self._costs: tuple[tuple[Report, ...], dict[int, RunCost]] | None = None
        self._kept: list[tuple[tuple[object, ...], Mapping[int, Leg], StagedBelief]] = []

    def now(self, *, running: bool = False) -> StagedBelief:
        """The belief; there must be a report.

        Args:
            running: Whether trials that are being run are believed to report what is expected.
        """
        state = self._context.state
        legs = state.staged.running if running else {}
        told = state.staged.reports, state.history.observations, state.pending
        for before, beside, belief in self._kept:
            if all(a is b for a, b in zip(before, told, strict=True)) and beside == legs:
                return belief
        belief = self._believed(state, legs)
        self._kept = [*self._kept[1 - _BELIEFS :], (told, legs, belief)]
        return belief

    def costs(self) -> dict[int, RunCost]:
        """What each trial that has reported costs as a whole, by what was paid so far."""
        reports = self._context.state.reports
        if self._costs is None or self._costs[0] != reports:
            self._costs = reports, self._run_costs(reports)
        return self._costs[1]

    def paid(self) -> tuple[Array, Array]:
        """Configurations, and what a whole evaluation of each costs by what was paid so far."""
        X, costs = self._paid(self._context.state.reports)
        return (X, costs) if costs.size else (np.empty((0, self._context.domain.width)), costs)

    def encoded(self, number: int) -> Array:
        """The configuration of a trial as a point of the unit cube; encoded once."""
        params = self._params(number)
        if number not in self._rows or self._rows[number][0] is not params:
            self._rows[number] = params, self._context.model.encoded.encode([params])[0]
        return self._rows[number][1]

    def _params(self, number: int) -> Mapping[str, Any]:
        state = self._context.state
        if number in state.pending:
            return state.pending[number].params
        told = state.observed(number)
        assert told is not None  # noqa: S101  others were given up, and nobody asks for them
        return told.params

    def _believed(self, state: State, legs: Mapping[int, Leg]) -> StagedBelief:
        reports = state.reports
        data = self._data(reports)
        size = _SIZES.latest(len(reports))
        posterior = condition_curves(self._with_diverged(data, state), self._fitted(reports, size))
        if legs:
            posterior = posterior.believing(
                np.array([self.encoded(n) for n in legs]),
                np.array(list(legs), dtype=np.intp),
                np.array([self._stages.index(leg.to_step) for leg in legs.values()]),
            )
        return StagedBelief(posterior, self._price(reports, size))

    def _data(self, reports: tuple[Report, ...]) -> CurveData:
        sign = self._context.options.sign
        return CurveData(
            np.array([self.encoded(r.trial) for r in reports]),
            np.array([r.trial for r in reports], dtype=np.intp),
            np.array([self._stages.index(r.step) for r in reports], dtype=np.intp),
            as_modelled(sign * np.array([r.value for r in reports])),
            stage_times(self._stages.steps),
            self._context.domain.groups,
        )

    def _with_diverged(self, data: CurveData, state: State) -> CurveData:
        """With trials that have failed: at the stage that they did not reach."""
        failed = [o.number for o in state.history if o.failed]
        if not failed:
            return data
        reached = state.staged.latest
        stages = [
            self._stages.index(self._stages.after(reached[n].step if n in reached else 0))
            for n in failed
        ]
        rows = np.array([self.encoded(n) for n in failed])
        return data.with_(rows, np.array(failed), np.array(stages))

    def _fitted(self, reports: tuple[Report, ...], size: int) -> CurveFit:
        first = reports[:size]
        if self._fit is None or self._fit[0] != first:
            options, costs = self._context.options, self._paid(first)[1]
            price = (options.lam or 0.0) * float(np.median(costs)) if costs.size else 0.0
            fit = fit_curves(self._data(first), options.minimised_bounds, price)
            self._fit = first, fit
        return self._fit[1]

    def _price(self, reports: tuple[Report, ...], size: int) -> Price:
        model, domain = self._context.cost_model, self._context.domain
        if is_known(model):
            if self._known_price is None:
                nowhere = np.empty((0, domain.width))
                self._known_price = model.price(domain, nowhere, np.empty(0))
            return self._known_price
        X, costs = self._paid(reports)
        if not isinstance(model, LearnedCost):
            return model.price(domain, X, costs)
        first = reports[:size]
        if self._price_fit is None or self._price_fit[0] != first:
            learned = model.price(domain, *self._paid(first))
            self._price_fit = first, learned
        fitted = self._price_fit[1]
        if not isinstance(fitted, LearnedPrice):
            return fitted
        return model.price_as_fitted(domain, X, costs, fitted.posterior.hyper)

    def _paid(self, reports: tuple[Report, ...]) -> tuple[Array, Array]:
        """Trials, and what a whole evaluation of each would cost by what it has cost so far."""
        costs = self._run_costs(reports)
        whole = [cost.whole for cost in costs.values()]
        return np.array([self.encoded(n) for n in costs]), np.array(whole)

    def _run_costs(self, reports: tuple[Report, ...]) -> dict[int, RunCost]:
        """As ``run_costs``; a cost that is known is spread evenly, without a start."""
        last = self._stages.last
        if is_known(self._context.cost_model):
            latest = {report.trial: report for report in reports if report.cost > 0.0}
            return {n: RunCost(0.0, r.cost / r.step * last) for n, r in latest.items()}
        return run_costs(reports, last)
