# SPDX-License-Identifier: Apache-2.0
"""The results: trajectories of a folder, replayed once and shared by all figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from stopwise.errors import StopwiseError
from stopwise_paper.analysis.regret import Mean, Row, means, regret_rows
from stopwise_paper.analysis.replay import PLAIN, Variant
from stopwise_paper.cell import Cell
from stopwise_paper.experiments import EXPERIMENTS, Scale, plan
from stopwise_paper.problems.data_folder import MissingDataError
from stopwise_paper.runs import store
from stopwise_paper.runs.parallel import load_finished
from stopwise_paper.runs.trajectory import Trajectory

LAMS = {name: experiment.lams for name, experiment in EXPERIMENTS.items()}
_SHOWN = 3  # cells that a message names


class MissingTrajectoriesError(StopwiseError):
    """Trajectories that a figure reads are missing."""


@dataclass(slots=True)
class Results:
    """Trajectories in a folder, by experiment.

    Args:
        folder: Folder of ``EXPERIMENT.parquet``, or of ``cells`` while a run goes on.
        scale: Scale of the plan that says which trajectories there should be.
    """

    folder: Path
    scale: Scale
    _views: dict[str, list[Trajectory]] = field(default_factory=dict, init=False)
    _missing: dict[str, list[Cell]] = field(default_factory=dict, init=False)
    _planned: dict[str, int] = field(default_factory=dict, init=False)
    _rows: dict[tuple[object, ...], list[Row]] = field(default_factory=dict, init=False)

    def views(self, experiment: str) -> list[Trajectory]:
        """The trajectories of an experiment, one per price; an error if there is none."""
        if experiment not in self._views:
            self._load(experiment)
        if not self._views[experiment]:
            reason = self.note(experiment) or "run it, or draw from docs/results"
            message = f"no trajectories of {experiment} in {self.folder}: {reason}"
            raise MissingTrajectoriesError(message)
        return self._views[experiment]

    def rows(
        self,
        experiment: str,
        variant: Variant = PLAIN,
        *,
        judged: bool = False,
        departures: Sequence[str] = (),
        baselines: bool = True,
    ) -> list[Row]:
        """The regret table of an experiment, computed once."""
        key = (experiment, variant, judged, tuple(departures), baselines)
        if key not in self._rows:
            self._rows[key] = regret_rows(
                [v for v in self.views(experiment) if v.cell.acquisition != "pbgi-d"],
                LAMS[experiment],
                variant=variant,
                judged=judged,
                departures=departures,
                baselines=baselines,
            )
        return self._rows[key]

    def means(
        self,
        experiment: str,
        variant: Variant = PLAIN,
        *,
        judged: bool = False,
        departures: Sequence[str] = (),
    ) -> list[Mean]:
        """Means over seeds of the regret table of an experiment."""
        return means(self.rows(experiment, variant, judged=judged, departures=departures))

    def note(self, experiment: str) -> str:
        """A sentence that names missing cells of the plan; empty if none is missing."""
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
        except MissingDataError:  # the data set is missing, but its trajectories may be here
            planned = [trajectory.cell for trajectory in inside]
        wanted = {_without_plugin_rules(cell).key for cell in planned}
        # A cell that was run with and without plugin rules counts once (with them), and cells that
        # are not planned do not count, except those of plugin acquisitions.
        inside.sort(key=lambda trajectory: "rules" in dict(trajectory.cell.options))
        loaded = {_without_plugin_rules(t.cell).key: t for t in inside}
        loaded = {k: t for k, t in loaded.items() if k in wanted or ":" in t.cell.acquisition}
        rest = [cell for cell in planned if _without_plugin_rules(cell).key not in loaded]
        loaded |= {t.cell.key: t for t in load_finished(rest, self.folder, experiment)}
        self._planned[experiment] = len(planned)
        self._missing[experiment] = [
            cell for cell in planned if _without_plugin_rules(cell).key not in loaded
        ]
        self._views[experiment] = [
            replace(view, cell=replace(view.cell, experiment=experiment))
            for trajectory in loaded.values()
            for view in trajectory.views()
        ]


def _without_plugin_rules(cell: Cell) -> Cell:
    return replace(cell, options=tuple(o for o in cell.options if o[0] != "rules"))


def _named(cell: Cell) -> str:
    lam = "" if cell.lam is None else f"({cell.lam:g})"
    return f"{cell.problem} {cell.cost} {cell.acquisition}{lam} seed {cell.seed}"
