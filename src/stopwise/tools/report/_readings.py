# SPDX-License-Identifier: Apache-2.0
"""The readings of bad values in the report: a sentence about the trust, and a table of weights."""

from __future__ import annotations

from stopwise.core.quantity import percent
from stopwise.study.readings import Readings
from stopwise.tools.report._markup import Markup, el, join, region


def readings_part(readings: Readings | None) -> Markup:
    """The trust and, if there are several readings, their weights; nothing for other models."""
    if readings is None:
        return Markup()
    parts = []
    if readings.trust < 1.0:
        trust = readings.trust_words
        parts.append(el("p", f"{trust[0].upper()}{trust[1:]}.", class_="quiet"))
    if len(readings.entries) > 1:
        parts += [el("p", _WHY, class_="quiet"), _table(readings)]
    return join(*parts)


_WHY = (
    "A few bad values can make a model expect too much everywhere. So the values are read in"
    " several ways, weighed by whether what each promised of the choices so far came."
)


def _table(readings: Readings) -> Markup:
    header = (el("th", "how values are read", scope="col"), el("th", "weight", scope="col"))
    rows = [
        el("tr", el("th", words, scope="row"), el("td", percent(weight), class_="n"))
        for words, weight in readings.entries
    ]
    table = el("table", el("thead", el("tr", *header)), el("tbody", *rows), id="readings")
    return region("Readings of the values", table, "all")
