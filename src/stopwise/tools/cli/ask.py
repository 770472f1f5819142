# SPDX-License-Identifier: Apache-2.0
"""``stopwise ask study.jsonl``: the next configurations to evaluate."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stopwise.errors import InputError
from stopwise.tools.cli._output import complain, say
from stopwise.tools.cli._studies import (
    STOP,
    WAIT,
    AsJson,
    Journal,
    Wait,
    opened,
    shown_params,
    trial_as_json,
)

if TYPE_CHECKING:
    from stopwise.core.units import AnswerUnits
    from stopwise.record.history import Trial
    from stopwise.study import Study

_MOST = 1000  # trials of one call: they are handed out under one lock


def ask(
    journal: Journal,
    *,
    n: Annotated[
        int | None, typer.Option("-n", min=1, max=_MOST, help="How many; as JSON, a list.")
    ] = None,
    fixed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Hold a parameter at this value; may be repeated."
        ),
    ] = None,
    unless_stopped: Annotated[
        bool,
        typer.Option("--unless-stopped", help="Ask for the verdict first; if it is to stop, end."),
    ] = False,
    as_json: AsJson = False,
    wait: Wait = WAIT,
) -> None:
    """Hand out the next trials: number and params. Tell each of them when it is evaluated.

    Exit codes: 0 here they are; 3 with --unless-stopped, the verdict is to stop (it is on stderr),
    or there are as many trials as there may be, or nothing is left to be tried; 2 bad input; 1
    something outside prevents it.
    """
    with opened(journal, wait) as study:
        held = dict(map(_held, fixed)) if fixed else None
        trials = _handed_out(study, n or 1, held, unless_stopped=unless_stopped)
        if as_json:
            written = [trial_as_json(study, trial) for trial in trials]
            say(json.dumps(written[0] if n is None and written else written))
        else:
            for trial in trials:
                say(_sentence(trial, study.options.units))


def _held(given: str) -> tuple[str, Any]:
    """A parameter and its value, from ``NAME=VALUE``; a value that is no JSON is a text."""
    name, equals, value = given.partition("=")
    if not (name and equals):
        raise InputError(f"--fixed {given!r}: give a name and a value: act=relu")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def _handed_out(
    study: Study, count: int, fixed: dict[str, Any] | None, *, unless_stopped: bool
) -> list[Trial]:
    """So many trials, or as many as there are before a stop; without one the command ends."""
    from stopwise.study.choosing import NothingLeftError

    trials: list[Trial] = []
    while len(trials) < count:  # each pass asks for one, or ends
        verdict = study.should_stop() if unless_stopped else study.cap_reached()
        if verdict is not None and verdict.stop:
            return _fewer(trials, verdict.reason)
        try:
            trials.append(study.ask(fixed=fixed))
        except NothingLeftError as error:
            return _fewer(trials, str(error))
    return trials


def _fewer(trials: list[Trial], reason: str) -> list[Trial]:
    """The trials before a stop, with its reason on stderr; without any the command ends."""
    complain(f"stopwise: {reason}")
    if not trials:
        raise typer.Exit(STOP)
    return trials


def _sentence(trial: Trial, units: AnswerUnits) -> str:
    price = trial.expected_cost
    costs = "" if price is None else f" (expected to cost {units.cost(price)})"
    return f"trial {trial.number}: {shown_params(trial.params)}{costs}"
