# SPDX-License-Identifier: Apache-2.0
"""``stopwise report run.jsonl``: a run as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stopwise.tools.cli._output import say


def report(
    journal: Annotated[
        Path,
        typer.Argument(metavar="JOURNAL", help="The file that a study or `stopwise run` writes."),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="File of the page; beside the journal if left out."),
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve it on this machine, updated as the run goes on.")
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to serve at; any free one if left out.")
    ] = 0,
) -> None:
    """Show a run, finished or still going, as one HTML page that needs no network."""
    from stopwise.tools.report import cli_report

    cli_report(journal, out, serve=serve, port=port, say=say)
