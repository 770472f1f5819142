# SPDX-License-Identifier: Apache-2.0
"""LCBench: the overlap of the best configurations by validation error and by test error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from stopwise_paper.analysis.rankings import matched_rank
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import Results
from stopwise_paper.figures._style import Sheet
from stopwise_paper.problems.lcbench import overlaps

LAM = 1e-4
TOP = 20
_PLACES = 3


def draw(results: Results) -> Iterator[Sheet]:
    """Overlap of the 20 best, by whether the PBGI rule is among the three best rules for PBGI."""
    means = results.means("lcbench")
    overlap_of = overlaps()
    records: list[dict[str, Any]] = []
    for problem in dict.fromkeys(m.pair.problem for m in means):
        rank = matched_rank(means, problem, LAM)
        overlap = overlap_of[problem.partition(":")[2]]
        group = "not run" if rank is None else "top" if rank <= _PLACES else "under"
        records.append({"problem": problem, "rank": rank, "group": group, "overlap": overlap})
    records.sort(key=lambda r: (r["group"], r["overlap"]))
    height = 0.16 * len(records) + 0.9
    figure, ((axes,),) = style.panels(1, 1, width=6.0, height=height)
    colours = {"top": style.GREEN, "under": style.RED, "not run": style.GREY}
    for group, colour in colours.items():
        drawn = [(i, r["overlap"]) for i, r in enumerate(records) if r["group"] == group]
        if drawn:
            values = np.array([v for _, v in drawn])
            spread = f" +- {values.std(ddof=1):.2f}" if len(values) > 1 else ""
            label = f"{group}: mean {values.mean():.2f}{spread} (n = {len(values)})"
            axes.barh([i for i, _ in drawn], values, color=colour, label=label)
    axes.axvline(0.5, color="black", linestyle="--", linewidth=0.8)
    axes.set_yticks(range(len(records)), [style.problem_label(r["problem"]) for r in records])
    axes.tick_params(axis="y", labelsize=6)
    axes.set_xlim(0.0, 1.0)
    style.labels(axes, x=f"share of the {TOP} best by validation error among those by test error")
    style.legend(figure, [axes], columns=3)
    yield Sheet("validation-test", records, figure, results.note("lcbench"))
