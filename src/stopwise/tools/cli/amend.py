# SPDX-License-Identifier: Apache-2.0
"""``stopwise amend study.jsonl 7 --value 0.31``: correct the report of an evaluation."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from stopwise.errors import InputError
from stopwise.tools.cli._output import say
from stopwise.tools.cli._studies import WAIT, Journal, Wait, opened
from stopwise.tools.cli.tell import outcomes_of, said


def amend(
    journal: Journal,
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="The number of the trial.")],
    *,
    value: Annotated[float | None, typer.Option(help="The right value.")] = None,
    cost: Annotated[float | None, typer.Option(help="What was really paid.")] = None,
    failed: Annotated[
        str | None, typer.Option(metavar="REASON", help="It gave no value after all, and why.")
    ] = None,
    outcome: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=NUMBER", help="What was measured besides; give all of them."),
    ] = None,
    wait: Wait = WAIT,
) -> None:
    """Correct a value or a cost that was told wrong; what was decided meanwhile stays on record.

    Exit codes: 0 amended; 2 bad input; 1 something outside prevents it.
    """
    from stopwise.record.outcomes import Failed

    given: dict[str, Any] = {"value": value, "cost": cost}
    changes = {name: right for name, right in given.items() if right is not None}
    if failed is not None:
        if value is not None:
            raise InputError("give --value or --failed, not both.")
        changes["value"] = Failed(failed)
    if outcome:
        changes["outcomes"] = outcomes_of(outcome)
    if not changes:
        raise InputError("nothing is amended: give --value, --failed, --cost or --outcome.")
    with opened(journal, wait) as study:
        study.amend(number, **changes)
        say(f"amended: {said(study, number)}")
