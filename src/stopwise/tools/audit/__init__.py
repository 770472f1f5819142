# SPDX-License-Identifier: Apache-2.0
"""The audit: every rule replayed over a history that is already paid for."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from stopwise.core.beliefs.laws import Loss
from stopwise.core.checks import Bounds, checked_whole
from stopwise.core.other_names import says_its_options
from stopwise.core.search.supremum import Search
from stopwise.core.space import Space
from stopwise.core.units import AnswerUnits
from stopwise.errors import InputError
from stopwise.record.history import History
from stopwise.record.promises import Promises
from stopwise.record.replay import Replayed, replay
from stopwise.stopping import RULES, StoppingRule
from stopwise.stopping.defaults import default_rules
from stopwise.stopping.signals import GAIN_PER_COST
from stopwise.study import Study
from stopwise.study.external import ExternalStudy
from stopwise.study.lam_ladder import LamLadder, lam_ladder, told_with
from stopwise.study.options import Constraints
from stopwise.tools.audit._curves import CurveAudit, audit_curves
from stopwise.tools.audit._foreign_curves import audit_of_foreign
from stopwise.tools.audit._given import (
    chosen_rules,
    direction_of,
    plainly,
    split_bounds,
    with_constraints,
)
from stopwise.tools.audit._history import (
    AuditedHistory,
    HistoryReader,
    is_table,
    noise_of,
    opened,
)
from stopwise.tools.audit._inferred_space import ColumnBounds
from stopwise.tools.audit._result import Audit, Audited
from stopwise.tools.audit._values_only import rules_of_values, since_the_best, traces_of_values

__all__ = ["Audit", "Audited", "CurveAudit", "audit"]

# Searches start where those at the last observation ended, so half the effort finds as much.
_BY_OTHERS = (
    "choices are judged as if others had made them: foreseen gains are believed as when a study"
    " begins, so figures differ from the verdicts of the study itself"
)
_SEARCH = Search(raw=256, restarts=5)


@says_its_options
def audit(  # long: a line for each of its options
    data: Any,  # noqa: ANN401  see Args
    *,
    lam: float | None = None,
    value: str = "value",
    cost: str | None = "cost",
    order: str | None = None,
    params: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    direction: Literal["minimize", "maximize"] | None = None,
    space: Space | None = None,
    constraints: Constraints | None = None,
    log: Collection[str] | None = None,
    bounds: Bounds | ColumnBounds | None = None,
    rules: Sequence[str | StoppingRule] | None = None,
    n_initial: int | None = None,
    noise: float | Literal["learn"] | None = None,
    notes: Sequence[str] = (),
    seed: int = 0,
    value_name: str | None = None,
    cost_unit: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Audit | CurveAudit:
    """Replay every rule over a history, at every observation.

    Of a study with stages every report is replayed instead: what each stage came to, and what
    other lams would have left; ``lam`` is then another one beside the study's own.

    Args:
        data: A history (or a study or result, which have one), a study of Optuna, the path of a
            CSV or Parquet file, a data frame, a dict of columns, or a list of dicts; in order.
        lam: What a unit of cost is worth, in objective units; see ``exchange_rate``. That of a
            study or journal if left out; without any, the rules that need it are left out. Where
            a study has a utility, what is lost is counted by it.
        value: The column with the objective.
        cost: The column with what each evaluation cost; None to count each as 1.
        order: A column to sort by, if rows are not in the order of evaluation.
        params: The columns that were varied; all others if left out. Where there are none, or
            none is left, the rules that read values alone are replayed.
        drop: Columns that are no parameters.
        direction: ``"minimize"`` or ``"maximize"``; that of a study, else to minimise, if left
            out. Of a column that is called accuracy it is asked for.
        space: What was varied; inferred from what was tried if left out.
        constraints: What every configuration had to satisfy, as for ``Study``, beside those of a
            study or journal: what they forbid is nothing that could still be evaluated.
        log: Columns on a log scale; None to infer it.
        bounds: ``(low, high)``: no value of the objective is beyond them, as for ``Study``, and
            those of the study if left out. Or bounds by column, the objective's among them, as in
            ``{"lr": (1e-4, 0.1), "value": (0, None)}``; a parameter has those that were tried
            where left out or None.
        rules: Rules, or names; all of ``RULES`` that need no number of trials, if left out.
        n_initial: Evaluations that count as the initial design; if left out, as many as in the
            design of a study, else d + 1 for d parameters, or 2(d + 1) if each counts as 1; 1
            where there are no parameters.
        noise: As for ``Study``; that of a study if left out, and learned if equal params came to
            unequal values.
        notes: Remarks on the data, to be shown with the others.
        seed: Makes what is random repeatable.
        value_name: The value in your words; the name of its column if left out.
        cost_unit: The unit of costs, such as ``"$"``; that of a study if left out. Of a column
            that is called seconds it is known.
        progress: Called after each evaluation with their number so far and in all.

    Returns:
        One row per rule: when it would have stopped, what that would have saved and lost, and
        whether it would go on now. ``print`` it.

    Example:
        >>> rows = [
        ...     {"x": x, "value": (x - 3) ** 2, "cost": 2.0} for x in (0.5, 9, 4, 2, 3, 3.1, 5)
        ... ]
        >>> found = audit(rows, lam=0.01, rules=["convergence", "immediate"])
        >>> found["immediate"].stopped_at, found["immediate"].saved, found["immediate"].lost
        (2, 10.0, 6.25)
    """
    data = opened(data, cost)
    if (staged := _staged(data)) is not None:
        return audit_curves(staged, None if lam is None else [lam], notes, progress)
    of_columns, of_values = split_bounds(bounds, value)
    space, known = plainly(space, constraints)
    reader = HistoryReader(value, cost, order, params, drop, space, log, of_columns)
    read = with_constraints(reader.read(data), known)
    direction = direction_of(direction, read)
    units = AnswerUnits.of(
        value_name or read.value_name, cost_unit or read.cost_unit, cost, direction
    )
    remarks = [*notes, *read.notes, *([_BY_OTHERS] if len(read.promises) else [])]
    lam = read.lam if lam is None else lam
    if read.lacking or (isinstance(read.space, Mapping) and not read.space):
        return _audit_of_values(read, lam, rules, n_initial, units, remarks)
    noise = noise_of(read, noise, remarks)
    chosen = chosen_rules(rules, lam, remarks)
    study = ExternalStudy(
        read.space,
        lam=lam,
        cost=read.cost,
        direction=direction,
        acquisition="logeipc",
        stopping=chosen[:1],  # the first is the one that the report is about
        watch=chosen[1:],
        noise=noise,
        replicates=noise is not None if read.replicates is None else read.replicates,
        bounds=read.bounds if of_values is None else of_values,
        constraints=read.constraints,
        limits=read.limits,
        fallback=read.fallback,
        failures=read.failures,
        utility=read.utility,
        n_initial=read.n_initial if n_initial is None else n_initial,
        off_table=is_table(read.space),  # an audit proposes nothing
        seed=seed,
        value_name=units.value_name or None,
        cost_unit=units.cost_unit or None,
        search=_SEARCH,
        choices=read.choices,
    )
    for at, observation in enumerate(read.history, start=1):
        trial = study.begin(observation.params)
        paid = observation.cost or None
        study.tell(trial, observation.outcome, paid, outcomes=observation.outcomes or None)
        study.should_stop()
        if progress is not None:
            progress(at, len(read.history))
    if len(study.history.succeeded) < study.design_size:
        n = len(study.history.succeeded)
        message = (
            f"{n} evaluation{'s' * (n != 1)} with a value, fewer than the {study.design_size} of"
            " the initial design, before which no rule is asked: give n_initial, at most as many"
            " as there are."
        )
        raise InputError(message)
    if not study.history.feasible:
        message = "no evaluation has kept all limits, so there is nothing that a rule could judge."
        raise InputError(message)
    curves = audit_of_foreign(data, study, remarks, progress)
    return _audit_of(study, lam, read.space, tuple(remarks), read.promises, curves)


def _staged(data: Any) -> Study | None:  # noqa: ANN401  a history or a table
    """The study of the data, if it is one with stages that has reports."""
    study = getattr(data, "_study", data)  # of a result
    has_stages = isinstance(study, Study) and study.options.stages is not None
    return study if has_stages and study.curves else None


def _audit_of(
    study: ExternalStudy,
    lam: float | None,
    space: Space,
    notes: tuple[str, ...],
    promises: Promises,
    curves: CurveAudit | None,
) -> Audit:
    sign = 1.0 if study.direction == "minimize" else -1.0
    values = [  # what breaks a limit is worth nothing
        math.inf if o.infeasible else sign * float(o.value or 0.0) for o in study.history.succeeded
    ]
    size, history = study.design_size, study.history
    return Audit(
        tuple(
            _row(history, size, replayed, values, sign, lam, loss=study.options.loss)
            for replayed in replay(study, [*study.rules, *study.watched])
        ),
        len(values),
        study.design_size,
        study.spent,
        sign * min(values),
        lam,
        space,
        notes,
        study,
        promises,
        _ladder(study, lam),
        study.options.units,
        len(history) - len(values),
        curves,
        sum(o.infeasible for o in history),
    )


def _ladder(study: ExternalStudy, lam: float | None) -> LamLadder:
    """The lam ladder, where a lam was given or the signal was recorded for another rule."""
    if lam is None and GAIN_PER_COST.key not in study.traces:
        return LamLadder()
    return lam_ladder(study)


def _audit_of_values(  # a record without parameters has fewer of these
    read: AuditedHistory,
    lam: float | None,
    rules: Sequence[str | StoppingRule] | None,
    n_initial: int | None,
    units: AnswerUnits,
    notes: list[str],
) -> Audit:
    """The audit of values and costs alone; where constraints are lacking, of a study's, too."""
    history, sign = read.history, -1.0 if units.rises else 1.0
    y = [sign * float(o.value or 0.0) for o in history.succeeded]
    # What breaks a limit is never the best.
    y = [max(y) if o.infeasible else v for o, v in zip(history.succeeded, y, strict=True)]
    given = read.n_initial if n_initial is None else n_initial
    initial = 1 if given is None else checked_whole("n_initial", given)
    if len(y) < initial:
        message = f"{len(y)} evaluations are fewer than n_initial = {initial}: give less."
        raise InputError(message)
    named = list(default_rules(RULES, lam).values()) if rules is None else rules
    chosen = rules_of_values(named, lam, read.lacking, are_given=rules is not None, notes=notes)
    notes.append(since_the_best(history, y, lam, units))
    replayed = replay(traces_of_values(y, chosen, initial, units), chosen)
    return Audit(
        tuple(
            _row(history, initial, each, y, sign, lam, loss=read.loss, asked_of_failures=False)
            for each in replayed
        ),
        len(y),
        initial,
        history.spent,
        sign * min(y),
        lam,
        read.space if read.lacking else {},
        tuple(notes),
        units=units,
        without_value=len(history) - len(y),
    )


def _row(
    history: History,
    design_size: int,
    replayed: Replayed,
    values: list[float],
    sign: float,
    lam: float | None,
    *,
    loss: Loss | None = None,
    asked_of_failures: bool = True,
) -> Audited:
    """One rule; ``asked_of_failures`` says whether it was asked again after each failure."""
    n = len(values) if replayed.stop_t is None else design_size + replayed.stop_t
    told = len(history)
    if replayed.stop_t is not None:
        values_at = [at for at, o in enumerate(history, start=1) if not o.failed]
        told = told_with(history, n) if asked_of_failures else values_at[n - 1]
    spent = history[:told].spent
    ends = min(values[:n]), min(values)
    then, best = ends if loss is None else loss(np.array(ends)).tolist()
    saved, lost = history.spent - spent, then - best
    stopped = None if replayed.stop_t is None else replayed.verdicts[replayed.stop_t]
    return Audited(
        replayed.rule.name,
        None if stopped is None else told,
        spent,
        saved,
        sign * min(values[:n]),
        lost,
        math.nan if lam is None else lam * saved - lost,
        list(replayed.verdicts.values())[-1],
        stopped,
    )
