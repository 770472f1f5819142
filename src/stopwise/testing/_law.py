# SPDX-License-Identifier: Apache-2.0
"""Laws: what one is, the case on which it is checked, and the error where it does not hold."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Generic, TypeVar

from stopwise.errors import StopwiseError

S = TypeVar("S")

# Parameters whose units need not be said: powers of the objective's unit and of the cost's.
UNITS: Mapping[str, tuple[int, int]] = {
    "lam": (1, -1),
    "lam0": (1, -1),
    "theta": (1, 0),
    "epsilon": (1, 0),
}


class LawBroken(StopwiseError, AssertionError):  # noqa: N818  it says what happened
    """A law of acquisitions or of stopping rules does not hold.

    Args:
        message: Which laws, with the numbers that show it.
        laws: Their names.
    """

    def __init__(self, message: str, laws: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.laws = laws


@dataclass(frozen=True, slots=True)
class Case(Generic[S]):
    """What a law is checked on.

    Args:
        subject: An acquisition or a stopping rule.
        units: Units of its parameters; see ``UNITS``.
    """

    subject: S
    units: Mapping[str, tuple[int, int]] = field(default_factory=lambda: UNITS)

    def rescaled(self, *, objective: float = 1.0, cost: float = 1.0) -> S:
        """The subject where objective and cost are counted in other units."""
        changed = {}
        for name, value in numbers_of(self.subject).items():
            of_objective, of_cost = self.units.get(name, (0, 0))
            if (of_objective, of_cost) != (0, 0):
                changed[name] = value * objective**of_objective * cost**of_cost
        return with_parameters(self.subject, changed)


@dataclass(frozen=True, slots=True)
class Law(Generic[S]):
    """A law: its name, what it says, and a function that raises where it does not hold."""

    name: str
    statement: str
    check: Callable[[Case[S]], None] = field(repr=False)


def verify(case: Case[S], laws: Sequence[Law[S]]) -> None:
    """Check every law, and raise one error that names all that do not hold.

    An exception of the subject's own counts against the law that met it.
    """
    broken: dict[str, str] = {}
    cause: Exception | None = None
    for law in laws:
        try:
            law.check(case)
        except LawBroken as error:
            broken[law.name] = str(error)
        except Exception as error:  # noqa: BLE001  other people's code may raise anything
            broken[law.name] = f"it raised {type(error).__name__}: {error}"
            cause = cause or error
    if broken:
        count = f"{len(broken)} of {len(laws)} laws" if len(broken) > 1 else "a law"
        lines = "".join(f"\n- {name}: {complaint}" for name, complaint in broken.items())
        raise LawBroken(f"{case.subject!r} breaks {count}:{lines}", tuple(broken)) from cause


def same(what: str, one: object, other: object) -> None:
    """Raise unless two values are written alike; so nan is the same as nan."""
    if repr(one) != repr(other):
        raise LawBroken(f"{what}: {one!r} and {other!r}")


def numbers_of(subject: object) -> dict[str, float]:
    """The fields that are numbers, those of what a wrapper holds included."""
    numbers: dict[str, float] = {}
    if not is_dataclass(subject) or isinstance(subject, type):
        return numbers
    for f in fields(subject):
        value = getattr(subject, f.name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            numbers[f.name] = value
        numbers |= {n: v for n, v in numbers_of(value).items() if n not in numbers}
    return numbers


def with_parameters(subject: S, changed: Mapping[str, object]) -> S:
    """A copy with other values of its fields, or of the fields of what it wraps."""
    if not is_dataclass(subject) or isinstance(subject, type):
        return subject
    new: dict[str, object] = {}
    for f in fields(subject):
        value = getattr(subject, f.name)
        if f.name in changed:
            new[f.name] = changed[f.name]
        elif is_dataclass(value):
            new[f.name] = with_parameters(value, changed)
    return replace(subject, **new)


def is_a_value(case: Case[Any]) -> None:
    """Hashable, equal to its copies, and closed for writing."""
    subject = case.subject
    twin = copy.deepcopy(subject)
    if twin != subject or hash(twin) != hash(subject):
        raise LawBroken(
            f"a copy is not equal: {twin!r} == {subject!r} is {twin == subject}, the hashes are"
            f" {hash(twin)} and {hash(subject)}"
        )
    names = [f.name for f in fields(subject)] if is_dataclass(subject) else []
    for name in [*names, "something_new"]:
        try:
            setattr(twin, name, None)
        except (AttributeError, TypeError):
            continue
        raise LawBroken(f"{name} can be set to None: make the class a frozen dataclass")
