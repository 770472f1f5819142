# SPDX-License-Identifier: Apache-2.0
"""Tables: the numbers of a picture, and all trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stopwise.core.space import Integer, Mixed, Real
from stopwise.core.units import titled
from stopwise.tools.report._axis import thinned
from stopwise.tools.report._facts import Facts, Step
from stopwise.tools.report._markup import Markup, el, region, shortened
from stopwise.tools.report._picture import Picture

_MISSING = "\u2013"
_MOST_CELLS = 12_000  # of the table of trials: some 500 trials of 15 parameters
_MANY = 9  # columns of which a sheet of paper holds no more
_LONGEST = 300  # characters of a message
_OUTCOME = "n outcome"  # the class of the cells of a measured outcome
_STATUS = "status"  # the class of the cells that say how an evaluation ended
_LONGEST_VALUE = 80  # characters of a choice


def cell(value: object) -> str:
    """A value as it is written in a table."""
    if value is None:
        return _MISSING
    if isinstance(value, float):
        return f"{value:.6g}"
    return shortened(value, _LONGEST_VALUE)


def data_table(picture: Picture) -> Markup:
    """The numbers of a picture."""
    head = el("tr", *(el("th", name, scope="col", class_=_kind(0.0)) for name in picture.header))
    rows = [el("tr", *(_td(value) for value in row)) for row in picture.rows]
    table = el("table", el("thead", head), el("tbody", *rows))
    return region(f"Numbers: {picture.title}", table)


def setting(value: object) -> str:
    """The value of a parameter; a choice may be None, which is not a gap."""
    return str(value) if value is None else cell(value)


def configuration(params: Mapping[str, Any]) -> str:
    """A configuration in one line."""
    return ", ".join(
        f"{shortened(name, _LONGEST_VALUE)} {setting(value)}" for name, value in params.items()
    )


def trials_table(facts: Facts, codec: Mixed) -> tuple[Markup, str]:
    """All trials, and a note if they are too many for a page.

    Args:
        facts: Of the study.
        codec: Of its parameters.
    """
    steps, names = facts.steps, codec.names
    most = max(_MOST_CELLS // (len(names) + 5), 50)
    keep = [i for i, step in enumerate(steps) if step.improved]
    shown = [steps[i] for i in thinned(len(steps), most, keep)]
    note = ""
    if len(shown) < len(steps):
        note = (
            f"{len(shown)} of {len(steps)} trials are listed, evenly chosen and with the latest"
            " improvements; the journal holds all."
        )
    kinds = ["n" if isinstance(p, Real | Integer) else None for p in codec.parameters]
    said = facts.names
    columns: list[tuple[str, str | None]] = [
        ("trial", None),
        (said.value_label, "n"),
        (titled("cost", said.cost_unit), "n"),
        *zip(names, kinds, strict=True),
    ]
    measured = (name for step in steps for name in step.trial.outcomes)
    outcomes = dict.fromkeys((*(facts.study.options.limits or ()), *measured))
    columns += [(name, _OUTCOME) for name in outcomes]
    if any(step.trial.infeasible for step in steps):
        columns.append(("status", _STATUS))
    if any(_remark(step) for step in steps):
        columns.append(("message", "long"))
    head = [
        el("th", shortened(name, _LONGEST_VALUE), scope="col", class_=kind)
        for name, kind in columns
    ]
    best = facts.result.best
    number = None if best is None else best.number
    rows = [
        _row(step, columns[3:], facts.status(step), best=step.trial.number == number)
        for step in shown
    ]
    body = el("tbody", *rows)
    crowd = "many" if len(columns) > _MANY else None
    return el("table", el("thead", el("tr", *head)), body, id="trials", class_=crowd), note


def _row(
    step: Step, columns: Sequence[tuple[str, str | None]], status: str, *, best: bool
) -> Markup:
    trial = step.trial
    cells = [
        el("td", status, class_="n") if trial.value is None else _td(trial.value, exact=True),
        _td(trial.cost, exact=True),
    ]
    for name, kind in columns:
        if kind == "long":
            cells.append(el("td", shortened(_remark(step), _LONGEST), class_=kind))
        elif kind == _STATUS:
            cells.append(el("td", status, class_=kind))
        elif kind == _OUTCOME:
            cells.append(_td(trial.outcomes.get(name), exact=True))
        else:
            there = name in trial.params  # an inactive parameter has no value
            cells.append(el("td", setting(trial.params[name]) if there else "", class_=kind))
    number = el("th", trial.number, scope="row")
    return el("tr", number, *cells, id=f"t{trial.number}", class_="best" if best else None)


def _remark(step: Step) -> str:
    """The message of a trial, after whether it repeats an earlier one."""
    again = "" if step.repeats is None else f"repeat of trial {step.repeats}"
    return "; ".join(filter(None, (again, step.trial.message)))


def _td(value: object, *, exact: bool = False) -> Markup:
    """A cell; an exact one also carries the number to its last digit, for sorting."""
    shown = cell(value)
    carries = exact and isinstance(value, float) and float(shown) != value
    return el("td", shown, class_=_kind(value), data_v=repr(value) if carries else None)


def _kind(value: object) -> str | None:
    """Numbers are set flush right."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return "n" if number or value is None else None
