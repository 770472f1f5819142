# SPDX-License-Identifier: Apache-2.0
"""The output of commands; control characters in it are escaped, whoever wrote them."""

from __future__ import annotations

import typer


def say(text: str) -> None:
    """Write a line to standard output."""
    _write(text, err=False)


def complain(text: str) -> None:
    """Write a line to standard error."""
    _write(text, err=True)


def _write(text: str, *, err: bool) -> None:
    from stopwise.tools.progress.words import printable

    typer.echo(printable(text), err=err)
