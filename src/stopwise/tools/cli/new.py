# SPDX-License-Identifier: Apache-2.0
"""``stopwise new study.jsonl --space space.toml``: begin a study that any caller can drive."""

from __future__ import annotations

import warnings
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from stopwise.tools.cli._output import complain, say


def new(  # long: typer wants each option with its help
    journal: Annotated[
        Path, typer.Argument(metavar="JOURNAL", help="The file to begin; it must not exist.")
    ],
    *,
    space: Annotated[
        Path,
        typer.Option(
            help="What may be varied, and the options: the TOML of `stopwise run` without command."
        ),
    ],
    lam: Annotated[
        float | None, typer.Option(help="What a unit of cost is worth, in objective units.")
    ] = None,
    budget: Annotated[float | None, typer.Option(help="What may be spent in all.")] = None,
    max_trials: Annotated[int | None, typer.Option(min=1, help="A hard cap on trials.")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Makes the choices repeatable; 0 if left out.")
    ] = None,
    maximize: Annotated[bool, typer.Option("--maximize", help="Larger is better.")] = False,
    value_name: Annotated[
        str | None, typer.Option(help="The value in your words, with its unit: 'misread %'.")
    ] = None,
    cost_unit: Annotated[
        str | None, typer.Option(help="The unit of costs: '$', 'GPU hours', 's'.")
    ] = None,
) -> None:
    """Begin a study. `stopwise ask`, `tell` and `verdict` go on with it, from any process.

    An option given here replaces what the file says.
    """
    from stopwise.tools import runner

    config, unused = runner.load_study(
        space,
        lam=lam,
        budget=budget,
        max_trials=max_trials,
        seed=seed,
        maximize=maximize,
        value_name=value_name,
        cost_unit=cost_unit,
    )
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UserWarning)
        made = runner.new_study(config, journal=journal)
    for warning in warned:
        complain(f"stopwise: {warning.message}")
    with closing(made) as study:
        told = "each trial costs 1" if study.options.cost is None else "tell says what was paid"
        say(f"{journal} is begun: to {study.direction}, over {', '.join(config.space)}; {told}.")
    if unused:
        say(f"Not used here, since no program is run: {', '.join(unused)}.")
