# SPDX-License-Identifier: Apache-2.0
"""The history that is audited, read from a study, a journal or a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal, NamedTuple

from stopwise.core.beliefs.laws import Loss
from stopwise.core.beliefs.prices import KnownCost, UnitCost
from stopwise.core.beliefs.utilities import OwnUtility, Utility
from stopwise.core.checks import Bounds
from stopwise.core.outcome_limits import Limits
from stopwise.core.space import Finite, Space, as_domain
from stopwise.core.space.finite import accepting_off_table
from stopwise.errors import InputError
from stopwise.integrations.foreign_files import read_journal
from stopwise.integrations.foreign_space import Told
from stopwise.record.history import History, Observation
from stopwise.record.outcomes import Completed, Failed, Outcome
from stopwise.record.promises import Promises
from stopwise.study import Study, StudyOptions
from stopwise.study.table_columns import looks_like
from stopwise.study.who_chose import BY_OTHERS, caveat_of_study
from stopwise.tools.audit._inferred_space import (
    ColumnBounds,
    as_told,
    check_columns,
    infer_space,
)
from stopwise.tools.audit._table import (
    Row,
    column,
    is_missing,
    is_number,
    naming,
    naming_failed,
    odd_rows,
    read_table,
)

_ANY_VALUE = "value"  # the name of a column that says nothing


class AuditedHistory(NamedTuple):
    """A history that is to be audited.

    Args:
        history: Every evaluation.
        space: What was varied.
        notes: What was left out or assumed.
        bounds: The bounds of all values, if a study has them.
        promises: The gains that the study's own choices promised, and those that came.
        limits: The limits of measured outcomes, if a study has them.
        utility: What values are worth, if a study has a utility.
        lam: That of a study, if it has one.
        direction: That of a study; None of a table.
        value_name: The value in the user's words, or the name of its column; None if neither.
        cost_unit: The unit of costs, if a study has one.
        fallback: The value of the status quo, if a study has one.
        noise: That of a study; None where evaluations are exact, or nothing is said.
        replicates: Whether a study may evaluate again; None where nothing is said.
        constraints: What all configurations of a study satisfy.
        failures: What failures teach, if a study says so.
        prices: The costs that a study knows beforehand; None where they are learned.
        n_initial: The size of a study's initial design; None of a table.
        choices: What a lam ladder says of who has chosen.
        lacking: Names of constraints that a journal could not hold.
        loss: What is lost at a value, if a study has a utility.
    """

    history: History
    space: Space
    notes: tuple[str, ...]
    bounds: Bounds | None = None
    promises: Promises = Promises()
    limits: Limits | None = None
    utility: Utility | OwnUtility | None = None
    lam: float | None = None
    direction: Literal["minimize", "maximize"] | None = None
    value_name: str | None = None
    cost_unit: str | None = None
    fallback: float | None = None
    noise: float | Literal["learn"] | None = None
    replicates: bool | None = None
    constraints: Sequence[object] | None = None
    failures: Literal["chance", "median"] = "chance"
    prices: KnownCost | UnitCost | None = None
    n_initial: int | None = None
    choices: str = BY_OTHERS
    lacking: tuple[str, ...] = ()
    loss: Loss | None = None

    @property
    def cost(self) -> KnownCost | UnitCost | Literal["reported"] | None:
        """Prices that a study knows; else 1 each if all cost 1; else learned from the bills."""
        if self.prices is not None:
            return self.prices
        return None if all(o.cost == 1.0 for o in self.history) else "reported"


@dataclass(frozen=True, slots=True)
class HistoryReader:
    """How data are to be read: the options of ``audit`` that say so."""

    value: str
    cost: str | None
    order: str | None
    params: Sequence[str] | None
    drop: Sequence[str]
    space: Space | None
    log: Collection[str] | None
    bounds: ColumnBounds

    def read(self, data: Any) -> AuditedHistory:  # noqa: ANN401  a history or a table
        """The history in the data."""
        history = getattr(data, "history", data)
        if not isinstance(history, History):
            return self._of_rows(read_table(data))
        if not len(history):
            raise _nothing(["the history is empty"])
        study = getattr(data, "_study", data)  # of a result
        varied = self.space if self.space is not None else getattr(study, "space", None)
        if varied is not None:
            check_columns(self.bounds, list(as_domain(varied).names), self.value)
            said = tuple(getattr(data, "notes", ()))
            read = AuditedHistory(history, varied, said, *_of_study(data))
            return read._replace(direction=data.direction) if isinstance(data, Told) else read
        rows = [dict(o.params) for o in history]
        shared = [name for name in rows[0] if all(name in row for row in rows)]
        space, notes = self._inferred(rows, shared)
        notes += not_in_all(rows, shared)
        told = [replace(o, params=as_told(dict(o.params), space), charged=True) for o in history]
        return AuditedHistory(History(tuple(told)), space, tuple(notes), *_of_study(data))

    def _of_rows(self, rows: list[Row]) -> AuditedHistory:
        if not rows:
            raise _nothing(["the table has no rows"])
        names = self._checked_columns(rows)
        if (order := self.order) is not None:
            rows = sorted(rows, key=lambda row: row[order])
        notes = [] if self.cost is not None else ["each evaluation is taken to cost 1"]
        space, unusable = self._inferred(rows, names)
        odd = odd_rows(rows, _required(space), self.value, self.cost)
        failed = {
            at: f"{self.value} is {row[self.value]!r}"
            for at, row in enumerate(rows)
            if at not in odd and not is_number(row[self.value])
        }
        if failed:
            notes.append(naming_failed(failed, rows, str(self.cost)))
        if odd:
            notes.append(naming(odd, rows, self.cost))
        if self.space is None:
            notes += sometimes_missing(rows, names, odd)
            notes += [] if self.params is not None else not_in_all(rows, list(rows[0]))
        if len(odd) + len(failed) == len(rows):
            raise _nothing([*notes, *unusable])
        if odd:
            rows = [row for at, row in enumerate(rows) if at not in odd]
            space, unusable = self._inferred(rows, names)  # bounds of rows that count
        told = [self._observation(at, row, space) for at, row in enumerate(rows)]
        name = None if self.value == _ANY_VALUE else self.value
        inferred = self.params is None and isinstance(space, Mapping)
        notes += odd_columns(rows, list(space)) if inferred else []  # type: ignore[arg-type]
        return AuditedHistory(History(tuple(told)), space, (*notes, *unusable), value_name=name)

    def _observation(self, at: int, row: Row, space: Space) -> Observation:
        cost = 1.0 if self.cost is None else float(row[self.cost])
        value = row[self.value]
        gave: Outcome = Failed(f"{self.value} is {value!r}")
        if is_number(value):
            gave = Completed(float(value))
        return Observation(at, as_told(row, space), gave, cost)

    def _checked_columns(self, rows: list[Row]) -> list[str]:
        """The columns of the parameters; every column that was named must be there."""
        roles = {"value": self.value, "cost": self.cost, "order": self.order}
        for role, name in roles.items():
            if name is not None:
                column(rows, name, role)
        left_out = [*roles.values(), *(column(rows, name, "dropped") for name in self.drop)]
        if self.params is None:
            names = rows[0] if self.space is None else as_domain(self.space).names
            return [name for name in names if name not in left_out]
        return [column(rows, name, "parameter") for name in self.params]

    def _inferred(self, rows: list[Row], names: list[str]) -> tuple[Space, list[str]]:
        if self.space is not None:
            return self.space, []
        check_columns(self.bounds, names, self.value)
        return infer_space(
            rows, names, log=self.log, bounds=self.bounds, named=self.params is not None
        )


_SOMETIMES = (
    "one that exists only sometimes is kept by space=, in which it has its condition, when="
)


def not_in_all(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    """A note on columns that are left out because not all rows have them."""
    others = {name: None for row in rows for name in row if name not in names}
    if not others:
        return []
    columns = ", ".join(map(repr, others))
    are = "column is" if len(others) == 1 else "columns are"
    return [f"{len(others)} {are} left out, as not all rows have them ({columns}): {_SOMETIMES}"]


def sometimes_missing(
    rows: Sequence[Row], names: Sequence[str], odd: Mapping[int, str]
) -> list[str]:
    """What keeps rows that are left out, where one in ten has no value of some parameter."""
    often = [n for n in names if 10 * sum(is_missing(rows[at].get(n)) for at in odd) >= len(rows)]
    if not often:
        return []
    columns = ", ".join(map(repr, often))
    return [f"many rows are left out for parameters that are missing ({columns}): {_SOMETIMES}"]


def odd_columns(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    """Notes on columns that are taken for parameters and look like something else."""
    odd = [(name, what) for name in names if (what := looks_like(name, rows[0].get(name)))]
    return [
        f"column {name!r} looks like {what} and is taken for a parameter; drop=[{name!r}]"
        f" (--drop {name}) leaves it out"
        for name, what in odd
    ]


def _required(space: Space) -> list[str]:
    """The parameters of which a row must have a value: those of which None is no choice."""
    if not isinstance(space, Mapping):
        return list(as_domain(space).names)
    return [
        name
        for name, p in space.items()
        if p.when is None and None not in getattr(p, "choices", ())
    ]


def opened(data: Any, cost: str | None = None) -> Any:  # noqa: ANN401
    """A journal of ours as the study that it records, a study of Optuna as what it has told.

    Args:
        data: What is to be audited.
        cost: Where the costs of Optuna's trials are; see ``read_history``.
    """
    if isinstance(data, str | PathLike) and str(data).endswith(".jsonl"):
        return read_journal(data)
    if any(kind.__module__ == "optuna.study.study" for kind in type(data).__mro__):
        from stopwise.integrations.optuna import read_history

        return read_history(data, cost=cost)
    return data


def _of_study(data: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """What a study or result says of itself, from its bounds on; a bare history says nothing."""
    options: StudyOptions | None = getattr(data, "options", None)
    if options is None:
        return ()
    promises, units = getattr(data, "promises", Promises()), options.units
    known = (options.bounds, promises, options.limits, options.utility, options.lam)
    words = (options.direction, units.value_name or None, units.cost_unit or None)
    noise = (options.noise, options.replicates) if options.noise is not None else (None, None)
    said = (*known, *words, options.fallback, *noise, options.constraints, options.failures)
    study = getattr(data, "_study", data)  # of a result
    if not isinstance(study, Study):
        return said
    model = study.cost_model
    prices = model if isinstance(model, KnownCost | UnitCost) and model != UnitCost() else None
    return (
        *said,
        prices,
        study.design_size,
        caveat_of_study(study),
        study.lacking,
        study.options.loss,
    )


def is_table(space: Space) -> bool:
    """Whether the space is a table of candidates, off which there may be data."""
    domain = None if isinstance(space, Mapping) else as_domain(space)
    return isinstance(domain, Finite) and domain.rows is not None


def noise_of(
    read: AuditedHistory, given: float | Literal["learn"] | None, notes: list[str]
) -> float | Literal["learn"] | None:
    """As given, or of the study; learned where equal params came to unequal values.

    Evaluations that are off the table of candidates are noted.
    """
    given = read.noise if given is None else given
    succeeded = read.history.succeeded
    domain = as_domain(read.space)
    domain = accepting_off_table(domain) if is_table(read.space) else domain
    X = domain.encode([o.params for o in succeeded])
    off = int((domain.index_of(X) < 0).sum()) if isinstance(domain, Finite) else 0
    if off:
        are = "evaluation is" if off == 1 else "evaluations are"
        notes.append(f"{off} {are} off the table: observed, but nothing that could be evaluated")
    values: dict[bytes, set[float | None]] = {}
    for key, observation in zip(domain.key(X), succeeded, strict=True):
        values.setdefault(key, set()).add(observation.value)
    unequal = sum(len(seen) > 1 for seen in values.values())
    if given is None and unequal:
        notes.append(f"{unequal} configurations came to unequal values, so noise is learned")
        return "learn"
    return given


def _nothing(because: Sequence[str]) -> InputError:
    return InputError(
        f"nothing is left to audit: {'; '.join(because)}. There must be rows with a value and a"
        " cost."
    )
