# SPDX-License-Identifier: Apache-2.0
"""The table of commands. Each command imports heavy modules inside its function."""

from __future__ import annotations

from importlib import metadata
from typing import Annotated

import typer

from stopwise.tools.cli import amend, ask, audit, demo, drop, new, report, run, tell, verdict
from stopwise.tools.cli._negative_numbers import TakesNegativeNumbers

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("demo")(demo.demo)
app.command("run")(run.run)
app.command("report")(report.report)
app.command("audit")(audit.audit)
app.command("new")(new.new)
app.command("ask")(ask.ask)
app.command("tell", cls=TakesNegativeNumbers)(tell.tell)
app.command("verdict")(verdict.verdict)
app.command("amend", cls=TakesNegativeNumbers)(amend.amend)
app.command("drop")(drop.drop)


def _version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(f"stopwise {metadata.version('stopwise')}")
        raise typer.Exit


@app.callback()
def stopwise(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Optimization that knows what an evaluation costs, and stops when it is not worth it."""
