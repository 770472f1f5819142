# SPDX-License-Identifier: Apache-2.0
"""Saving a study whose journal was lost, in loops where nobody else has the study in hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from stopwise.errors import JournalError, StopwiseError
from stopwise.record.history import Trial
from stopwise.study import Study


@contextmanager
def saved_if_lost(study: Study) -> Iterator[None]:
    """Write the journal to a new file beside it if it was deleted or replaced meanwhile.

    The error is raised all the same, and says where the new file is.
    """
    try:
        yield
    except JournalError as error:
        if study._context.log.is_in_place:  # noqa: SLF001  its own folder
            raise
        try:
            path = study.move_journal()
        except StopwiseError as another:
            raise JournalError(f"{error} No copy could be written beside it: {another}") from error
        raise JournalError(f"{error} Everything was saved: go on with {path}.") from error


@contextmanager
def interrupts_noted(study: Study) -> Iterator[None]:
    """Add to an interrupt (Ctrl-C) what was saved, and how to go on; Python shows it last."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        told, journal = len(study.history), study._context.log.path  # noqa: SLF001  as above
        saved = (
            f"{told} evaluations were told, and none was saved: with journal='run.jsonl' the same"
            " call would go on where it was interrupted."
            if journal is None
            else f"Nothing that was told is lost: {told} evaluations are in {journal}, and the"
            " same call goes on from there. What was being evaluated is asked for again."
        )
        interrupt.add_note(f"stopwise: {saved}")
        raise


def tell_or_save(
    study: Study,
    trial: Trial,
    value: Any,  # noqa: ANN401  what the objective returned
    cost: float | None,
    *,
    message: str = "",
    outcomes: Mapping[str, float] | None = None,
    step: int | None = None,
) -> None:
    """Tell an evaluation or a stage; if it cannot be written, tell it to a copy of the journal.

    The error is raised all the same. It says where the copy is, or, if there is none, the value.
    """
    try:
        study.tell(trial, value, cost, message=message, outcomes=outcomes, step=step)
    except JournalError as error:
        try:
            path = study.move_journal()
            study.tell(trial, value, cost, message=message, outcomes=outcomes, step=step)
        except StopwiseError as another:
            unsaved = (
                f"{error} Not in the journal: trial {trial.number}, {dict(trial.params)}, gave"
                f" {value!r} at cost {cost!r}. No copy could be written beside it: {another}"
            )
            raise JournalError(unsaved) from error
        saved = f"{error} Everything, trial {trial.number} too, was saved: go on with {path}."
        raise JournalError(saved) from error
