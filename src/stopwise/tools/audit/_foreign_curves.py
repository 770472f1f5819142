# SPDX-License-Identifier: Apache-2.0
"""The audit of what trials of another package reported on the way, beside that of their values."""

from __future__ import annotations

from collections.abc import Callable

from stopwise.integrations.foreign_curves import ForeignCurves
from stopwise.study import Study
from stopwise.study.external import ExternalStudy
from stopwise.study.told_again import StudyToldAgain
from stopwise.tools.audit._curves import CurveAudit, audit_curves

_MOST = 1000  # reports that are audited: time grows with their cube


def audit_of_foreign(
    data: object,
    audited: ExternalStudy,
    notes: list[str],
    progress: Callable[[int, int], None] | None,
) -> CurveAudit | None:
    """What each stage of the trials came to, and what lam would have left; None without curves.

    Args:
        data: What was read; of another package it may have curves.
        audited: The study of its finished trials.
        notes: Remarks, to which those on curves are added.
        progress: Called after each report with their number so far and in all.
    """
    curves = getattr(data, "curves", None)
    lam, size = audited.options.lam, len(getattr(curves, "tellings", ()))
    if not isinstance(curves, ForeignCurves):
        return None
    if lam is None or size > _MOST:
        why = (
            "lam, what a unit of cost is worth to you, is missing"
            if lam is None
            else f"{size} reports are more than {_MOST}"
        )
        notes.append(f"intermediate values are not read as curves: {why}")
        return None
    options = audited.options
    empty = Study(
        audited.space,
        lam=lam,
        cost="reported",
        direction=options.direction,
        constraints=options.constraints,
        seed=options.seed,
        stages=curves.stages,
        value_name=options.value_name,
        cost_unit=options.cost_unit,
    )
    again = StudyToldAgain(empty, lam, curves.params)
    for telling in curves.tellings:
        again.tell(telling)
    assumed = (
        f"values at steps {curves.stages} are read, one trial after the other; what a trial cost"
        " is spread evenly over its steps; a pruned trial counts as one that could be taken up"
        " again"
    )
    return audit_curves(again.study, [lam], [assumed], progress)
