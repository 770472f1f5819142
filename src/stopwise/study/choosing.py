# SPDX-License-Identifier: Apache-2.0
"""Choosing: the acquisition's choice of the next configuration, after the initial design."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from stopwise.acquisition import (
    LCB,
    PBGI,
    PBGID,
    Acquisition,
    LogEIPC,
    PointwiseScore,
    make_acquisition,
)
from stopwise.acquisition.chance_per_cost import ChancePerCost
from stopwise.acquisition.one_observation import (
    ObservationWorth,
    best_observation,
    best_repeat,
    observation_worth,
    values_one_observation,
)
from stopwise.core.beliefs.belief import Fitted
from stopwise.core.beliefs.foresight import Foresight
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.limits import as_amount
from stopwise.core.search.supremum import Search
from stopwise.core.snapshot import Bindable, Snapshot
from stopwise.core.space import Finite
from stopwise.core.space.held import Holding
from stopwise.errors import InputError
from stopwise.record.events import LambdaChosen
from stopwise.stopping import LogEIPCMedian
from stopwise.study.budget import end_of_design, expected_range
from stopwise.study.context import StudyContext
from stopwise.study.hard_limits import is_exhausted
from stopwise.study.initial_design import InitialDesign
from stopwise.study.promising import Promising, foreseen
from stopwise.study.snapshots import Snapshots
from stopwise.study.spending import Spending

LIGHT = Search(raw=128, restarts=2)  # of a choice for somebody who waits
_LEAST_GAIN = 1e-9  # of the spread of values: the U of a budget where no gain is expected
_WORTH_RECORDER = LogEIPCMedian()  # its signal does not depend on lambda; PBGI-D reads it


class NothingLeftError(InputError):
    """There is nothing left to ask: all is evaluated or pending, or too expensive."""

    why: str = ""
    """What is left and what is not, in words."""

    @classmethod
    def of(cls, why: str, method: str = "ask") -> Self:
        """The error of a method that has nothing to give."""
        error = cls(f"{why}. Ask should_stop() before {method}().")
        error.why = why
        return error


class Choice(NamedTuple):
    """The next configuration.

    Args:
        params: The configuration.
        fitted: The hyper-parameters of the model that chose it; None if no model did.
        promised: The gain that this model expects of it; None if no model chose it.
        foresight: How likely each belief of the model thinks that gain, if there are several.
        repeats: Number of the trial that is evaluated once more, if one is.
        worth: What it is worth to know that one better.
    """

    params: dict[str, Any]
    fitted: Fitted | None = None
    promised: float | None = None
    foresight: Foresight | None = None
    repeats: int | None = None
    worth: float | None = None


@dataclass(frozen=True, slots=True)
class _FromHints:
    """PBGI, searched for from the snapshot's hints, without a search for LogEIPC before."""

    formula: PBGI

    def bind(self, snapshot: Snapshot) -> PointwiseScore:
        """The score on a snapshot."""
        return PointwiseScore(
            self.formula, snapshot, from_incumbent=True, in_objective_units=True, valued=True
        )


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
        # Without lam a budget chooses it, after the initial design; a number of trials needs none.
        by_budget = options.lam_from_budget and options.acquisition in ("pbgi", "pbgi-d")
        counted = options.lam is None and options.trials_decide and options.acquisition == "pbgi"
        named = LogEIPC() if counted else options.acquisition
        self._fixed = None if by_budget else make_acquisition(named, options.lam)

    @property
    def acquisition(self) -> Acquisition | None:
        """The acquisition; None until a budget has chosen its lambda."""
        if self._fixed is not None:
            return self._fixed
        lam0 = self._context.state.lam0
        return None if lam0 is None else PBGID(lam0)

    def set_lam_of_budget(self) -> None:
        """Set the lambda of a budget that chooses one, once there is something to improve on."""
        if self.acquisition is None and math.isfinite(self._snapshots.now().best):
            self._chosen_by_budget()

    def choose(self, holding: Holding | None = None, search: Search | None = None) -> Choice:
        """The choice of the acquisition; a further point of the design while data are too few.

        Args:
            holding: The parameters that are held, if any.
            search: Effort of the search, of a choice beside others; the study's if left out.
        """
        state = self._context.state
        if is_exhausted(self._context):
            raise self._nothing_left(holding)
        n = len(state.history.succeeded)
        if not n or n + len(state.pending) < self._design.size:
            more = self._design.another(holding)
            if more is not None:
                return Choice(more)
            if not n:
                raise self._nothing_left(holding)
        if n >= self._design.size and (search is None or not isinstance(self.acquisition, PBGI)):
            self._snapshots.record([_WORTH_RECORDER])
        return self._by_acquisition(holding, search)

    def _by_acquisition(self, holding: Holding | None, search: Search | None) -> Choice:
        """The choice of the acquisition, and the gain that is expected of it."""
        now = self._snapshots.now()
        snapshot = with_effort(with_pending_believed(now), search)
        if holding is not None:
            snapshot = replace(snapshot, domain=holding.domain, among=holding.rows)
        alone = values_one_observation(snapshot)  # then repeats are judged apart
        x = self._point(replace(snapshot, replicates=False) if alone else snapshot)
        instead = action_instead(snapshot, x, holding, self._context.options.lam)
        x = x if instead is None else instead.x
        if x is None:
            raise self._nothing_left(holding)
        self._context.model.go_on_from_here()
        [params] = snapshot.domain.decode(x[None, :])
        if math.isinf(snapshot.best):  # nothing keeps the limits so far: no gain is promised
            return Choice(params, snapshot.belief.fitted)
        promised = self._promising.promise(now, snapshot, x)
        choice = Choice(params, snapshot.belief.fitted, promised, foreseen(snapshot, x))
        return choice if instead is None else self._repeated(choice, instead)

    def _repeated(self, choice: Choice, repeat: ObservationWorth) -> Choice:
        """The choice with the params of the observation that it repeats, if it is a repeat."""
        if repeat.row is None:
            return choice
        first = self._context.history.succeeded[repeat.row]
        params = dict(first.params)
        return choice._replace(params=params, repeats=first.number, worth=repeat.gain)

    def _point(self, snapshot: Snapshot) -> Array | None:
        """The acquisition's choice; the likeliest success while nothing keeps the limits.

        None if every point is excluded.
        """
        scores: tuple[Bindable, ...] = (ChancePerCost(),)
        if math.isfinite(snapshot.best):  # a score may be -inf everywhere: nothing can be gained
            scores = (self._acquisition_at(snapshot), LCB(), *scores)
        for score in scores:
            x = snapshot.sup(score).x
            if x is not None:
                return x
        return None

    def _acquisition_at(self, snapshot: Snapshot) -> Bindable:
        """The acquisition; on a box, LogEIPC in place of PBGI once nothing is worth its price.

        This happens if a smoothed or delayed rule has not stopped yet. The lowest fair value on a
        box is then that of a copy of the incumbent, from which nothing is learned.
        """
        chosen = self.acquisition or self._chosen_by_budget()
        if not isinstance(chosen, PBGI) or isinstance(self._context.domain, Finite):
            return chosen
        gain_per_cost = LogEIPC()
        if snapshot.search == LIGHT:  # a gain is worth its price where a fair value is below best
            alone = _FromHints(chosen)
            return alone if snapshot.sup(alone).value > -snapshot.level else gain_per_cost
        worth = snapshot.sup(gain_per_cost).value > math.log(chosen.lam)
        return chosen if worth else gain_per_cost

    def _chosen_by_budget(self) -> PBGID:
        """PBGI-D at the lambda of the budget, U/(B - C); fixed once the initial design is done."""
        snapshot = self._snapshots.now()
        first = end_of_design(snapshot, min(self._design.size, snapshot.n))
        spread = snapshot.belief.objective.unit
        gain = max(expected_range(first).value, _LEAST_GAIN * spread)
        budget = self._context.budget.total or 0.0
        paid = min(self._design.cost, 0.999 * budget)
        chosen = PBGID(as_amount(gain / (budget - paid)))
        if self._design.is_done:  # until then, with parallel trials, some data are missing
            self._context.log.commit(LambdaChosen(chosen.lam0))
        return chosen

    def _nothing_left(self, holding: Holding | None) -> NothingLeftError:
        state, budget = self._context.state, self._context.budget
        money = "" if budget.total is None else f" and {self._spending.left:g} may still be spent"
        among = "" if holding is None else f" with fixed={dict(holding.fixed)}"
        return NothingLeftError.of(
            f"there is nothing left to ask{among}: {len(state.history)} configurations are"
            f" evaluated, {len(state.pending)} pending{money}"
        )


