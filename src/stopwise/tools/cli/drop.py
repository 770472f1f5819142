# SPDX-License-Identifier: Apache-2.0
"""``stopwise drop study.jsonl 7``: give a trial up that nobody will tell."""

from __future__ import annotations

from typing import Annotated

import typer

from stopwise.tools.cli._output import say
from stopwise.tools.cli._studies import WAIT, Journal, Wait, opened


def drop(
    journal: Journal,
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="The number of the trial.")],
    *,
    wait: Wait = WAIT,
) -> None:
    """Give a pending trial up: it is not told, and its configuration may be chosen again.

    Exit codes: 0 dropped; 2 bad input; 1 something outside prevents it.
    """
    with opened(journal, wait) as study:
        study.drop(number)
        say(f"trial {number} is given up")
