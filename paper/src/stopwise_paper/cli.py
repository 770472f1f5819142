# SPDX-License-Identifier: Apache-2.0
"""``python -m stopwise_paper.figures``: run what figures need, then draw them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from stopwise.errors import StopwiseError
from stopwise_paper.engine import ENGINES
from stopwise_paper.figures import DRAWINGS, draw_figures
from stopwise_paper.plans import SCALES
from stopwise_paper.producing import OUT, paper


def main(arguments: list[str] | None = None) -> int:
    """Draw figures; 1 if one had to be left out."""
    parser = argparse.ArgumentParser(
        prog="stopwise-paper", epilog="figures: " + ", ".join(DRAWINGS)
    )
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help="all if none is given")
    parser.add_argument("--scale", choices=SCALES, default="laptop")
    parser.add_argument("--engine", choices=ENGINES, default="local")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; -1: one per core")
    parser.add_argument("--out", type=Path, default=OUT, help="trajectories go to OUT/SCALE")
    parser.add_argument("--draw-only", action="store_true", help="from what is there already")
    given = parser.parse_args(arguments)
    folder = given.out / given.scale
    try:
        if not given.draw_only:
            shown = sys.stderr.isatty()
            for produced in paper(
                given.figures,
                scale=given.scale,
                engine=given.engine,
                jobs=given.jobs,
                out=given.out,
                progress=shown,
            ):
                sys.stdout.write(f"{produced}\n")
        drawn = draw_figures(
            given.figures,
            trajectories=folder,
            out=folder / "figures",
            scale=given.scale,
            jobs=given.jobs,
        )
    except StopwiseError as error:
        parser.error(str(error))
    for figure in drawn:
        sys.stdout.write(f"{figure}\n")
    return 0 if all(figure.files for figure in drawn) else 1


if __name__ == "__main__":
    sys.exit(main())
