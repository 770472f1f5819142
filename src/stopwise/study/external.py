# SPDX-License-Identifier: Apache-2.0
"""External studies: studies in which somebody else chooses what is evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stopwise.core.beliefs.refits import RefitWhenGrown
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.threads import single_threaded
from stopwise.core.search.supremum import Search
from stopwise.core.space import Space
from stopwise.errors import InputError
from stopwise.record.events import TrialAsked
from stopwise.record.history import Trial
from stopwise.stopping import StoppingRule, Verdict
from stopwise.study.choosing import LIGHT
from stopwise.study.deciding import Deciding
from stopwise.study.evaluation import Evaluation, unpacked
from stopwise.study.exclusive import exclusive
from stopwise.study.identifying import TrialGiven, trial_or_params
from stopwise.study.signatures import spells_out_options
from stopwise.study.study import Study
from stopwise.study.telling import Value, observations_of
from stopwise.study.who_chose import BY_OTHERS


class ExternalStudy(Study):
    """A study whose trials another package, or a recorded history, may choose.

    A trial that was begun with ``begin`` counts like one that was asked for: it is pending until
    it is told or dropped, and its cost is charged. t counts from ``n_initial`` on, whoever chose
    the first points. Rules are asked at every observation of long histories, so hyper-parameters
    are fitted anew only when the data have grown by a tenth, and searches start where the last
    ones ended.

    Args:
        space: As for ``Study``.
        search: Effort of the numerical search for suprema.
        choices: What a lam ladder says of the choices, as long as this study makes none.
        **options: As for ``Study``.
    """

    _refits = RefitWhenGrown()
    _warm_starts = True

    @spells_out_options()
    def __init__(
        self,
        space: Space,
        *,
        search: Search = Search(),
        choices: str = BY_OTHERS,
        **options: Any,  # noqa: ANN401  Study checks them
    ) -> None:
        self._search = search
        if options.get("stages") is not None:
            message = (
                "stages= where somebody else chooses: they are for sw.Study and sw.minimize alone."
                " Leave them out."
            )
            raise InputError(message)
        super().__init__(space, **options)
        self._context.others_choices = choices

    @exclusive
    @single_threaded
    def begin(self, params: Mapping[str, Any]) -> Trial:
        """Begin a trial that somebody else chose; tell or drop it like one that was asked for."""
        self.domain.encode(params)  # refuses params outside the space
        self._design.plan()
        self._design.make_room(params)
        trial = Trial(self._context.state.next, dict(params))
        self._context.log.commit(TrialAsked(trial, designed=False, fitted=None))
        return trial

    @exclusive
    def ask_beside(self, *, light: bool = True) -> Trial:
        """One more configuration beside pending ones.

        What the pending ones will give is only believed, so no signal is recorded for it.

        Args:
            light: Whether somebody waits for it. The search is then lighter than that of ``ask``:
                its choice is less certain than its search.
        """
        self._context.log.check_writable()
        return self._asking.trials(1, None, LIGHT if light else self._search)[0]

    @exclusive
    def tell(
        self,
        trial: TrialGiven,
        value: Value | Evaluation | Sequence[Value],
        cost: float | Sequence[float] | None = None,
        *,
        charge: bool | None = None,
        message: str = "",
        outcomes: Mapping[str, float] | None = None,
        step: int | None = None,
        done: bool | None = None,
    ) -> None:
        """Report an evaluation, as in ``Study``; one told by params counts in the design."""
        plain, cost, outcomes = unpacked(value, cost, outcomes)
        which = trial_or_params(self._context, trial)
        if not isinstance(which, Trial):
            charge = bool(charge)  # others may evaluate a configuration twice
            # What cannot be told is refused here, before the design is changed.
            observations_of(
                self._context,
                which,
                plain,
                cost,
                charge=charge,
                message=message,
                outcomes=outcomes,
            )
            self._design.plan(check_budget=False)
            self._design.make_room(which)
        super().tell(
            which,
            plain,
            cost,
            charge=charge,
            message=message,
            outcomes=outcomes,
            step=step,
            done=done,
        )

    @exclusive
    @single_threaded
    def verdict_of(self, rules: list[StoppingRule]) -> Verdict:
        """The verdict of the hard limits, then of these rules instead of the study's."""
        if self._design.is_done:
            self._snapshots.record(rules)
        return Deciding(
            self._context, self._design, self._spending, self._snapshots, rules
        ).verdict()

    @exclusive
    def plan_design(self) -> None:
        """Fix the initial design now; a budget that does not pay for it is refused."""
        self._design.plan()

    @exclusive
    def spend_elsewhere(self, cost: float) -> None:
        """Reduce the budget by a cost of evaluations that this study does not contain."""
        self._context.budget = self._context.budget.less(cost)

    def encoded(self, params: Mapping[str, Any]) -> Array:
        """One configuration as a point of the unit cube."""
        return np.asarray(self.domain.encode(params)[0])

    @exclusive
    def price_of(self, params: Mapping[str, Any]) -> float:
        """Expected cost of an evaluation; 0 while nothing is known of costs."""
        return self._spending.expected(params)

    @property
    @exclusive
    def left(self) -> float:
        """What may still be spent; infinite without a budget."""
        return self._spending.left
