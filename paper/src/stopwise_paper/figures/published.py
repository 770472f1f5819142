# SPDX-License-Identifier: Apache-2.0
"""Our numbers beside the published ones, plain and with the published code's departures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stopwise_paper.analysis.departures import PUBLISHED_DEPARTURES
from stopwise_paper.analysis.explanations import differences, report
from stopwise_paper.analysis.published import Comparison, as_records, compare, published_means
from stopwise_paper.analysis.regret import means, regret_rows
from stopwise_paper.analysis.replay import PLAIN
from stopwise_paper.figures import _style as style
from stopwise_paper.figures._results import LAMS, MissingTrajectoriesError, Results
from stopwise_paper.figures._style import Sheet
from stopwise_paper.figures.bars_8d import AVERAGED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ORACLES = {"immediate": ("white", "s"), "hindsight": ("black", "D"), "best-fixed": ("white", "o")}
READS = ("gp1d", "gp8d", "lcbench", "unknown-cost")


def draw(results: Results) -> Iterator[Sheet]:
    """One table and figure for each experiment that has published numbers."""
    missing: list[str] = []
    drawn = 0
    for experiment in READS:
        try:
            yield _sheet(results, experiment)
            drawn += 1
        except MissingTrajectoriesError as error:
            missing.append(str(error))
    if not drawn:
        raise MissingTrajectoriesError("; ".join(missing))


def _sheet(results: Results, experiment: str) -> Sheet:
    variant = AVERAGED if experiment == "gp8d" else PLAIN
    lams = LAMS[experiment]
    problems = {mean.problem for mean in published_means() if mean.experiment == experiment}
    views = [view for view in results.views(experiment) if view.cell.problem in problems]
    ours = means(regret_rows(views, lams, variant=variant))
    departed = means(regret_rows(views, lams, departures=PUBLISHED_DEPARTURES[experiment]))
    compared = compare(ours, departed)
    if not compared:
        message = f"no published number belongs to the trajectories of {experiment}"
        raise MissingTrajectoriesError(message)
    explained = differences(compared, views, lams)
    return Sheet(
        f"published-{experiment}",
        list(as_records(compared)),
        _scatter(compared),
        results.note(experiment),
        report(explained, compared),
    )


def _scatter(compared: list[Comparison]) -> Figure:
    figure, (panels,) = style.panels(1, 2, width=4.2, height=3.6, share_y=True)
    for axes, text in zip(panels, ("correct", "with their departures"), strict=True):
        for rule in dict.fromkeys(c.number.rule for c in compared):
            of_rule = [c for c in compared if c.number.rule == rule]
            label, colour, marker = style.rule_style(rule)
            if rule in style.BASELINES:
                label, (colour, marker) = style.BASELINES[rule], _ORACLES[rule]
            axes.plot(
                [c.number.value for c in of_rule],
                [c.ours if text == "correct" else c.departed for c in of_rule],
                marker,
                color=colour,
                markeredgecolor="black",
                markeredgewidth=0.3,
                markersize=4,
                label=label,
            )
        style.log_axis(axes, "x")
        style.log_axis(axes)
        axes.axline((1.0, 1.0), (10.0, 10.0), color=style.GREY, linewidth=0.8)
        style.title(axes, f"ours, {text}")
        style.labels(axes, x="published cost-adjusted regret", y="ours")
    style.legend(figure, panels)
    return figure
