# SPDX-License-Identifier: Apache-2.0
"""The table of rival rules: when each would have stopped, what that saves, and what it loses."""

from __future__ import annotations

from stopwise.tools.report._axis import number
from stopwise.tools.report._facts import Facts
from stopwise.tools.report._markup import Markup, el, region
from stopwise.tools.report._rivals import LACKING, UNKNOWN, Rival, rivals, rule_words


def rivals_part(facts: Facts) -> Markup:
    """A section with a row for each rule."""
    others = rivals(facts)
    title = el("h2", "When other rules would have stopped")
    if not others:
        words = "Rules are asked after the initial design, which is not complete yet."
        if facts.succeeded and facts.nothing_yet:
            words = "Rules are compared by the best value that keeps all limits: there is none."
        return el("section", title, el("p", words, class_="quiet"))
    worse = f"be worth less, in {facts.units}" if facts.has_utility else "have lost"
    note = (
        "Less spent is what stopping there would have saved against the end of this record; worse"
        f" by is what the {facts.names.best} value would {worse}. A rule that was not recorded"
        " from the start is judged afterwards, with the final model cut back to what was known"
        " then."
    )
    if facts.lam is not None:
        note += (
            f" The balance counts both at lam = {number(facts.lam)}: above zero, it did better."
        )
    note = f"{note} {facts.luck}".strip()
    header = [
        "rule",
        "would have stopped",
        "spent by then",
        f"{facts.names.best} {facts.names.value_name}".strip() + " by then",
        "less spent",
        "worse by",
    ]
    header += ["balance"] if facts.lam is not None else []
    header += ["how it is known"]
    rows = [_rival_row(facts, rival) for rival in others]
    table = el(
        "table",
        el("thead", el("tr", *(el("th", h, scope="col") for h in header))),
        el("tbody", *rows),
    )
    return el("section", title, el("p", note, class_="quiet"), region("Other rules", table, "all"))


def _rival_row(facts: Facts, rival: Rival) -> Markup:
    lam = facts.lam
    role = f" ({rival.role})" if rival.role else ""
    name = el("th", f"{rule_words(rival.rule)}{role}", scope="row")
    stopped = rival.stopped
    if stopped is None:
        known = "\u2013" if rival.source in (LACKING, UNKNOWN) else "not in this record"
        cells = [el("td", known)] + [el("td", "\u2013", class_="n")] * 4
    else:
        when = f"after {_trials(stopped.at)}"
        best = "\u2013" if stopped.best is None else number(stopped.best)
        saved = facts.paid(rival.saved)
        numbers = [facts.paid(stopped.spent), best, saved, number(rival.lost)]
        cells = [el("td", when), *(el("td", v, class_="n") for v in numbers)]
    if lam is not None:
        net = rival.net(lam)
        cells.append(el("td", "\u2013" if net is None else number(net), class_="n"))
    return el("tr", name, *cells, el("td", rival.source))


def _trials(count: int) -> str:
    return f"{count} trial" if count == 1 else f"{count} trials"
