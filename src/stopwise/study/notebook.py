# SPDX-License-Identifier: Apache-2.0
"""Studies and results as a notebook shows them: the answer first, then the best configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stopwise.core.html_table import html_table
from stopwise.core.units import PLAIN, AnswerUnits
from stopwise.study.measured_beyond import measured_beyond

if TYPE_CHECKING:
    from stopwise.stopping.verdict import Verdict
    from stopwise.study.result import Best


def of_study(study: Any, verdict: Verdict | None, best: Best | None, spent: float) -> str:  # noqa: ANN401
    """A study or its result as HTML.

    Args:
        study: The study; None of a result that lost it.
        verdict: Its last verdict.
        best: The best configuration.
        spent: What was spent.
    """
    from html import escape  # only where somebody looks

    units: AnswerUnits = PLAIN if study is None else study.options.units
    parts = ["<p>Nobody has asked yet whether to stop.</p>"]
    if verdict is not None:
        parts = [verdict._repr_html_()]
    if study is not None:
        running = f", {len(study.pending)} running" if study.pending else ""
        told = f"{len(study.history)} evaluations{running}, {units.cost(spent)} spent"
        parts.append(f"<p>{escape(told)}</p>")
    if best is None:
        return "".join([*parts, "<p>Nothing is best yet.</p>"])
    found = units.value(best.value, best.std)
    parts.append(f"<p>Best: <strong>{escape(found)}</strong> (trial {best.number})</p>")
    if study is not None and (beyond := measured_beyond(best, study.options)):
        parts.append(f"<p>{escape(beyond)}</p>")
    measured = [(f"{name} (measured)", value) for name, value in best.outcomes.items()]
    parts.append(html_table(("parameter", "best"), [*best.params.items(), *measured]))
    return "".join(parts)
