# SPDX-License-Identifier: Apache-2.0
"""The mirror of an Optuna study: a study of ours that is kept up to date with its trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from stopwise.core.beliefs.prices import is_known
from stopwise.core.checks import check_within_bounds
from stopwise.core.one_objective import INSTEAD
from stopwise.core.space.constraints import checked_constraints
from stopwise.errors import InputError
from stopwise.integrations.foreign_outcomes import outcomes_of
from stopwise.integrations.optuna._board import Note
from stopwise.integrations.optuna._cost import COST, paid
from stopwise.integrations.optuna._space import Axes, Distributions, in_order
from stopwise.integrations.optuna._tree import Tree
from stopwise.record.history import Trial
from stopwise.record.outcomes import Failed, Outcome, Pruned, outcome_of
from stopwise.stopping import StoppingRule, traits_of
from stopwise.study.external import ExternalStudy


class Mirror:
    """A study of ours that is told the trials of an Optuna study, in order of completion.

    Running trials are pending. A pruned trial is told without a value, because its intermediate
    values are not comparable. A failed trial that reports no cost is charged what was reserved.

    Args:
        distributions: The searched parameters, which all trials share.
        direction: ``"minimize"`` or ``"maximize"``.
        cost: As for ``Study``; a callable is called with params in the form of Optuna.
        budget: What may be spent in all.
        **options: As for ``Study``.
    """

    def __init__(
        self,
        distributions: Distributions,
        *,
        direction: str,
        cost: Any = None,  # noqa: ANN401  Study checks it
        budget: float | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        limits = checked_constraints(options.pop("constraints", None))
        self.axes = Axes(distributions, limits)
        if callable(cost) and not hasattr(cost, "price"):
            of_theirs: Callable[[Mapping[str, Any]], float] = cost
            cost = lambda params: of_theirs(self.axes.outward(params))  # noqa: E731
        self.study = ExternalStudy(
            self.axes.space,
            direction=direction,
            cost=cost,
            budget=budget,
            constraints=self.axes.constraints,
            **options,
        )
        self._running: dict[int, Trial] = {}  # by Optuna's number
        self._finished: dict[int, Mapping[str, Any] | None] = {}  # params, by Optuna's number
        self._recorded: list[StoppingRule] = []  # rules whose signals are recorded

    def record(self, rules: Sequence[StoppingRule]) -> None:
        """Record the signals of these rules after each trial that is told from now on."""
        self._recorded += [rule for rule in rules if rule not in self._recorded]

    def update(self, trials: Sequence[FrozenTrial]) -> None:
        """Tell trials that finished since, and begin those that run.

        If many have finished, signals are recorded after the last ones only: as many as the rules
        read. One that reads the present signal alone has it recorded when it is asked.

        Args:
            trials: The trials of the Optuna study, without one that is being chosen now; if they
                were read a while ago, another thread may have told some of them since.
        """
        for trial in trials:
            if trial.state == TrialState.RUNNING and trial.number not in self._finished:
                self._note(trial)
        finished = [t for t in trials if t.state.is_finished() and t.number not in self._finished]
        earlier = [rule for rule in self._recorded if traits_of(rule).memory > 1]
        memory = max((traits_of(rule).memory for rule in earlier), default=0)
        for left, trial in zip(reversed(range(len(finished))), in_order(finished), strict=True):
            self._tell(trial)
            if left < memory:
                self.study.record(*earlier)

    def ask(self, number: int, *, beside: bool = False) -> Trial:
        """The next configuration, pending from now on as Optuna's trial of that number.

        Args:
            number: The number.
            beside: Whether somebody waits for it, so that a lighter search is made.
        """
        self.withdraw(number)  # an offer to it that was not taken
        alone = not self._running
        trial = self.study.ask() if alone else self.study.ask_beside(light=beside)
        self._running[number] = trial
        return replace(trial, params=self.axes.outward(trial.params))

    def withdraw(self, number: int) -> None:
        """Drop the trial of this number of Optuna's, so that its point may be chosen again."""
        trial = self._running.pop(number, None)
        if trial is not None:
            self.study.drop(trial)

    def points(self, trial: FrozenTrial) -> list[dict[str, Any]]:
        """The params of an Optuna trial, in our form; before it has any, those that it may take.

        These are the params of its note, or of the offers to it; none if nothing is known.
        """
        if trial.number in self._finished:
            params = self._finished[trial.number]
            return [] if params is None else [dict(params)]
        if self.axes.holds(trial):
            return [self._inward(trial)]
        return [self.axes.inward(params) for params in self._proposed(trial)]

    def _proposed(self, trial: FrozenTrial) -> list[dict[str, Any]]:
        """The params of the note of an Optuna trial, or of the offers to it."""
        proposed = [note.numbers for note in Note.all_of(trial) if note.numbers is not None]
        theirs = [self.axes.external(numbers) for numbers in proposed]
        return [params for params in theirs if params is not None]

    def _inward(self, trial: FrozenTrial) -> dict[str, Any]:
        """The params of an Optuna trial in our form, with what it lacks as it was proposed."""
        params = trial.params
        if self.axes.tree.unexplained - set(params):
            params = self.axes.filled(params, self._chosen(trial) or {})
        return self.axes.inward(params)

    def _chosen(self, trial: FrozenTrial) -> dict[str, Any] | None:
        """The params that were proposed for an Optuna trial, and with which its own agree."""
        agreeing = (
            proposed
            for proposed in self._proposed(trial)
            if all(proposed.get(name, value) == value for name, value in trial.params.items())
        )
        return next(agreeing, None)

    def _place(self, trial: FrozenTrial) -> dict[str, Any] | None:
        """The params of a finished trial in our form; None if it is not of this space.

        One that ended before it had suggested everything is where it was chosen to be.
        """
        if self.axes.holds(trial):
            return self._inward(trial)
        cut_short = trial.params and trial.state != TrialState.COMPLETE
        chosen = self._chosen(trial) if cut_short else None
        return None if chosen is None else self.axes.inward(chosen)

    def _note(self, trial: FrozenTrial) -> None:
        params, before = next(iter(self.points(trial)), None), self._running.get(trial.number)
        if params is None or (before is not None and params == before.params):
            return  # what was asked for it here may not be written yet
        self.withdraw(trial.number)
        self._running[trial.number] = self.study.begin(params)

    def _tell(self, trial: FrozenTrial) -> None:
        outcome, place = _outcome(trial), self._place(trial)
        cost = self._cost(trial, placed=place is not None)
        check_within_bounds(f"trial {trial.number}", outcome.value, self.study.options.bounds)
        outcomes = None
        if place is not None and outcome.value is not None:
            outcomes, why = self._outcomes(trial)
            outcome = Failed(why) if why else outcome
        self._finished[trial.number] = place
        if place is None:
            self.withdraw(trial.number)
            self.study.spend_elsewhere(cost or 0.0)
            return
        self._note(trial)
        ours = self._running.pop(trial.number)
        self.study.tell(ours, outcome, cost or None, outcomes=outcomes)

    def _outcomes(self, trial: FrozenTrial) -> tuple[dict[str, Any] | None, str]:
        """What a complete trial reports of the outcomes that have limits; see ``outcomes_of``."""
        reported = {**trial.user_attrs, **getattr(trial, "constraints", {})}
        how = (
            "Report it in the objective, by trial.set_constraint(name, value) or"
            " trial.set_user_attr(name, value)."
        )
        limits = self.study.options.limits
        return outcomes_of(reported, limits, who=f"trial {trial.number}", how=how)

    def _cost(self, trial: FrozenTrial, *, placed: bool) -> float | None:
        """The cost of a finished trial; None if our study computes it, or if it is unknown."""
        if is_known(self.study.cost_model) and placed:
            return None
        cost = None if is_known(self.study.cost_model) else paid(trial)
        if cost is not None:
            return cost
        if trial.state == TrialState.COMPLETE and placed:
            message = (
                f"trial {trial.number} does not say what it cost: decorate the objective with"
                " stopwise.integrations.optuna.timed, which times its body, or report the cost"
                f" in it with trial.set_user_attr({COST!r}, ...), or leave out cost= to count"
                " each trial as 1."
            )
            raise InputError(message)
        note = Note.taken(trial)
        return None if note is None else note.price


def direction_of(study: Study) -> Literal["minimize", "maximize"]:
    """The direction of an Optuna study that has one objective."""
    if len(study.directions) != 1:
        message = (
            f"this study has {len(study.directions)} directions, and {INSTEAD}. Use an Optuna"
            " study of one direction."
        )
        raise InputError(message)
    return "maximize" if study.directions[0] == StudyDirection.MAXIMIZE else "minimize"


def has_surplus(tree: Tree, trials: Sequence[FrozenTrial]) -> bool:
    """Whether trials have varying parameters that are not modelled, or whose reason is unknown."""
    return bool(tree.unexplained) or any(
        name not in tree and not distribution.single()
        for trial in trials
        for name, distribution in trial.distributions.items()
    )


def _outcome(trial: FrozenTrial) -> Outcome:
    if trial.state == TrialState.PRUNED:
        return Pruned(f"pruned at step {trial.last_step}")
    complete = trial.state == TrialState.COMPLETE
    return outcome_of(trial.value) if complete else Failed("failed")
