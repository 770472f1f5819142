# SPDX-License-Identifier: Apache-2.0
"""The loop of ``minimize`` and ``maximize``: ask, evaluate and tell, until the study stops."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import closing
from dataclasses import replace
from os import PathLike
from typing import Any, NamedTuple

from stopwise.core.checks import Direction, checked_whole
from stopwise.core.space import Space
from stopwise.errors import InputError, InputTypeError
from stopwise.record.history import Trial
from stopwise.record.journal import ResumeWarning, has_begun
from stopwise.study import Study
from stopwise.study.display import Silent
from stopwise.study.hard_limits import CAP
from stopwise.study.likely_mistakes import warn_of_minimising
from stopwise.study.measured_beyond import none_keeps
from stopwise.study.options import check_names
from stopwise.study.result import Result
from stopwise.study.returned import Evaluated, tell_arguments
from stopwise.study.saving import interrupts_noted, saved_if_lost, tell_or_save
from stopwise.study.signatures import spells_out_options
from stopwise.study.staged.loop import StagedLoop

Objective = Callable[[dict[str, Any]], Any]


@spells_out_options(leave_out=["direction"])
def minimize(
    objective: Objective,
    space: Space,
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: bool | Silent = False,
    journal: str | PathLike[str] | None = None,
    **options: Any,  # noqa: ANN401  StudyOptions checks them
) -> Result:
    """Minimise an objective, and stop when no further evaluation is worth its price.

    Args:
        objective: Called with one dict of params; returns a number, or ``(value, cost)`` with
            ``cost="reported"``, or with ``limits`` an ``Evaluation`` (or a dict with its keys),
            which has the measured outcomes too. An evaluation that raises, or returns None, nan,
            inf or a value beyond 1e100, has failed: it is recorded with its cost and message, and
            the study goes on. Ctrl-C ends the run; what was told is in the journal, if there is
            one. With ``stages`` it is a generator function that yields ``(step, value)`` (and the
            cost so far, with ``cost="reported"``), or takes ``report`` as a second argument and
            goes on while ``report(step, value)`` is true.
        space: The search space, as for ``Study``.
        executor: Any ``concurrent.futures`` executor, to evaluate in parallel. After a stop,
            running evaluations are finished and counted.
        workers: How many evaluations run at once; the executor's number of workers if left out.
        progress: Whether to show the run while it goes on: live in a terminal and in a notebook,
            line by line elsewhere, on standard error.
        journal: Path of a journal; the same call continues a run that was interrupted.
        **options: Each option of ``StudyOptions``.

    Returns:
        The best configuration, the reason for stopping, and the cost that was spent.

    Example:
        >>> import stopwise as sw
        >>> result = sw.minimize(lambda p: (p["x"] - 0.3) ** 2, {"x": sw.Real(0, 1)}, lam=0.01)
        >>> abs(result.best.params["x"] - 0.3) < 0.1
        True
        >>> result.verdict.rule
        'pbgi'
    """
    around = _Around(executor, workers, progress, journal)
    return _optimize(objective, space, "minimize", around, options)


@spells_out_options(leave_out=["direction"])
def maximize(
    objective: Objective,
    space: Space,
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: bool | Silent = False,
    journal: str | PathLike[str] | None = None,
    **options: Any,  # noqa: ANN401  StudyOptions checks them
) -> Result:
    """Maximise an objective; see ``minimize``."""
    around = _Around(executor, workers, progress, journal)
    return _optimize(objective, space, "maximize", around, options)


class _Around(NamedTuple):
    """What a call gives around the study: who evaluates, what is shown, and the journal."""

    executor: Executor | None
    workers: int | None
    progress: bool | Silent
    journal: str | PathLike[str] | None


def _optimize(
    objective: Objective,
    space: Space,
    direction: Direction,
    around: _Around,
    options: dict[str, Any],
) -> Result:
    """The body of ``minimize`` and ``maximize``: begin the study, run it, close its journal."""
    study = _begun(space, direction, around.journal, options)
    with (
        closing(study),
        interrupts_noted(study),
        saved_if_lost(study),
        _progress(around.progress) as display,
    ):
        return _run(objective, study, options, around.executor, around.workers, display)


def _begun(
    space: Space,
    direction: Direction,
    journal: str | PathLike[str] | None,
    options: dict[str, Any],
) -> Study:
    """A new study; or that of an existing journal, so that running a script again resumes it."""
    if "direction" in options:
        message = "direction= is not for minimize() and maximize(): call the one that you mean."
        raise InputTypeError(message)
    also = ("journal", "executor", "workers", "progress")
    check_names(options, owner=f"{direction}()", leave_out=("direction",), also=also)
    if journal is None or not has_begun(journal):
        if direction == "minimize":
            warn_of_minimising(options)
        return Study(space, direction=direction, journal=journal, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResumeWarning)  # its notes are given to the caller's line
        study = Study.resume(journal, space=space, direction=direction, **options)
    for note in study.notes:
        warnings.warn(note, ResumeWarning, stacklevel=4)
    return study


def _run(
    objective: Objective,
    study: Study,
    options: Mapping[str, Any],
    executor: Executor | None,
    workers: int | None,
    progress: Silent,
) -> Result:
    _check_callable(objective)
    cost = options.get("cost")
    if executor is None and workers is not None:
        message = (
            f"workers={workers!r} without an executor: give one too, such as"
            " executor=concurrent.futures.ThreadPoolExecutor()."
        )
        raise InputError(message)
    slots = 0 if executor is None else _slots(executor, workers)
    progress.begin(study)
    if study.options.stages is not None:
        loop = StagedLoop(objective, study, cost, progress)
        loop.in_turn() if executor is None else loop.side_by_side(executor, slots)
    elif executor is None:
        _run_in_turn(objective, study, cost, progress)
    else:
        _run_side_by_side(objective, study, cost, executor, slots, progress)
    result = _naming_kept_cap(study.result(), options)
    progress.end(study, result)
    if result.best is None and len(result.history):
        first = result.history[0].message or "no message"
        done = none_keeps(study.options) if result.history.succeeded else "has succeeded"
        message = f"no evaluation {done}; the first of {len(result.history)} said: {first}"
        warnings.warn(message, UserWarning, stacklevel=4)
    return result


def _naming_kept_cap(result: Result, options: Mapping[str, Any]) -> Result:
    """A cap that this call does not give is that of the journal: its verdict says so."""
    verdict = result.verdict
    if verdict.rule != CAP or "max_trials" in options:
        return result
    kept = "max_trials is left out here, so that of the journal holds: give another, or None"
    return replace(result, verdict=replace(verdict, reason=f"{verdict.reason} ({kept})"))


def _run_in_turn(objective: Objective, study: Study, cost: object, progress: Silent) -> None:
    """One evaluation after the other, until a rule or a hard limit ends the run."""
    while _goes_on(study, progress):
        trial = study.ask()
        progress.changed(study)
        _tell(study, trial, evaluate(objective, dict(trial.params)), cost)
        progress.changed(study)


def _run_side_by_side(
    objective: Objective,
    study: Study,
    cost: object,
    executor: Executor,
    slots: int,
    progress: Silent,
) -> None:
    """Up to ``slots`` evaluations at once; the rules are asked again whenever one ends.

    Every pass waits for an evaluation, and no more begin once a rule or a hard limit says so.
    """
    running: dict[Future[Evaluated], Trial] = {}
    while True:  # ends when nothing runs and no more may begin
        while len(running) < slots and _goes_on(study, progress):
            trial = study.ask()
            running[executor.submit(evaluate, objective, dict(trial.params))] = trial
            progress.changed(study)
        if not running:
            return
        try:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
        except KeyboardInterrupt:
            progress.interrupted(len(running))
            raise
        for future in sorted(done, key=lambda f: running[f].number):
            _tell(study, running.pop(future), future.result(), cost)
        progress.changed(study)


def _goes_on(study: Study, progress: Silent) -> bool:
    """Ask whether to stop, and show the answer."""
    verdict = study.should_stop()
    progress.changed(study)
    return not verdict.stop


def _progress(given: object) -> Silent:
    """The display of the run."""
    if isinstance(given, Silent):
        return given
    if not isinstance(given, bool):
        message = f"progress={given!r}: give True to show the run, or False."
        raise InputTypeError(message)
    if not given:
        return Silent()
    from stopwise.tools.progress import Progress

    return Progress()


def evaluate(objective: Objective, params: dict[str, Any]) -> Evaluated:
    """Call the objective and time it; an exception means a failed evaluation."""
    begin = time.perf_counter()
    try:
        returned = objective(params)
    except Exception as error:  # noqa: BLE001  whatever the user's code raises
        return Evaluated(None, _elapsed(begin), _described(error))
    message = "the objective returned None (is a return missing?)" if returned is None else ""
    return Evaluated(returned, _elapsed(begin), message)


def _described(error: Exception) -> str:
    """The kind of an error and what it says, if it can say it."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception as broken:  # noqa: BLE001  of the __str__ that the user's code defines
        return f"{type(error).__name__} (its text raised {type(broken).__name__})"


