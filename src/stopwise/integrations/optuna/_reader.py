# SPDX-License-Identifier: Apache-2.0
"""The reader of an Optuna storage, for ``stopwise.audit``."""

from __future__ import annotations

from contextlib import ExitStack

import optuna
from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial, TrialState

from stopwise.errors import InputError
from stopwise.integrations.foreign_files import reading
from stopwise.integrations.foreign_space import Told
from stopwise.integrations.optuna._cost import COST, paid
from stopwise.integrations.optuna._curves import read_curves
from stopwise.integrations.optuna._learning import learned
from stopwise.integrations.optuna._mirror import direction_of, has_surplus
from stopwise.integrations.optuna._read_only import open_read_only, shown_url
from stopwise.integrations.optuna._space import Axes, in_order
from stopwise.integrations.optuna._tree import Tree
from stopwise.record.history import History, Observation
from stopwise.record.outcomes import Failed, Outcome, Pruned, outcome_of


def read_history(
    storage: str | BaseStorage | optuna.Study,
    study_name: str | None = None,
    *,
    cost: str | None = COST,
) -> Told:
    """Read the finished trials of a study; a storage that is given by its URL is never changed.

    Args:
        storage: A storage of Optuna, or its URL, such as ``sqlite:///study.db``; or the study.
        study_name: Name of the study; it may be left out if there is only one.
        cost: The user attribute with the cost of a trial; ``"duration"`` for the seconds from
            start to end, the sampler's time included; None to count each trial as 1.
    """
    if isinstance(storage, optuna.Study):
        return _read(storage, cost)
    with ExitStack() as stack:
        if isinstance(storage, str):
            stack.enter_context(reading(f"the storage {shown_url(storage)}"))
            storage = stack.enter_context(open_read_only(storage))
        chosen = _chosen(storage, study_name)
        return _read(optuna.load_study(study_name=chosen, storage=storage), cost)


def _read(study: optuna.Study, cost: str | None) -> Told:
    trials = study.get_trials(deepcopy=False)
    finished = [trial for trial in in_order(trials) if trial.state.is_finished()]
    distributions = learned(trials)
    if not distributions:
        message = (
            f"the study {study.study_name!r} has {len(finished)} finished trials and no parameter"
            " that all of them share; there is nothing to audit."
        )
        raise InputError(message)
    axes = Axes(distributions)
    placed = [t for t in finished if axes.holds(t)]
    history = History(
        tuple(
            Observation(
                t.number,
                axes.inward(t.params),
                _outcome(t),
                _cost(t, cost),
            )
            for t in placed
        )
    )
    notes = (
        *_notes(finished, placed, cost, partial=has_surplus(distributions, trials)),
        *_guesses(distributions),
    )
    curves = read_curves(placed, axes, None if cost is None else lambda t: _cost(t, cost))
    return Told(history, axes.space, direction_of(study), notes, curves)


def _chosen(storage: BaseStorage, name: str | None) -> str:
    names = optuna.get_all_study_names(storage)
    if name is None and len(names) == 1:
        return names[0]
    if name in names:
        return str(name)
    several = "the storage holds several studies" if names else "the storage holds no study"
    message = f"there is no study {name!r}" if name else several
    raise InputError(f"{message}: name one of {', '.join(map(repr, names)) or 'none'}.")


def _outcome(trial: FrozenTrial) -> Outcome:
    if trial.state == TrialState.COMPLETE:
        return outcome_of(trial.value)
    word = trial.state.name.lower()
    return Pruned(word) if trial.state == TrialState.PRUNED else Failed(word)


def _cost(trial: FrozenTrial, kind: str | None) -> float:
    if kind is None:
        return 1.0
    if kind == "duration":
        return trial.duration.total_seconds() if trial.duration else 0.0
    cost = paid(trial) if kind == COST else trial.user_attrs.get(kind)
    if cost is None and trial.state == TrialState.COMPLETE:
        attributes = sorted(trial.user_attrs) or "none"
        message = (
            f"trial {trial.number} has no user attribute {kind!r} that says what it cost; its"
            f" attributes are {attributes}. Name one of them, or 'duration' (seconds from start to"
            " end, the sampler's own included), or None (--unit-cost) to count each trial as 1."
        )
        raise InputError(message)
    return float(cost or 0.0)


def _notes(
    finished: list[FrozenTrial], placed: list[FrozenTrial], cost: str | None, *, partial: bool
) -> tuple[str, ...]:
    without = [t.number for t in finished if t not in placed]
    states = [t.state for t in placed]
    notes = {
        f"{len(without)} trials lack a parameter and are left out: {without[:10]}": without,
        f"{states.count(TrialState.PRUNED)} pruned trials count as evaluations without a value": (
            TrialState.PRUNED in states
        ),
        f"{states.count(TrialState.FAIL)} failed trials count as evaluations without a value": (
            TrialState.FAIL in states
        ),
        "what parameters do that are left out, or exist for no known reason, is noise": partial,
        "each trial is taken to cost 1": cost is None,
        "costs are durations, which contain the sampler's own time": cost == "duration",
    }
    return tuple(note for note, applies in notes.items() if applies)


def _guesses(tree: Tree) -> list[str]:
    names = ", ".join(repr(name) for name in tree if name in tree.unexplained)
    return [f"where trials lack {names}, the middle stands for it"] if names else []
