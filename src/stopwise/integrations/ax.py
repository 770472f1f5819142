# SPDX-License-Identifier: Apache-2.0
"""Ax: a global stopping strategy that counts costs, and a generation node that chooses by them.

Guide: docs/how-to/ax.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stopwise.errors import InputError, MissingExtraError
from stopwise.integrations.foreign_files import reading
from stopwise.integrations.foreign_outcomes import outcomes_of
from stopwise.integrations.foreign_space import ForeignSpace, Told
from stopwise.record.history import History, Observation
from stopwise.record.outcomes import outcome_of
from stopwise.stopping.verdict import Verdict
from stopwise.study import StudyOptions
from stopwise.study.external import ExternalStudy
from stopwise.study.signatures import spells_out_options

try:
    from ax.api.client import Client
    from ax.core.trial_status import TrialStatus
    from ax.generation_strategy.external_generation_node import ExternalGenerationNode
    from ax.generation_strategy.generation_strategy import GenerationStrategy
    from ax.global_stopping.strategies.base import BaseGlobalStoppingStrategy
except ImportError as error:
    raise MissingExtraError.of(
        "ax", extra="ax", purpose="stopwise.integrations.ax", cause=error
    ) from error

from stopwise.integrations._ax_experiment import (
    CostOption,
    direction_of,
    finished,
    limits_of,
    means_of,
    objective_of,
    paid_for,
    params_of,
    read_space,
    refuse_limits,
    study_cost,
)
from stopwise.integrations._ax_file import read_experiment

__all__ = [
    "StopwiseNode",
    "StopwiseStrategy",
    "generation_strategy",
    "read_client",
    "read_history",
    "read_space",
    "save",
    "should_stop",
]


_SET_HERE = ("direction", "limits", "fallback")  # the first two are from the experiment


class _Mirror:
    """The mirror of an Ax experiment: a study that is kept up to date with its trials.

    Args:
        lam: What a unit of cost is worth, in units of the objective.
        cost: ``"seconds"`` from start to completion of a trial, learned; the name of a tracking
            metric, learned; a function of the params, or a number, known; or None, each costs
            1.
        options: Further options of ``sw.Study``.
    """

    def __init__(self, lam: float | None, cost: CostOption, options: Mapping[str, Any]) -> None:
        self.lam = lam
        self.cost = cost
        self.options = dict(options)
        StudyOptions.of(self.options, owner="the strategy", leave_out=_SET_HERE)
        self.study: ExternalStudy | None = None
        self.foreign: ForeignSpace | None = None
        self._told: set[int] = set()

    def update(self, experiment: Any, data: Any = None) -> tuple[ExternalStudy, ForeignSpace]:  # noqa: ANN401
        """Tell trials that finished since, in order of completion, and begin those that run."""
        if self.study is None or self.foreign is None:
            self.foreign = read_space(experiment.search_space)
            self.study = ExternalStudy(
                self.foreign.space,
                lam=self.lam,
                direction=direction_of(experiment),
                cost=study_cost(self.cost, self.foreign),
                limits=limits_of(experiment),
                **self.options,
            )
        study, foreign = self.study, self.foreign
        means = means_of(experiment, data)
        for trial in finished(experiment):
            if trial.index not in self._told:
                value = means.get((trial.index, objective_of(experiment)))
                why = "" if value is not None else f"the trial is {trial.status.name.lower()}"
                paid = paid_for(trial, self.cost, means, failed=value is None)
                params = foreign.inward(params_of(trial))
                outcomes = None if value is None else _outcomes(trial.index, means, study)
                study.tell(params, value, paid, charge=True, message=why, outcomes=outcomes)
                self._told.add(trial.index)
        pending = {str(t.params) for t in study.pending}
        for trial in experiment.trials_by_status[TrialStatus.RUNNING]:
            params = foreign.inward(params_of(trial))
            if str(params) not in pending:
                study.begin(params)
        return study, foreign


def _outcomes(
    index: int, means: Mapping[tuple[int, str], float], study: ExternalStudy
) -> dict[str, Any] | None:
    """What a trial reports of the metrics that have outcome constraints."""
    reported = {metric: mean for (trial, metric), mean in means.items() if trial == index}
    how = "Complete it with raw_data that has every metric of the outcome constraints."
    who = f"trial {index}"
    return outcomes_of(reported, study.options.limits, who=who, how=how)[0]


class StopwiseStrategy(BaseGlobalStoppingStrategy):
    """Stop an Ax experiment when no further trial is worth its price.

    Give it as ``OrchestratorOptions(global_stopping_strategy=...)``. ``Client`` does not take one:
    call ``should_stop(client, strategy)`` there. Outcome constraints of the experiment are limits.

    Args:
        lam: What a unit of cost is worth, in units of the objective; see ``sw.exchange_rate``.
        cost: ``"seconds"`` from start to completion of a trial, learned; the name of a tracking
            metric, learned; a function of the params, or a number, known; or None, each costs
            1.
        min_trials: Number of completed trials before it may stop.
        inactive_when_pending_trials: Whether it never stops while trials run.
        options: Further options of ``sw.Study``: stopping, noise, n_initial, ...

    Attributes:
        verdict: The last verdict, with its numbers.
    """

    @spells_out_options(_SET_HERE)
    def __init__(
        self,
        lam: float | None = None,
        *,
        cost: CostOption = None,
        min_trials: int = 0,
        inactive_when_pending_trials: bool = False,
        **options: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(min_trials, inactive_when_pending_trials)
        self._mirror = _Mirror(lam, cost, options)
        self.verdict: Verdict | None = None

    def _should_stop_optimization(self, experiment: Any) -> tuple[bool, str]:  # noqa: ANN401
        """Ax asks this: whether to stop, and why."""
        study, _ = self._mirror.update(experiment)
        self.verdict = study.should_stop()
        return self.verdict.stop, self.verdict.reason


def should_stop(client: Client, strategy: BaseGlobalStoppingStrategy) -> tuple[bool, str]:
    """Ask a global stopping strategy, ours or one of Ax, about the experiment of a ``Client``."""
    answer: tuple[bool, str] = strategy.should_stop_optimization(_experiment(client))
    return answer


class StopwiseNode(ExternalGenerationNode):
    """A node that chooses as ``sw.Study`` does: the initial design, then the acquisition.

    Args:
        lam: As for ``StopwiseStrategy``.
        cost: As for ``StopwiseStrategy``.
        name: Name of the node.
        options: Further options of ``sw.Study``: acquisition, noise, n_initial, seed, ...
    """

    @spells_out_options(_SET_HERE)
    def __init__(
        self,
        lam: float | None = None,
        *,
        cost: CostOption = None,
        name: str = "stopwise",
        **options: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(name=name)
        self._settings = lam, cost, dict(options)
        self._mirror = _Mirror(*self._settings)

    def update_generator_state(self, experiment: Any, data: Any) -> None:  # noqa: ANN401
        """Ax calls this before candidates are asked for."""
        self._mirror.update(experiment, data)

    def get_next_candidate(self, pending_parameters: list[dict[str, Any]]) -> dict[str, Any]:
        """The next configuration; ``pending_parameters`` are taken to be running."""
        study, foreign = self._mirror.study, self._mirror.foreign
        if study is None or foreign is None:
            message = "Ax asks for a candidate before it has shown the experiment."
            raise InputError(message)
        running = {str(t.params) for t in study.pending}
        for theirs in pending_parameters:
            params = foreign.inward(theirs)
            if str(params) not in running:
                study.begin(params)
        return foreign.outward(study.ask().params)


@spells_out_options(_SET_HERE)
def generation_strategy(
    lam: float | None = None,
    *,
    cost: CostOption = None,
    **options: Any,  # noqa: ANN401
) -> GenerationStrategy:
    """A generation strategy with one ``StopwiseNode``, for ``client.set_generation_strategy``."""
    node = StopwiseNode(lam, cost=cost, **options)
    return GenerationStrategy(name="stopwise", nodes=[node])


def save(client: Client, path: str | Path) -> None:
    """``client.save_to_json_file`` without the generation strategy.

    Ax cannot write external nodes. After ``Client.load_from_json_file`` set the generation
    strategy again: a new node reads the trials from the experiment.
    """
    strategy = client._maybe_generation_strategy  # noqa: SLF001  Client cannot unset it
    client._maybe_generation_strategy = None  # noqa: SLF001
    try:
        client.save_to_json_file(str(path))
    finally:
        client._maybe_generation_strategy = strategy  # noqa: SLF001


# ------------------------------------------------------------------------------ reading for audit


def read_history(path: str | Path, *, cost: CostOption = None) -> Told:
    """Read the trials of a ``Client`` that was saved with ``save_to_json_file``, for audit.

    Nothing in the file is run. What Ax might run is refused.
    """
    experiment = read_experiment(path)
    with reading(f"the client {str(path)!r}"):
        return _told(experiment, cost)


def read_client(client: Client, *, cost: CostOption = None) -> Told:
    """Read the finished trials of a ``Client``, for audit; costs as for ``StopwiseStrategy``."""
    return _told(_experiment(client), cost)


def _told(experiment: Any, cost: CostOption) -> Told:  # noqa: ANN401
    foreign = read_space(experiment.search_space)
    refuse_limits(experiment)
    means, objective = means_of(experiment), objective_of(experiment)
    observations = []
    for trial in finished(experiment):
        value = means.get((trial.index, objective))
        params = params_of(trial)
        paid = paid_for(trial, cost, means, failed=value is None)
        if callable(cost):
            paid = float(cost(params))
        elif isinstance(cost, int | float):
            paid = float(cost)
        why = "" if value is not None else f"the trial is {trial.status.name.lower()}"
        observation = Observation(
            trial.index,
            foreign.inward(params),
            outcome_of(value, why),
            (1.0 if cost is None else 0.0) if paid is None else paid,
        )
        observations.append(observation)
    history = History(tuple(observations))
    return Told(history, foreign.space, direction_of(experiment), _notes(history, cost))


def _experiment(client: Client) -> Any:  # noqa: ANN401
    return client._experiment  # noqa: SLF001  Client has no public accessor


def _notes(history: History, cost: CostOption) -> tuple[str, ...]:
    failed = len(history) - len(history.succeeded)
    notes = {
        f"{failed} trials without a value count as failed": failed > 0,
        "each trial is taken to cost 1": cost is None,
        "costs are seconds from a trial's start to its completion": cost == "seconds",
    }
    return tuple(note for note, applies in notes.items() if applies)
