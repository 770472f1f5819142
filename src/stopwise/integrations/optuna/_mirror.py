# SPDX-License-Identifier: Apache-2.0
"""An Optuna study as a study of ours, kept up with what its trials come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from stopwise.core.beliefs.prices import is_known
from stopwise.errors import InputError
from stopwise.integrations.optuna._board import Note
from stopwise.integrations.optuna._cost import COST, paid
from stopwise.integrations.optuna._space import Axes, Distributions, in_order
from stopwise.record.history import Trial
from stopwise.record.outcomes import Failed, Outcome, Pruned, outcome_of
from stopwise.stopping import StoppingRule, traits_of
from stopwise.study.external import ExternalStudy


class Mirror:
    """A study of ours that is told, in order of completion, what an Optuna study's trials came to.

    Running trials are pending. A pruned trial is one that gave no value: what it showed before
    its end is not comparable. A failed one that says no cost has cost what was reserved for it.

    Args:
        distributions: What is searched: the parameters that all trials share.
        direction: ``"minimize"`` or ``"maximize"``.
        cost: As for ``Study``; a callable is given the params as Optuna knows them.
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
        self.axes = Axes(distributions)
        if callable(cost) and not hasattr(cost, "price"):
            of_theirs: Callable[[Mapping[str, Any]], float] = cost
            cost = lambda params: of_theirs(self.axes.outward(params))  # noqa: E731
        self.study = ExternalStudy(
            self.axes.space, direction=direction, cost=cost, budget=budget, **options
        )
        self._running: dict[int, Trial] = {}  # by Optuna's number
        self._finished: dict[int, Mapping[str, Any] | None] = {}  # what each has evaluated
        self._recorded: list[StoppingRule] = []  # rules whose signals are wanted after each trial

    def record(self, rules: Sequence[StoppingRule]) -> None:
        """Record the signals of these rules after each trial that is told from now on."""
        self._recorded += [rule for rule in rules if rule not in self._recorded]

    def update(self, trials: Sequence[FrozenTrial]) -> None:
        """Tell what has finished since, and note what runs.

        Of many trials that finished meanwhile, signals are recorded for as many as a rule reads.

        Args:
            trials: The trials of the Optuna study, without one that is just being chosen.
        """
        for trial in trials:
            if trial.state == TrialState.RUNNING:
                self._note(trial)
        finished = [t for t in trials if t.state.is_finished() and t.number not in self._finished]
        memory = max((traits_of(rule).memory for rule in self._recorded), default=0)
        for left, trial in zip(reversed(range(len(finished))), in_order(finished), strict=True):
            self._tell(trial)
            if left < memory:
                self.study.record(*self._recorded)

    def ask(self, number: int) -> Trial:
        """The next configuration, pending from now on as Optuna's trial of that number."""
        trial = self.study.ask()
        self._running[number] = trial
        return replace(trial, params=self.axes.outward(trial.params))

    def withdraw(self, number: int) -> None:
        """What Optuna's trial of that number would have evaluated is free again."""
        trial = self._running.pop(number, None)
        if trial is not None:
            self.study.drop(trial)

    def running(self, trial: FrozenTrial) -> dict[str, Any] | None:
        """What an Optuna trial evaluates or is about to, in our values; None if nobody knows."""
        if trial.number in self._finished:
            known = self._finished[trial.number]
            return None if known is None else dict(known)
        if self.axes.holds(trial):
            return self.axes.inward(trial.params)
        note = Note.of(trial)
        if (
            note is None
            or note.numbers is None
            or set(note.numbers) != set(self.axes.distributions)
        ):
            return None
        return self.axes.inward(self.axes.external(note.numbers))

    def _note(self, trial: FrozenTrial) -> None:
        params, before = self.running(trial), self._running.get(trial.number)
        if before is not None and params == before.params:
            return
        self.withdraw(trial.number)
        if params is not None:
            self._running[trial.number] = self.study.begin(params)

    def _tell(self, trial: FrozenTrial) -> None:
        cost = self._cost(trial)
        holds = self.axes.holds(trial)
        self._finished[trial.number] = self.axes.inward(trial.params) if holds else None
        if not holds:
            self.withdraw(trial.number)
            self.study.spend_elsewhere(cost or 0.0)
            return
        self._note(trial)
        ours = self._running.pop(trial.number)
        self.study.tell(ours, _outcome(trial), cost or None)

    def _cost(self, trial: FrozenTrial) -> float | None:
        """What a finished trial cost; None where our study knows it, or nobody does."""
        if is_known(self.study.cost_model) and self.axes.holds(trial):
            return None
        cost = None if is_known(self.study.cost_model) else paid(trial)
        if cost is not None:
            return cost
        if trial.state == TrialState.COMPLETE and self.axes.holds(trial):
            message = (
                f"trial {trial.number} does not say what it cost: decorate the objective with"
                " stopwise.integrations.optuna.timed, which times its body, or report the cost"
                f" in it with trial.set_user_attr({COST!r}, ...), or leave out cost= to count"
                " each trial as 1."
            )
            raise InputError(message)
        note = Note.of(trial)
        return None if note is None or not note.settled else note.price


def direction_of(study: Study) -> Literal["minimize", "maximize"]:
    """The direction of an Optuna study that has one objective."""
    if len(study.directions) != 1:
        message = (
            f"this study has {len(study.directions)} objectives; stopwise optimises one. Combine"
            " them into one value, or use a study of one direction."
        )
        raise InputError(message)
    return "maximize" if study.directions[0] == StudyDirection.MAXIMIZE else "minimize"


def has_surplus(distributions: Distributions, trials: Sequence[FrozenTrial]) -> bool:
    """Whether trials have parameters beside those that are modelled, and that vary."""
    return any(
        name not in distributions and not found.single()
        for trial in trials
        for name, found in trial.distributions.items()
    )


def _outcome(trial: FrozenTrial) -> Outcome:
    if trial.state == TrialState.PRUNED:
        return Pruned(f"pruned at step {trial.last_step}")
    complete = trial.state == TrialState.COMPLETE
    return outcome_of(trial.value) if complete else Failed("failed")
