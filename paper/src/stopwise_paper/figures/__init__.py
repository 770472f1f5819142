# SPDX-License-Identifier: Apache-2.0
"""Every table and figure of the paper, one file each, as CSV, PNG and SVG.

A new one is a file with ``draw(found)``, a line in ``DRAWINGS``, and one in ``plans.FIGURES`` that
says what it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from stopwise.errors import InputError, MissingExtraError
from stopwise_paper.engine import joblib_module
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
from stopwise_paper.figures._found import Found, MissingTrajectoriesError
from stopwise_paper.figures._style import Sheet, save
from stopwise_paper.plans import FIGURES, Scale
from stopwise_paper.problems.data import MissingDataError

__all__ = ["DRAWINGS", "Drawn", "MissingTrajectoriesError", "draw_figures"]

DRAWINGS: dict[str, Callable[[Found], Iterator[Sheet]]] = {
    "illustration": illustration.draw,
    "bars-1d": bars_1d.draw,
    "bars-8d": bars_8d.draw,
    "iterations-1d": iterations_1d.draw,
    "iterations-8d": iterations_8d.draw,
    "iterations-lcbench": iterations_lcbench.draw,
    "iterations-nats": iterations_nats.draw,
    "moving-average": moving_average.draw,
    "windows": windows.draw,
    "runtime": runtime.draw,
    "order": order.draw,
    "lcbench": lcbench.draw,
    "normalised": normalised.draw,
    "ranking": ranking.draw,
    "non-stop": non_stop.draw,
    "misspecification": misspecification.draw,
    "unknown-cost": unknown_cost.draw,
    "budgeted": budgeted.draw,
    "validation-test": validation_test.draw,
    "cost-surfaces": cost_surfaces.draw,
    "runtime-proxies": runtime_proxies.draw,
    "nats": nats.draw,
    "shipped": shipped.draw,
    "refit": refit.draw,
    "published": published.draw,
    "design": design.draw,
    "default-rule": default_rule.draw,
    "summary": summary.draw,
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """What came of a figure: its files, or why there are none."""

    figure: str
    files: tuple[Path, ...]
    message: str = ""

    def __str__(self) -> str:
        names = ", ".join(sorted({path.stem for path in self.files}))
        if not self.files:
            return f"{self.figure}: left out. {self.message}"
        return f"{self.figure}: {names}" + (f" ({self.message})" if self.message else "")


def draw_figures(
    figures: Sequence[str] = (),
    *,
    trajectories: Path,
    out: Path,
    scale: Scale = "laptop",
    jobs: int = 1,
) -> list[Drawn]:
    """Draw tables and figures from trajectories; what is missing is said, and left out.

    Args:
        figures: Names of ``FIGURES``; all if empty.
        trajectories: The folder that has ``EXPERIMENT.parquet``, or ``cells``.
        out: Where CSV, PNG and SVG go.
        scale: Of the plan, which says what should be there.
        jobs: Processes; -1 for one per core.
    """
    unknown = [name for name in figures if name not in DRAWINGS]
    if unknown:
        message = f"there is no figure {', '.join(unknown)}; there are {', '.join(FIGURES)}."
        raise InputError(message)
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingExtraError.of("matplotlib", extra="bench", purpose="figures") from error
    mpl.use("agg", force=False)
    names = list(figures or DRAWINGS)
    if jobs == 1 or len(names) == 1:
        found = Found(trajectories, scale)
        return [_drawn(name, found, out) for name in names]
    joblib = joblib_module()
    parallel = joblib.Parallel(n_jobs=jobs, batch_size=1)
    drawn: list[Drawn] = parallel(
        joblib.delayed(_drawn_alone)(name, trajectories, scale, out) for name in names
    )
    return drawn


def _drawn_alone(name: str, trajectories: Path, scale: Scale, out: Path) -> Drawn:
    """In a process of its own, which keeps what it has read."""
    return _drawn(name, _kept(trajectories, scale), out)


@lru_cache(maxsize=1)
def _kept(trajectories: Path, scale: Scale) -> Found:
    return Found(trajectories, scale)


def _drawn(name: str, found: Found, out: Path) -> Drawn:
    files: list[Path] = []
    notes: list[str] = []
    try:
        for sheet in DRAWINGS[name](found):
            files += save(sheet, out).files
            notes.append(sheet.note)
    except (MissingTrajectoriesError, MissingDataError) as error:
        notes.append(str(error))
    return Drawn(name, tuple(files), "; ".join(dict.fromkeys(filter(None, notes))))