def _elapsed(begin: float) -> float:
    """Seconds since ``begin``, at least the clock's resolution."""
    return max(time.perf_counter() - begin, time.get_clock_info("perf_counter").resolution)


def _tell(study: Study, trial: Trial, evaluated: Evaluated, cost: object) -> None:
    told = tell_arguments(evaluated, cost, study.options)
    tell_or_save(study, trial, told.value, told.cost, message=told.message, outcomes=told.outcomes)


def _check_callable(objective: object) -> None:
    if not callable(objective):
        message = (
            f"the objective is {objective!r}, which cannot be called: give a function that takes"
            " one dict of params and returns a number."
        )
        raise InputTypeError(message)


def _slots(executor: object, workers: int | None) -> int:
    """How many evaluations may run at once."""
    if not isinstance(executor, Executor):
        message = (
            f"executor={executor!r}: give an executor of concurrent.futures, such as"
            " ThreadPoolExecutor(4)."
        )
        raise InputTypeError(message)
    if workers is not None:
        return checked_whole("workers", workers)
    slots = getattr(executor, "_max_workers", None)  # the standard library's executors have it
    if not isinstance(slots, int):
        message = (
            f"{type(executor).__name__} does not say how many workers it has: give workers=..."
        )
        raise InputError(message)
    return slots
