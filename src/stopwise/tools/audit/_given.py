# SPDX-License-Identifier: Apache-2.0
"""The options of an audit, as they were given and as what was read says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from stopwise.core.checks import Bounds, checked_bounds, checked_direction
from stopwise.core.space import Space
from stopwise.core.space.configspace import is_configspace, read_configspace
from stopwise.core.space.constraints import Constraint, check_names, checked_constraints
from stopwise.core.space.user_functions import name_of
from stopwise.core.units import sounds_better_larger
from stopwise.errors import InputError
from stopwise.stopping import RULES, StoppingRule
from stopwise.stopping.defaults import default_rules, requirements
from stopwise.study.resuming import NOT_AT_HAND
from stopwise.tools.audit._history import AuditedHistory
from stopwise.tools.audit._inferred_space import ColumnBounds


def plainly(space: Space | None, constraints: object) -> tuple[Space | None, list[Constraint]]:
    """A space of ConfigSpace as one of ours, with what it forbids among the constraints."""
    given = [*checked_constraints(constraints)]
    if space is None or not is_configspace(space):
        return space, given
    plain, forbidden = read_configspace(space)
    return plain, [*given, *checked_constraints(forbidden)]


def with_constraints(read: AuditedHistory, given: Sequence[Constraint]) -> AuditedHistory:
    """What was read, with the constraints that are given beside its own.

    Functions that a journal could not hold are no longer lacking when they are given.
    """
    if not given:
        return read
    if isinstance(read.space, Mapping) and not read.space:
        check_names(given, ())
    functions = [c.source for c in given if not isinstance(c.source, str)]
    names = {name_of(function).rpartition(".")[2] for function in functions}
    lacking = tuple(name for name in read.lacking if name.rpartition(".")[2] not in names)
    notes = tuple(n for n in read.notes if lacking or not n.startswith(NOT_AT_HAND))
    known = [*checked_constraints(read.constraints), *given]
    return read._replace(constraints=known, lacking=lacking, notes=notes)


def direction_of(
    given: Literal["minimize", "maximize"] | None, read: AuditedHistory
) -> Literal["minimize", "maximize"]:
    """The direction as given, or of the study; asked for where the column's name speaks of it."""
    if given is not None:
        return checked_direction(given)
    if read.direction is not None:
        return read.direction
    if read.value_name and sounds_better_larger(read.value_name):
        message = (
            f"the value is called {read.value_name!r}, of which more is mostly better, and no"
            " direction was given: say direction='maximize' (--maximize), or"
            " direction='minimize' (--minimize) if less is better here."
        )
        raise InputError(message)
    return "minimize"


def split_bounds(
    given: Bounds | ColumnBounds | None, value: str
) -> tuple[dict[str, Bounds], Bounds | None]:
    """Bounds of parameters by column, and those of the objective."""
    if not isinstance(given, Mapping):
        return {}, checked_bounds(given)
    columns = {name: pair for name, pair in given.items() if name != value}
    return columns, checked_bounds(given.get(value))


def chosen_rules(
    given: Sequence[str | StoppingRule] | None, lam: float | None, notes: list[str]
) -> list[str | StoppingRule]:
    """The rules as given; else all of the table, but those for which a lam is missing."""
    if given is not None:
        return list(given)
    left_out = [name for name, maker in RULES.items() if requirements(maker).lam]
    if lam is None and left_out:
        are, need = ("is", "it needs") if len(left_out) == 1 else ("are", "they need")
        notes.append(
            f"{', '.join(left_out)} {are} left out: {need} lam, what a unit of cost is worth to"
            " you"
        )
    return list(default_rules(RULES, lam))
