# SPDX-License-Identifier: Apache-2.0
"""Grids of bars: prices or data sets by lambdas."""

from __future__ import annotations

from collections.abc import Sequence

from stopwise_paper.figures import _style as style
from stopwise_paper.figures._bars import ADJUSTED, bars, chosen
from stopwise_paper.figures._found import LAMS, Found
from stopwise_paper.figures._style import Sheet
from stopwise_paper.regret import as_records, means
from stopwise_paper.replay import PLAIN, Variant


def by_cost(found: Found, experiment: str, name: str, variant: Variant = PLAIN) -> Sheet:
    """One problem: a row for each price, a column for each lambda."""
    table = found.means(experiment, variant)
    costs = list(dict.fromkeys(m.pair.cost for m in table))
    problem = table[0].pair.problem
    rows = [(problem, cost, f"{cost} cost") for cost in costs]
    return _grid(found, experiment, name, variant, rows)


def by_problem(found: Found, experiment: str, name: str, problems: Sequence[str] = ()) -> Sheet:
    """A row for each data set, a column for each lambda."""
    table = found.means(experiment)
    pairs = dict.fromkeys((m.pair.problem, m.pair.cost) for m in table)
    rows = [
        (problem, cost, style.problem_label(problem))
        for problem, cost in pairs
        if not problems or problem in problems
    ]
    return _grid(found, experiment, name, PLAIN, rows)


def _grid(
    found: Found,
    experiment: str,
    name: str,
    variant: Variant,
    rows: Sequence[tuple[str, str, str]],
) -> Sheet:
    table, lams = found.means(experiment, variant), LAMS[experiment]
    figure, grid = style.panels(len(rows), len(lams), width=3.6, height=2.3)
    for line, (problem, cost, label) in zip(grid, rows, strict=True):
        for axes, lam in zip(line, lams, strict=True):
            bars(axes, chosen(table, problem=problem, cost=cost, lam=lam))
            style.title(axes, f"{label}, {style.lam_label(lam)}")
        style.labels(line[0], y=ADJUSTED)
    style.legend(figure, [axes for line in grid for axes in line])
    records = as_records(table)
    if variant != PLAIN:  # the table has the rules as they are too
        records += as_records(means(found.rows(experiment, baselines=False)))
    return Sheet(name, records, figure, found.note(experiment))
