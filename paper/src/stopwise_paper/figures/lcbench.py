# SPDX-License-Identifier: Apache-2.0
"""LCBench: cost-adjusted regret on every data set, one figure for each lambda."""

from __future__ import annotations

import math
from collections.abc import Iterator

from stopwise_paper.analysis.rankings import place_of
from stopwise_paper.analysis.regret import as_records
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._bars import bars, chosen
from stopwise_paper.figures._results import LAMS, Results
from stopwise_paper.figures._style import Sheet
from stopwise_paper.problems.lcbench import instances

_COLUMNS = 5
_SHADE = "#EDEDED"


def draw(results: Results) -> Iterator[Sheet]:
    """Shaded where the matched PBGI pair is not among the three best pairs."""
    table = results.means("lcbench")
    problems = list(dict.fromkeys(m.pair.problem for m in table))
    sizes = instances()
    columns = min(_COLUMNS, len(problems))
    for lam in LAMS["lcbench"]:
        figure, grid = style.panels(-(-len(problems) // columns), columns, width=3.0, height=1.9)
        panels = [axes for row in grid for axes in row]
        for axes, problem in zip(panels, problems, strict=False):
            panel = chosen(table, problem=problem, cost="proxy", lam=lam)
            bars(axes, panel)
            name = problem.partition(":")[2]
            style.title(axes, f"{name} ({sizes[name]})" if name in sizes else name)
            if (place_of(panel, "pbgi", "pbgi") or 1) > 3:
                axes.set_facecolor(_SHADE)
        for axes in panels[len(problems) :]:
            axes.set_visible(False)
        style.legend(figure, panels)
        records = as_records(m for m in table if math.isclose(m.pair.lam, lam))
        yield Sheet(f"lcbench-{lam:g}", records, figure, results.note("lcbench"))
