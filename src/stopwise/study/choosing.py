# SPDX-License-Identifier: Apache-2.0
"""Choosing: the acquisition's choice of the next configuration, after the initial design."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

from stopwise.acquisition import LCB, PBGI, PBGID, Acquisition, LogEIPC, make_acquisition
from stopwise.acquisition.chance_per_cost import ChancePerCost
from stopwise.core.beliefs.belief import Fitted
from stopwise.core.beliefs.foresight import Foresight
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.limits import as_amount
from stopwise.core.snapshot import Bindable, Snapshot
from stopwise.core.space import Finite
from stopwise.errors import InputError
from stopwise.record.events import LambdaChosen
from stopwise.stopping import LogEIPCMedian
from stopwise.study.budget import expected_range
from stopwise.study.context import StudyContext
from stopwise.study.hard_limits import is_exhausted
from stopwise.study.initial_design import InitialDesign
from stopwise.study.promising import Promising, foreseen
from stopwise.study.snapshots import Snapshots
from stopwise.study.spending import Spending

_LEAST_GAIN = 1e-9  # of the spread of values: the U of a budget where no gain is expected
_WORTH_RECORDER = LogEIPCMedian()  # its signal does not depend on lambda; PBGI-D reads it


class Choice(NamedTuple):
    """The next configuration.

    Args:
        params: The configuration.
        fitted: The hyper-parameters of the model that chose it; None if no model did.
        promised: The gain that this model expects of it; None if no model chose it.
        foresight: How likely each belief of the model thinks that gain, if there are several.
    """

    params: dict[str, Any]
    fitted: Fitted | None = None
    promised: float | None = None
    foresight: Foresight | None = None


class Choosing:
    """Chooses the next configuration of a study by its acquisition."""

    def __init__(
        self,
        context: StudyContext,
        design: InitialDesign,
        spending: Spending,
        snapshots: Snapshots,
        promising: Promising,
    ) -> None:
        self._context = context
        self._promising = promising
        self._design = design
        self._spending = spending
        self._snapshots = snapshots
        options = context.options
        # Without lam a budget chooses it, after the initial design.
        by_budget = options.lam_from_budget and options.acquisition in ("pbgi", "pbgi-d")
        self._fixed = None if by_budget else make_acquisition(options.acquisition, options.lam)

    @property
    def acquisition(self) -> Acquisition | None:
        """The acquisition; None until a budget has chosen its lambda."""
        if self._fixed is not None:
            return self._fixed
        lam0 = self._context.state.lam0
        return None if lam0 is None else PBGID(lam0)

    def choose(self) -> Choice:
        """The choice of the acquisition; a further point of the design while data are too few."""
        state = self._context.state
        if is_exhausted(self._context):
            raise self._nothing_left()
        n = len(state.history.succeeded)
        if not n or n + len(state.pending) < self._design.size:
            more = self._design.another()
            if more is not None:
                return Choice(more)
            if not n:
                raise self._nothing_left()
        if n >= self._design.size:
            self._snapshots.record([_WORTH_RECORDER])
        now = self._snapshots.now()
        snapshot = with_pending_believed(now)
        x = self._point(snapshot)
        self._context.model.go_on_from_here()
        [params] = self._context.domain.decode(x[None, :])
        if math.isinf(snapshot.best):  # nothing keeps the limits so far: no gain is promised
            return Choice(params, snapshot.belief.fitted)
        promised = self._promising.promise(now, snapshot, x)
        return Choice(params, snapshot.belief.fitted, promised, foreseen(snapshot, x))

    def _point(self, snapshot: Snapshot) -> Array:
        """The acquisition's choice; the likeliest success while nothing keeps the limits."""
        scores: tuple[Bindable, ...] = (ChancePerCost(),)
        if math.isfinite(snapshot.best):  # a score may be -inf everywhere: nothing can be gained
            scores = (self._acquisition_at(snapshot), LCB(), *scores)
        for score in scores:
            x = snapshot.sup(score).x
            if x is not None:
                return x
        raise self._nothing_left()

    def _acquisition_at(self, snapshot: Snapshot) -> Acquisition:
        """The acquisition; on a box, LogEIPC in place of PBGI once nothing is worth its price.

        This happens if a smoothed or delayed rule has not stopped yet. The lowest fair value on a
        box is then that of a copy of the incumbent, from which nothing is learned.
        """
        chosen = self.acquisition or self._chosen_by_budget()
        if not isinstance(chosen, PBGI) or isinstance(self._context.domain, Finite):
            return chosen
        gain_per_cost = LogEIPC()
        worth = snapshot.sup(gain_per_cost).value > math.log(chosen.lam)
        return chosen if worth else gain_per_cost

    def _chosen_by_budget(self) -> PBGID:
        """PBGI-D at the lambda of the budget, U/(B - C); fixed once the initial design is done."""
        snapshot = self._snapshots.now()
        first = snapshot.prefix(min(self._design.size, snapshot.n))
        first = first if math.isfinite(first.best) else snapshot  # nothing kept the limits then
        spread = snapshot.belief.objective.unit
        gain = max(expected_range(first).value, _LEAST_GAIN * spread)
        budget = self._context.budget.total or 0.0
        paid = min(self._design.cost, 0.999 * budget)
        chosen = PBGID(as_amount(gain / (budget - paid)))
        if self._design.is_done:  # until then, with parallel trials, some data are missing
            self._context.log.commit(LambdaChosen(chosen.lam0))
        return chosen

    def _nothing_left(self) -> InputError:
        state, budget = self._context.state, self._context.budget
        money = "" if budget.total is None else f" and {self._spending.left:g} may still be spent"
        return InputError(
            f"there is nothing left to ask: {len(state.history)} configurations are"
            f" evaluated, {len(state.pending)} pending{money}. Ask should_stop() before"
            " ask()."
        )


def with_pending_believed(snapshot: Snapshot) -> Snapshot:
    """The snapshot as if each pending point had given what is expected of it; to choose with."""
    if not len(snapshot.pending):
        return snapshot
    return replace(snapshot, belief=snapshot.belief.with_pending(snapshot.pending))
