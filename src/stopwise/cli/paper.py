# SPDX-License-Identifier: Apache-2.0
"""``stopwise paper``: the experiments of the paper, and its tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def paper(
    figures: Annotated[
        list[str] | None, typer.Argument(metavar="[FIGURE]...", help="All if none is given.")
    ] = None,
    *,
    scale: Annotated[str, typer.Option(help="smoke, laptop or full (the paper's).")] = "laptop",
    engine: Annotated[str, typer.Option(help="local, ray or dask.")] = "local",
    jobs: Annotated[int, typer.Option(help="Processes; -1: one per core.")] = -1,
    out: Annotated[Path, typer.Option(help="Trajectories and figures go to OUT/SCALE.")] = Path(
        "results"
    ),
    draw_only: Annotated[
        bool, typer.Option("--draw-only", help="Draw what is there already; run nothing.")
    ] = False,
) -> None:
    """Run what figures need, and draw them; stop it and go on at any time."""
    from stopwise.experiments.figures.__main__ import main

    options = [f"--scale={scale}", f"--engine={engine}", f"--jobs={jobs}", f"--out={out}"]
    raise typer.Exit(main([*(figures or ()), *options, *(["--draw-only"] if draw_only else [])]))
