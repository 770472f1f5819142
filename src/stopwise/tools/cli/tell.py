# SPDX-License-Identifier: Apache-2.0
"""``stopwise tell study.jsonl 7 0.31 --cost 52``: report an evaluation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stopwise.errors import InputError
from stopwise.tools.cli._output import say
from stopwise.tools.cli._studies import WAIT, Journal, Wait, opened

if TYPE_CHECKING:
    from stopwise.record.outcomes import Outcome
    from stopwise.study import Study


def tell(  # long: typer wants each option with its help
    journal: Journal,
    number: Annotated[
        str,
        typer.Argument(
            metavar="NUMBER", help="The number of the trial; or `new`, for data from elsewhere."
        ),
    ],
    value: Annotated[
        str | None, typer.Argument(metavar="VALUE", help="Its value, unless it failed.")
    ] = None,
    *,
    cost: Annotated[float | None, typer.Option(help="What was paid for it.")] = None,
    failed: Annotated[
        str | None, typer.Option(metavar="REASON", help="It gave no value, and why.")
    ] = None,
    outcome: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=NUMBER", help="What was measured besides."),
    ] = None,
    params: Annotated[
        str | None, typer.Option(metavar="JSON", help="With `new`: the configuration.")
    ] = None,
    off_table: Annotated[
        bool,
        typer.Option(
            "--off-table",
            help="With `new`, where the space is a table: accept, from now on, what is in no row.",
        ),
    ] = False,
    charge: Annotated[
        bool | None,
        typer.Option(
            "--charge/--no-charge",
            help="Whether the cost counts as spent; by default that of trials that were asked for."
            " With `new`, it says that a configuration was evaluated once more.",
        ),
    ] = None,
    step: Annotated[
        int | None, typer.Option(help="In a study with stages: the step of the value.")
    ] = None,
    wait: Wait = WAIT,
) -> None:
    """Report what a trial gave. To tell the same again, after an interruption, is harmless.

    Exit codes: 0 told; 2 bad input; 1 something outside prevents it, and nothing was told.
    """
    with opened(journal, wait, **({"off_table": True} if off_table else {})) as study:
        trial = _trial(number, params)
        measured = outcomes_of(outcome or []) or None
        before = len(study.history)
        told = _value(value, failed)
        study.tell(trial, told, cost, charge=charge, outcomes=measured, step=step)
        if isinstance(trial, int):
            say(said(study, trial))
        elif len(study.history) > before:
            say(said(study, study.history[-1].number))
        else:
            say("This was told before: nothing has changed.")


def said(study: Study, number: int) -> str:
    """What a trial gave and cost, in words."""
    from stopwise.study.measured_beyond import beyond_words

    units = study.options.units
    if any(trial.number == number for trial in study.pending):  # it may go on
        report = study.curves[number][-1]
        gave = f"gave {units.value(report.value)} at step {report.step}"
        return f"trial {number} {gave}, at a cost of {units.cost(report.cost)} so far"
    [told] = [o for o in study.history if o.number == number]
    gave = f"failed ({told.message})" if told.value is None else f"gave {units.value(told.value)}"
    if told.infeasible:
        beyond = beyond_words(units) if units.noisy else "which does not count"
        gave += f", {beyond} ({told.message})"
    uncharged = "" if told.charged else ", not charged (--charge counts it as spent)"
    return f"trial {number} {gave}, at a cost of {units.cost(told.cost)}{uncharged}"


def _trial(number: str, params: str | None) -> int | dict[str, Any]:
    """The number of a trial, or the params of data from elsewhere."""
    if (number == "new") != (params is not None):
        message = (
            "--params goes with `new` in place of the trial's number: stopwise tell study.jsonl"
            """ new 0.31 --params '{"lr": 0.01}'"""
        )
        raise InputError(message)
    if params is None:
        return _whole(number)
    try:
        told = json.loads(params)
    except RecursionError as error:
        raise InputError("--params is nested too deeply: give a JSON object.") from error
    except ValueError as error:
        raise InputError(f"--params {params!r} is not JSON: {error}.") from error
    if not isinstance(told, dict):
        raise InputError(f"--params {params!r}: give a JSON object, a value for each parameter.")
    return told


def _value(value: str | None, failed: str | None) -> float | Outcome:
    from stopwise.record.outcomes import Failed

    if failed is not None and value is None:
        return Failed(failed)
    if value is None or failed is not None:
        given = "neither" if value is None else f"{value!r} and --failed"
        message = f"give a value or --failed REASON, one of the two; given were {given}."
        raise InputError(message)
    return _number("the value", value)


def outcomes_of(given: list[str]) -> dict[str, float]:
    """Measured outcomes, each from ``NAME=NUMBER``; one that is given twice is refused."""
    measured: dict[str, float] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not (name and equals):
            raise InputError(f"--outcome {each!r}: give a name and a number: toxicity=3.2")
        if name in measured:
            same = ", ".join(text for text in given if text.partition("=")[0] == name)
            message = (
                f"--outcome {name} is given more than once ({same}): give each outcome once. What"
                " was measured several times is told as one number, such as the mean."
            )
            raise InputError(message)
        measured[name] = _number(f"--outcome {name}", value)
    return measured


def _whole(given: str) -> int:
    try:
        return int(given)
    except ValueError as error:
        message = f"the number of a trial is a whole number, as `ask` gave it, not {given!r}."
        raise InputError(message) from error


def _number(what: str, given: Any) -> float:  # noqa: ANN401  a text
    try:
        return float(given)
    except ValueError as error:
        failed = " (an evaluation that gave none is told by --failed REASON)"
        hint = failed if what == "the value" else ""
        raise InputError(f"{what} must be a number, not {given!r}{hint}.") from error
