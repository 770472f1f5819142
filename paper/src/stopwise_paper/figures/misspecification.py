# SPDX-License-Identifier: Apache-2.0
"""Misspecified costs: stopped by a proxy of the runtime, scored by the measured runtime."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stopwise_paper.analysis.regret import Mean, as_records
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._bars import ADJUSTED, bars, chosen
from stopwise_paper.figures._results import MissingTrajectoriesError, Results
from stopwise_paper.figures._style import Sheet

LAM = {"lcbench": 1e-4, "nats": 1e-5}


def draw(results: Results) -> Iterator[Sheet]:
    """One figure for LCBench, one for NATS-Bench: data sets whose runtimes were measured."""
    missing: list[str] = []
    for experiment in LAM:
        try:
            yield _sheet(results, experiment)
        except MissingTrajectoriesError as error:
            missing.append(str(error))
    if missing:
        raise MissingTrajectoriesError("; ".join(missing))


def _sheet(results: Results, experiment: str) -> Sheet:
    measured = {
        v.cell.problem for v in results.views(experiment) if v.facts.get("runtime") == "real"
    }
    if not measured:
        message = f"no trajectory of {experiment} is on a data set whose runtimes were measured"
        raise MissingTrajectoriesError(message)
    problems = sorted(measured)
    lam = LAM[experiment]
    tables: dict[str, list[Mean]] = {
        "proxy": results.means(experiment),
        "actual": results.means(experiment, judged=True),
    }
    figure, grid = style.panels(len(problems), 2, width=4.2, height=2.1)
    for line, problem in zip(grid, problems, strict=True):
        for axes, (name, table) in zip(line, tables.items(), strict=True):
            bars(axes, chosen(table, problem=problem, cost="proxy", lam=lam))
            label = style.problem_label(problem)
            style.title(axes, f"{label}, {name} runtime, {style.lam_label(lam)}")
        style.labels(line[0], y=ADJUSTED)
    style.legend(figure, [axes for line in grid for axes in line])
    records = as_records(
        replace(m, pair=replace(m.pair, variant=f"{name} runtime"))
        for name, table in tables.items()
        for m in table
        if m.pair.problem in measured
    )
    return Sheet(f"misspecification-{experiment}", records, figure, results.note(experiment))
