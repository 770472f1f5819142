# SPDX-License-Identifier: Apache-2.0
"""The paused trials of a study with stages: how far they are, and with which configurations."""

from __future__ import annotations

from stopwise.core.space.finite import codec_of
from stopwise.core.units import titled
from stopwise.tools.report._curves_picture import why_paused
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._markup import Markup, el, region, shortened
from stopwise.tools.report._tables import cell, setting

_MOST = 200  # trials


def paused_part(facts: Facts) -> Markup:
    """A section with a row for each paused trial, the best value first; empty if there is none."""
    runs, names = facts.result.paused, codec_of(facts.study.domain).names
    if not runs:
        return Markup()
    said, why = facts.names, why_paused(facts)
    header = (
        "trial",
        "step",
        said.value_label,
        titled("cost so far", said.cost_unit),
        titled("expected cost to finish", said.cost_unit),
        "why no further",
        *(shortened(name, 80) for name in names),
    )
    rows = [
        el(
            "tr",
            el("th", run.number, scope="row"),
            *(
                el("td", cell(number), class_="n")
                for number in (run.step, run.value, run.cost, run.cost_to_finish)
            ),
            el("td", why[run.number][1]),
            *(el("td", setting(run.params[n]) if n in run.params else "") for n in names),
        )
        for run in runs[:_MOST]
    ]
    head = el("thead", el("tr", *(el("th", name, scope="col") for name in header)))
    note = "They wait at a stage, the best value first."
    if len(runs) > _MOST:
        note += f" {_MOST} of {len(runs)} are listed."
    table = el("table", head, el("tbody", *rows))
    return el(
        "section",
        el("h2", "Paused trials"),
        el("p", note, class_="quiet"),
        region("Paused trials", table, "all"),
    )
