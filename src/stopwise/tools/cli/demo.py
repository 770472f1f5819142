# SPDX-License-Identifier: Apache-2.0
"""``stopwise demo``: stopwise at work, without preparing anything."""

from __future__ import annotations

from typing import Annotated

import typer


def demo(
    *,
    problem: Annotated[
        str, typer.Option(help="train (tune a real model) or pandora (why fair values).")
    ] = "train",
    seed: Annotated[int | None, typer.Option(help="Seed of everything that is random.")] = None,
    report: Annotated[str | None, typer.Option(help="File for the report of train.")] = None,
) -> None:
    """Tune a scikit-learn model until that is no longer worth it, or show Weitzman's boxes."""
    from stopwise.tools.cli import _demo

    _demo.demo(problem, seed=seed, report=report)
