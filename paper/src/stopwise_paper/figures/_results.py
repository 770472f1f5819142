# SPDX-License-Identifier: Apache-2.0
"""The trajectories that are there, replayed once and shared by all figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from stopwise.errors import StopwiseError
from stopwise_paper import store
from stopwise_paper.cell import Cell
from stopwise_paper.engine import gather
from stopwise_paper.plans import (
    LCBENCH_LAMS,
    NATS_LAMS,
    SKLEARN_LAMS,
    SYNTHETIC_LAMS,
    Scale,
    plan,
)
from stopwise_paper.problems.data import MissingDataError
from stopwise_paper.regret import Mean, Row, means, regret_rows
from stopwise_paper.replay import PLAIN, Variant
from stopwise_paper.trajectory import Trajectory

LAMS: dict[str, tuple[float, ...]] = {
    "gp1d": SYNTHETIC_LAMS,
    "gp8d": SYNTHETIC_LAMS,
    "boxes": SYNTHETIC_LAMS,
    "functions": SYNTHETIC_LAMS,
    "lcbench": LCBENCH_LAMS,
    "unknown-cost": LCBENCH_LAMS,
    "refit": LCBENCH_LAMS,
    "nats": NATS_LAMS,
    "sklearn": SKLEARN_LAMS,
    "sklearn-unknown": SKLEARN_LAMS,
    "design-gp1d": SYNTHETIC_LAMS,
    "design-gp8d": SYNTHETIC_LAMS,
    "design-functions": SYNTHETIC_LAMS,
    "design-lcbench": LCBENCH_LAMS,
}
_SHOWN = 3  # cells that a message names


class MissingTrajectoriesError(StopwiseError):
    """A figure's trajectories are not there."""


@dataclass(slots=True)
class Found:
    """Trajectories in a folder, by experiment.

    Args:
        folder: Where they are: ``EXPERIMENT.parquet``, or ``cells`` of a run that goes on.
        scale: Of the plan that says which there should be.
    """

    folder: Path
    scale: Scale
    _views: dict[str, list[Trajectory]] = field(default_factory=dict, init=False)
    _missing: dict[str, list[Cell]] = field(default_factory=dict, init=False)
    _planned: dict[str, int] = field(default_factory=dict, init=False)
    _rows: dict[tuple[object, ...], list[Row]] = field(default_factory=dict, init=False)

    def views(self, experiment: str) -> list[Trajectory]:
        """One trajectory per price; an error that names missing cells if there is none."""
        if experiment not in self._views:
            self._load(experiment)
        if not self._views[experiment]:
            why = self.note(experiment) or "run it where its data are, or draw from docs/results"
            message = f"no trajectories of {experiment} in {self.folder}: {why}"
            raise MissingTrajectoriesError(message)
        return self._views[experiment]

    def rows(
        self,
        experiment: str,
        variant: Variant = PLAIN,
        *,
        judged: bool = False,
        quirks: Sequence[str] = (),
        baselines: bool = True,
    ) -> list[Row]:
        """The regret table of an experiment, made once."""
        key = (experiment, variant, judged, tuple(quirks), baselines)
        if key not in self._rows:
            self._rows[key] = regret_rows(
                [v for v in self.views(experiment) if v.cell.acquisition != "pbgi-d"],
                LAMS[experiment],
                variant=variant,
                judged=judged,
                published_quirks=quirks,
                baselines=baselines,
            )
        return self._rows[key]

    def means(
        self,
        experiment: str,
        variant: Variant = PLAIN,
        *,
        judged: bool = False,
        quirks: Sequence[str] = (),
    ) -> list[Mean]:
        """Its means over seeds."""
        return means(self.rows(experiment, variant, judged=judged, quirks=quirks))

    def note(self, experiment: str) -> str:
        """Which of the planned cells are missing; empty if none is."""
        if experiment not in self._views:
            self._load(experiment)
        missing = self._missing[experiment]
        if not missing:
            return ""
        shown = "; ".join(_named(cell) for cell in missing[:_SHOWN])
        more = "; ..." if len(missing) > _SHOWN else ""
        planned = self._planned[experiment]
        return f"{experiment}: {len(missing)} of {planned} cells are missing: {shown}{more}"

    def _load(self, experiment: str) -> None:
        path = self.folder / f"{experiment}.parquet"
        inside = store.load(path) if path.exists() else []
        try:
            planned = plan(experiment, self.scale)
        except MissingDataError:  # the table that was run on is not here; its trajectories may be
            planned = [trajectory.cell for trajectory in inside]
        wanted = {_plain(cell).key for cell in planned}
        # What is there with and without somebody's rules counts once, what is not planned not.
        inside.sort(key=lambda trajectory: "rules" in dict(trajectory.cell.options))
        known = {_plain(trajectory.cell).key: trajectory for trajectory in inside}
        known = {k: t for k, t in known.items() if k in wanted or ":" in t.cell.acquisition}
        rest = [cell for cell in planned if _plain(cell).key not in known]
        known |= {t.cell.key: t for t in gather(rest, self.folder, experiment)}
        self._planned[experiment] = len(planned)
        self._missing[experiment] = [cell for cell in planned if _plain(cell).key not in known]
        self._views[experiment] = [
            replace(view, cell=replace(view.cell, experiment=experiment))
            for trajectory in known.values()
            for view in trajectory.views()
        ]


def _plain(cell: Cell) -> Cell:
    """The cell without somebody else's rules."""
    return replace(cell, options=tuple(o for o in cell.options if o[0] != "rules"))


def _named(cell: Cell) -> str:
    lam = "" if cell.lam is None else f"({cell.lam:g})"
    return f"{cell.problem} {cell.cost} {cell.acquisition}{lam} seed {cell.seed}"
