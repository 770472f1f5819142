# SPDX-License-Identifier: Apache-2.0
"""The snapshots of a study: the current one, and the signals that are recorded from it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from stopwise.core.beliefs.belief import Belief
from stopwise.core.numerics.arrays import Array
from stopwise.core.search.supremum import Search
from stopwise.core.snapshot import Snapshot
from stopwise.core.traces import Signal, Trace
from stopwise.errors import InputTypeError
from stopwise.record.events import SignalsRecorded
from stopwise.record.history import Observation
from stopwise.stopping import StoppingRule
from stopwise.stopping.signals import EVALUATIONS, GAIN_PER_COST
from stopwise.study.budget import Budget
from stopwise.study.context import StudyContext
from stopwise.study.feasible_worth import most_worth, weighs_price
from stopwise.study.initial_design import InitialDesign
from stopwise.study.spending import Spending


class _Key(NamedTuple):
    """The inputs of a snapshot that change while a study runs."""

    observations: tuple[Observation, ...]
    pending: tuple[int, ...]
    trial: int
    initial: int
    budget: Budget


class Snapshots:
    """The current snapshot of a study, and the recording of signals from it.

    Args:
        context: The study's context.
        design: Its initial design, from which t counts.
        spending: Its expected costs and remaining budget.
        search: Effort of the numerical search for suprema.
        warm_starts: Whether searches start where those of the last recorded signals ended.
    """

    def __init__(
        self,
        context: StudyContext,
        design: InitialDesign,
        spending: Spending,
        search: Search,
        *,
        warm_starts: bool,
    ) -> None:
        self._context = context
        self._design = design
        self._spending = spending
        self._search = search
        self._warm_starts = warm_starts
        self._peaks: Array | None = None  # maximisers of the suprema in the last recorded signals
        self._latest: tuple[_Key, Snapshot] | None = None

    @property
    def traces(self) -> Mapping[str, Trace]:
        """The recorded signals, by key."""
        units = self._context.options.units
        return {key: trace.in_units(units) for key, trace in self._context.state.traces.items()}

    def now(self) -> Snapshot:
        """The snapshot of this moment; kept until something is asked or told."""
        state = self._context.state
        key = _Key(
            state.history.observations,
            tuple(state.pending),
            state.next,
            self._design.size,
            self._context.budget,
        )
        if self._latest is None or key != self._latest[0]:
            self._latest = None  # whose model is not to be in memory beside the next one
            self._latest = key, self._made(self._context.model.belief(state))
        return self._latest[1].with_traces(dict(state.traces))

    def _made(self, belief: Belief) -> Snapshot:
        context, state, encoded = self._context, self._context.state, self._context.model.encoded
        X, y = encoded.evaluated(state.history)
        return Snapshot(
            context.domain,
            X,
            y,
            belief,
            encoded.pending(state.pending),
            initial=self._design.size,
            seed=context.options.seed,
            trial=state.next,
            search=self._search,
            failed=encoded.failed(state.history),
            left=self._spending.most_payable,
            replicates=context.may_repeat,
            hints=self._peaks,
            feasible=context.model.successes.feasible(state.history),
            fallback=context.options.minimised_fallback,
            loss=context.loss,
            currency=context.options.currency,
        )

    def record(self, rules: Iterable[StoppingRule]) -> None:
        """Record each rule's signal at this number of observations, once per key."""
        began, snapshot = time.perf_counter(), self.now()
        if not snapshot.has_incumbent:
            rules = self._while_nothing_feasible(list(rules), snapshot)
        due: dict[str, StoppingRule] = {}
        for rule in rules:
            if rule.key not in due and self._is_due(rule, snapshot.n):
                due[rule.key] = rule

        def signals() -> dict[str, Signal]:
            return {key: _signal_of(rule, snapshot) for key, rule in due.items()}

        recorded, suprema = snapshot.with_suprema(signals)
        if not recorded:
            return
        self._context.log.commit(SignalsRecorded(recorded), began)
        self._context.model.go_on_from_here()
        points = [supremum.x for supremum in suprema if supremum.x is not None]
        if self._warm_starts and points:
            self._peaks = np.array(list({x.tobytes(): x for x in points}.values()))

    def _while_nothing_feasible(
        self, rules: list[StoppingRule], snapshot: Snapshot
    ) -> list[StoppingRule]:
        """Rules that can judge then: counts need no best, and the price can judge a fallback.

        Without a fallback the price can judge what a value is worth at most.
        """
        judging = {EVALUATIONS.key}
        if math.isfinite(snapshot.best):
            judging.add(GAIN_PER_COST.key)
        most = most_worth(self._context.options)
        bound = [most] if most and math.isinf(snapshot.best) else []
        asked = bound if any(map(weighs_price, rules)) else []
        return [*(rule for rule in rules if rule.key in judging), *asked]

    def trace(self, rule: StoppingRule) -> Trace:
        """The trace of a rule; its last signal is computed again if trials were begun since.

        A signal is recorded once per number of observations. But it is about points that could
        still be begun, and those that were begun since are not among them any more.
        """
        state, units = self._context.state, self._context.options.units
        trace = state.traces[rule.key]
        if state.beside[rule.key] != len(state.pending):
            trace = Trace.of((*trace.signals[:-1], _signal_of(rule, self.now())))
        return trace.in_units(units)

    def _is_due(self, rule: StoppingRule, n: int) -> bool:
        trace = self._context.state.traces.get(rule.key, Trace())
        return not len(trace) or trace.current.n != n


def _signal_of(rule: StoppingRule, snapshot: Snapshot) -> Signal:
    signal: object = rule.signal(snapshot)
    if not isinstance(signal, Signal):
        message = (
            f"signal() of {rule!r} returned {signal!r}: return snapshot.signal(number),"
            " so that the number is recorded with its moment."
        )
        raise InputTypeError(message)
    return signal
