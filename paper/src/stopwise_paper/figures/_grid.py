# SPDX-License-Identifier: Apache-2.0
"""Grids of bars: prices or data sets by lambdas."""

from __future__ import annotations

from collections.abc import Sequence

from stopwise_paper.analysis.regret import as_records, means
from stopwise_paper.analysis.replay import PLAIN, Variant
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._bars import ADJUSTED, bars, chosen
from stopwise_paper.figures._results import LAMS, Results
from stopwise_paper.figures._style import Sheet


def by_cost(results: Results, experiment: str, name: str, variant: Variant = PLAIN) -> Sheet:
    """One problem: a row for each price, a column for each lambda."""
    table = results.means(experiment, variant)
    costs = list(dict.fromkeys(m.pair.cost for m in table))
    problem = table[0].pair.problem
    rows = [(problem, cost, f"{cost} cost") for cost in costs]
    return _grid(results, experiment, name, variant, rows)


def by_problem(
    results: Results, experiment: str, name: str, problems: Sequence[str] = ()
) -> Sheet:
    """A row for each data set, a column for each lambda."""
    table = results.means(experiment)
    pairs = dict.fromkeys((m.pair.problem, m.pair.cost) for m in table)
    rows = [
        (problem, cost, style.problem_label(problem))
        for problem, cost in pairs
        if not problems or problem in problems
    ]
    return _grid(results, experiment, name, PLAIN, rows)


def _grid(
    results: Results,
    experiment: str,
    name: str,
    variant: Variant,
    rows: Sequence[tuple[str, str, str]],
) -> Sheet:
    table, lams = results.means(experiment, variant), LAMS[experiment]
    figure, grid = style.panels(len(rows), len(lams), width=3.6, height=2.3)
    for line, (problem, cost, label) in zip(grid, rows, strict=True):
        for axes, lam in zip(line, lams, strict=True):
            bars(axes, chosen(table, problem=problem, cost=cost, lam=lam))
            style.title(axes, f"{label}, {style.lam_label(lam)}")
        style.labels(line[0], y=ADJUSTED)
    style.legend(figure, [axes for line in grid for axes in line])
    records = as_records(table)
    if variant != PLAIN:  # the table has the rules as they are too
        records += as_records(means(results.rows(experiment, baselines=False)))
    return Sheet(name, records, figure, results.note(experiment))
