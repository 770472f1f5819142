# SPDX-License-Identifier: Apache-2.0
"""Every table and figure of the paper, one file each, as CSV, PNG and SVG.

A new one is a file with ``draw(results)`` and a line in ``FIGURES``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import joblib
import matplotlib as mpl

from stopwise.errors import InputError
from stopwise_paper.experiments import EXPERIMENTS, Scale
from stopwise_paper.figures import (
    bars_1d,
    bars_8d,
    budgeted,
    cost_surfaces,
    default_rule,
    design,
    illustration,
    iterations_1d,
    iterations_8d,
    iterations_lcbench,
    iterations_nats,
    lcbench,
    misspecification,
    moving_average,
    nats,
    non_stop,
    normalised,
    order,
    promises,
    published,
    ranking,
    refit,
    runtime,
    runtime_proxies,
    shipped,
    summary,
    unknown_cost,
    validation_test,
    windows,
)
from stopwise_paper.figures._results import MissingTrajectoriesError, Results
from stopwise_paper.figures._style import Sheet, save
from stopwise_paper.problems.data_folder import MissingDataError

__all__ = [
    "FIGURES",
    "DrawnFigure",
    "Figure",
    "MissingTrajectoriesError",
    "draw_figures",
    "experiments_read_by",
]


@dataclass(frozen=True, slots=True)
class Figure:
    """A table or figure of the paper.

    Args:
        draw: Makes its sheets from results.
        reads: The experiments whose trajectories it reads.
    """

    draw: Callable[[Results], Iterator[Sheet]]
    reads: tuple[str, ...] = ()


FIGURES = {
    "illustration": Figure(illustration.draw, ("gp1d",)),
    "bars-1d": Figure(bars_1d.draw, ("gp1d",)),
    "bars-8d": Figure(bars_8d.draw, ("gp8d",)),
    "iterations-1d": Figure(iterations_1d.draw, ("gp1d",)),
    "iterations-8d": Figure(iterations_8d.draw, ("gp8d",)),
    "iterations-lcbench": Figure(iterations_lcbench.draw, ("lcbench",)),
    "iterations-nats": Figure(iterations_nats.draw, ("nats",)),
    "moving-average": Figure(moving_average.draw, ("gp8d",)),
    "windows": Figure(windows.draw, ("gp8d",)),
    "runtime": Figure(runtime.draw, ("gp8d",)),
    "order": Figure(order.draw, ("gp1d",)),
    "lcbench": Figure(lcbench.draw, ("lcbench",)),
    "normalised": Figure(normalised.draw, ("lcbench", "nats")),
    "ranking": Figure(ranking.draw, ("lcbench",)),
    "non-stop": Figure(non_stop.draw, ("lcbench", "nats")),
    "misspecification": Figure(misspecification.draw, ("lcbench", "nats")),
    "unknown-cost": Figure(unknown_cost.draw, ("unknown-cost",)),
    "budgeted": Figure(budgeted.draw, ("lcbench", "budgeted")),
    "validation-test": Figure(validation_test.draw, ("lcbench",)),
    "cost-surfaces": Figure(cost_surfaces.draw),
    "promises": Figure(promises.draw),
    "runtime-proxies": Figure(runtime_proxies.draw),
    "nats": Figure(nats.draw, ("nats",)),
    "shipped": Figure(shipped.draw, ("sklearn", "sklearn-unknown")),
    "refit": Figure(refit.draw, ("lcbench", "refit")),
    "published": Figure(published.draw, published.READS),
    "design": Figure(design.draw, design.READS),
    "default-rule": Figure(default_rule.draw, default_rule.READS),
    "summary": Figure(summary.draw, tuple(EXPERIMENTS)),
}


@dataclass(frozen=True, slots=True)
class DrawnFigure:
    """A figure that was drawn, or left out.

    Args:
        figure: Its name.
        files: Its files; none if it was left out.
        message: What is missing.
    """

    figure: str
    files: tuple[Path, ...]
    message: str = ""

    def __str__(self) -> str:
        names = ", ".join(sorted({path.stem for path in self.files}))
        if not self.files:
            return f"{self.figure}: left out. {self.message}"
        return f"{self.figure}: {names}" + (f" ({self.message})" if self.message else "")


def experiments_read_by(figures: Sequence[str] = ()) -> list[str]:
    """The experiments that figures read, in their usual order; all figures if none is named."""
    names = _checked(figures)
    needed = {experiment for name in names for experiment in FIGURES[name].reads}
    return [experiment for experiment in EXPERIMENTS if experiment in needed]


def draw_figures(
    figures: Sequence[str] = (),
    *,
    trajectories: Path,
    out: Path,
    scale: Scale = "laptop",
    jobs: int = 1,
) -> list[DrawnFigure]:
    """Draw tables and figures from trajectories.

    A figure whose trajectories are missing is left out, and its message names them.

    Args:
        figures: Names of ``FIGURES``; all if empty.
        trajectories: The folder that has ``EXPERIMENT.parquet``, or ``cells``.
        out: Where CSV, PNG and SVG go.
        scale: Scale of the plan that says which trajectories there should be.
        jobs: Number of processes; -1 for one per core.
    """
    names = _checked(figures)
    mpl.use("agg", force=False)
    if jobs == 1 or len(names) == 1:
        results = Results(trajectories, scale)
        return [_draw(name, results, out) for name in names]
    parallel = joblib.Parallel(n_jobs=jobs, batch_size=1)
    drawn: list[DrawnFigure] = parallel(
        joblib.delayed(_draw_in_worker)(name, trajectories, scale, out) for name in names
    )
    return drawn


def _checked(figures: Sequence[str]) -> list[str]:
    """The names, or all if there are none; unknown ones are refused."""
    unknown = [name for name in figures if name not in FIGURES]
    if unknown:
        message = f"there is no figure {', '.join(unknown)}; there are {', '.join(FIGURES)}."
        raise InputError(message)
    return list(figures or FIGURES)


def _draw_in_worker(name: str, trajectories: Path, scale: Scale, out: Path) -> DrawnFigure:
    return _draw(name, _results_of_worker(trajectories, scale), out)


@lru_cache(maxsize=1)
def _results_of_worker(trajectories: Path, scale: Scale) -> Results:
    """The results that a worker process has read, kept for its next figure."""
    return Results(trajectories, scale)


def _draw(name: str, results: Results, out: Path) -> DrawnFigure:
    files: list[Path] = []
    notes: list[str] = []
    try:
        for sheet in FIGURES[name].draw(results):
            files += save(sheet, out).files
            notes.append(sheet.note)
    except (MissingTrajectoriesError, MissingDataError) as error:
        notes.append(str(error))
    return DrawnFigure(name, tuple(files), "; ".join(dict.fromkeys(filter(None, notes))))
