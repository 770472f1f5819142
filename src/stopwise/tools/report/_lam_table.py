# SPDX-License-Identifier: Apache-2.0
"""The lam ladder in the report: when other values of lam would have stopped."""

from __future__ import annotations

from stopwise.study.lam_ladder import CAVEAT, LamLadder
from stopwise.tools.report._axis import number
from stopwise.tools.report._markup import Markup, el

_HEADER = ("lam", "would have stopped", "spent by then", "best by then")


def ladder_part(ladder: LamLadder) -> Markup:
    """A table of lams; nothing while no signal is recorded."""
    if not len(ladder):
        return Markup()
    note = f"{CAVEAT[0].upper()}{CAVEAT[1:]}."
    if ladder.stops_now is not None:
        note += f" The rule would stop now at lam = {number(ladder.stops_now)} or more."
    rows = [
        el(
            "tr",
            el("th", f"{number(rung.lam)}{' (given)' if rung.is_given else ''}", scope="row"),
            el("td", rung.when),
            el("td", number(rung.spent), class_="n"),
            el("td", "\u2013" if rung.best is None else number(rung.best), class_="n"),
        )
        for rung in ladder
    ]
    header = el("thead", el("tr", *(el("th", title, scope="col") for title in _HEADER)))
    table = el("table", header, el("tbody", *rows), id="lam-ladder")
    label = "What lam means"
    region = el("div", table, class_="scroll all", tabindex=0, role="region", aria_label=label)
    return el("section", el("h2", label), el("p", note, class_="quiet"), region)
