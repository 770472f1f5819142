# SPDX-License-Identifier: Apache-2.0
"""The lam ladder in the report: when other values of lam would have stopped."""

from __future__ import annotations

from stopwise.core.units import AnswerUnits
from stopwise.study.lam_ladder import LamLadder
from stopwise.tools.report._axis import number
from stopwise.tools.report._markup import Markup, el, region


def ladder_part(ladder: LamLadder, units: AnswerUnits, gains: str, luck: str = "") -> Markup:
    """A table of lams; nothing while no signal is recorded.

    Args:
        ladder: The lams.
        units: The names of values and costs.
        gains: What gains are counted in; empty if nobody has named it.
        luck: What the best of noisy values is not, in sentences.
    """
    if not len(ladder):
        return Markup()
    note = ladder.caveat_sentence
    if ladder.stops_now is not None:
        note += f" The rule would stop now at lam = {number(ladder.stops_now)} or more."
    note = f"{note} {luck}".strip()
    rows = [
        el(
            "tr",
            el("th", f"{number(rung.lam)}{rung.origin}", scope="row"),
            el("td", rung.when),
            el("td", _paid(rung.spent, units), class_="n"),
            el("td", "\u2013" if rung.best is None else number(rung.best), class_="n"),
        )
        for rung in ladder
    ]
    unit = f"{gains or units.of_value} per {units.one_of_cost}"
    named = f"lam ({unit})" if gains or units.cost_unit else "lam"
    best = f"{units.best} {units.value_name}".strip() + " by then"
    titles = (named, "would have stopped", "spent by then", best)
    header = el("thead", el("tr", *(el("th", title, scope="col") for title in titles)))
    table = el("table", header, el("tbody", *rows), id="lam-ladder")
    label = "What lam means"
    return el(
        "section", el("h2", label), el("p", note, class_="quiet"), region(label, table, "all")
    )


def _paid(cost: float, units: AnswerUnits) -> str:
    return units.cost(cost) if units.cost_unit else number(cost)
