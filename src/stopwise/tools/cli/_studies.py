# SPDX-License-Identifier: Apache-2.0
"""Studies in journals, as the commands ask, tell and verdict use them: one call at a time.

A command opens the journal, does one thing and closes it. The journal's lock lets one process in
at a time, and the others wait for it; pending trials are left to those who are at work on them.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stopwise.errors import InputError
from stopwise.tools.cli._output import complain

if TYPE_CHECKING:
    from stopwise.record.history import Trial
    from stopwise.stopping import Verdict
    from stopwise.study import Study

STOP = 3
"""The exit code that means: stop."""

_SILENT = 2.0  # seconds of waiting before it is mentioned
_PAUSE = 0.02  # seconds between two attempts

Journal = Annotated[
    Path, typer.Argument(metavar="JOURNAL", help="The study: the file that `stopwise new` began.")
]
Wait = Annotated[
    float,
    typer.Option(min=0.0, help="Seconds to wait while another process is using the journal."),
]
WAIT = 600.0
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on one line.")]


@contextmanager
def opened(path: Path, wait: float, **changes: Any) -> Iterator[Study]:  # noqa: ANN401  options
    """The study of a journal, with options to change, for this process alone in the block."""
    with closing(_turn(path, wait, changes)) as study:
        for note in study.notes:
            complain(f"stopwise: {note}")
        yield study


def _turn(path: Path, wait: float, changes: Mapping[str, Any]) -> Study:
    """The study, as soon as no other process has it."""
    from stopwise.integrations.foreign_files import regular_file
    from stopwise.record.journal import JournalInUseError, ResumeWarning
    from stopwise.study import Study

    if not path.exists():
        message = f"there is no journal {path}: check the path; stopwise new begins one."
        raise InputError(message)
    regular_file(path)  # a pipe, say, would be waited for
    began, mentioned = time.monotonic(), False
    while True:  # each pass opens the journal, raises, or waits a little
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResumeWarning)  # its notes are shown instead
                return Study.resume(path, again=False, **changes)
        except JournalInUseError:
            waited = time.monotonic() - began
            if waited >= wait:
                raise
        if waited > _SILENT and not mentioned:
            mentioned = True
            complain(f"stopwise: waiting for {path}, which another process is using")
        time.sleep(_PAUSE)


# ---------------------------------------------------------------------------------- as JSON


def trial_as_json(study: Study, trial: Trial) -> dict[str, Any]:
    """A trial: its number, its params, and the cost that is expected of it."""
    return {
        "number": trial.number,
        "params": params_as_json(study, trial.params),
        "expected_cost": trial.expected_cost,
    }


def params_as_json(study: Study, params: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration; a choice that JSON cannot hold is written as in a journal."""
    from stopwise.record.journal.codec import ParamsCodec

    written: dict[str, Any] = ParamsCodec(study.domain).as_json(params)
    return written


def verdict_as_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict; a number that there is not, or is infinite, is null or a word."""
    import math

    from stopwise.record.journal.codec import number

    numbers = {"value": verdict.value, "threshold": verdict.threshold}
    return {
        "stop": verdict.stop,
        "rule": verdict.rule,
        "reason": verdict.reason,
        **{name: None if math.isnan(of) else number(of) for name, of in numbers.items()},
    }


def study_as_json(study: Study) -> dict[str, Any]:
    """The study so far: what was told, spent and found, and what is pending."""
    best = study.best
    return {
        "told": len(study.history),
        "spent": study.spent,
        "budget": study.budget,
        "lam": study.options.lam,
        "best": None
        if best is None
        else {
            "number": best.number,
            "params": params_as_json(study, best.params),
            "value": best.value,
            "std": best.std,
            "outcomes": dict(best.outcomes),
            "chance": best.chance,
            "worth": study.worth(best.value),
        },
        "pending": [trial_as_json(study, trial) for trial in study.pending],
    }


def waiting_trials(study: Study) -> list[Trial]:
    """Trials that somebody is to tell, the lowest number first; nobody is at a paused one."""
    paused = {trial.number for trial in study.paused}
    told_soon = (trial for trial in study.pending if trial.number not in paused)
    return sorted(told_soon, key=lambda trial: trial.number)


def shown_params(params: Mapping[str, Any]) -> str:
    """A configuration in words: ``lr = 0.01, layers = 3``."""
    from stopwise.tools.runner import parameter_passing

    return parameter_passing.shown_params(params)