def action_instead(
    snapshot: Snapshot, x: Array | None, holding: Holding | None, lam: float | None
) -> ObservationWorth | None:
    """The action that is worth more for its price than the acquisition's point, if one is to be.

    Where a repeat is worth more than that point, or neither is worth its price by one observation,
    it is the best that there is, new or repeated: that by which the rule goes on.

    Args:
        snapshot: The moment, with values believed of pending trials.
        x: The acquisition's point; None if there is none.
        holding: The parameters that are held, if any.
        lam: What a unit of cost is worth; None if a budget decides.
    """
    if not values_one_observation(snapshot):
        return None
    repeat = best_repeat(snapshot, None if holding is None else holding.matches(snapshot.X))
    if x is None:
        return repeat
    chosen = new = observation_worth(snapshot, x)
    if repeat is not None and repeat.log_gain_per_cost > new.log_gain_per_cost:
        chosen = repeat
    too_dear = lam is not None and chosen.gain < lam * chosen.price
    if holding is None and (chosen is repeat or too_dear):
        best = best_observation(snapshot)
        if best is not None and best.log_gain_per_cost > chosen.log_gain_per_cost:
            chosen = best
    return None if chosen is new else chosen


def with_pending_believed(snapshot: Snapshot) -> Snapshot:
    """The snapshot as if each pending point had given what is expected of it; to choose with.

    While nothing keeps the limits, pending points are expected not to: another is looked for, for
    which there is a need if none of them does.
    """
    if not len(snapshot.pending):
        return snapshot
    belief = snapshot.belief.with_pending(snapshot.pending)
    if math.isinf(snapshot.best) and belief.success is not None:
        belief = replace(belief, success=belief.success.broken_at(snapshot.pending))
    return replace(snapshot, belief=belief)


def with_effort(snapshot: Snapshot, search: Search | None) -> Snapshot:
    """The snapshot with another effort of its searches; itself if there is none."""
    return snapshot if search is None else replace(snapshot, search=search)
