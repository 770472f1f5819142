# SPDX-License-Identifier: Apache-2.0
"""``stopwise ask study.jsonl``: the next configurations to evaluate."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
    waiting_trials,
)

if TYPE_CHECKING:
    from stopwise.core.space import Parameter
    from stopwise.core.units import AnswerUnits
    from stopwise.record.history import Trial
    from stopwise.study import Study

_MOST = 1000  # trials of one call: they are handed out under one lock


def ask(  # long: typer wants each option with its help
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
    pending: Annotated[
        bool,
        typer.Option(
            "--pending",
            help="Hand out again what was asked and not told, the lowest number first.",
        ),
    ] = False,
    as_json: AsJson = False,
    wait: Wait = WAIT,
) -> None:
    """Hand out the next trials: number and params. Tell each of them when it is evaluated.

    Exit codes: 0 here they are; 3 with --unless-stopped, the verdict is to stop (it is on stderr),
    or there are as many trials as there may be, or nothing is left to be tried, or with --pending
    no trial is pending; 2 bad input; 1 something outside prevents it.
    """
    if pending and (fixed or unless_stopped):
        given = "--fixed" if fixed else "--unless-stopped"
        raise InputError(
            f"--pending hands out trials that were chosen before, whatever the verdict on new ones"
            f" is: leave {given} out, or ask for a new trial without --pending."
        )
    with opened(journal, wait) as study:
        if pending:
            trials = _again(study, n or 1)
        else:
            trials = _handed_out(study, n or 1, _held(study, fixed), unless_stopped=unless_stopped)
        if as_json:
            written = [trial_as_json(study, trial) for trial in trials]
            say(json.dumps(written[0] if n is None and written else written))
        else:
            for trial in trials:
                say(_sentence(trial, study.options.units))


def _held(study: Study, given: list[str] | None) -> dict[str, Any] | None:
    """The parameters that are held and their values, from ``NAME=VALUE`` each."""
    from stopwise.core.space.finite import codec_of

    codec = codec_of(study.domain)
    listed = dict(zip(codec.names, map(_listed, codec.parameters), strict=True))
    held: dict[str, Any] = {}
    for each in given or ():
        name, equals, value = each.partition("=")
        if not (name and equals):
            raise InputError(f"--fixed {each!r}: give a name and a value: act=relu")
        held[name] = _choice(value, listed.get(name, ()))
    return held or None


def _listed(parameter: Parameter) -> Sequence[Any]:
    """The choices or values of a parameter that has a list of them."""
    from stopwise.core.space import Categorical, Ordinal

    if isinstance(parameter, Categorical):
        return parameter.choices
    return parameter.values if isinstance(parameter, Ordinal) else ()


def _choice(text: str, listed: Sequence[Any]) -> Any:  # noqa: ANN401  any choice
    """The choice that is written so: as JSON, as a text, or as answers and Python write it."""
    from stopwise.tools.runner.parameter_passing import as_text

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    if any(choice == value and type(choice) is type(value) for choice in listed):
        return value
    written_so = (choice for choice in listed if text in (as_text(choice), repr(choice)))
    return next(written_so, value)


def _again(study: Study, count: int) -> list[Trial]:
    """The pending trials of the lowest numbers; without one the command ends."""
    waiting = waiting_trials(study)
    if not waiting:
        complain("stopwise: no trial is pending: all that were asked for are told or given up")
        raise typer.Exit(STOP)
    return waiting[:count]


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
