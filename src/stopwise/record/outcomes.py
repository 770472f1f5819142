# SPDX-License-Identifier: Apache-2.0
"""Outcomes: how the evaluation of a trial ended, as values.

A new outcome is a class here and a line in ``OUTCOMES``; the journal writes its fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol


class Outcome(Protocol):
    """How the evaluation of a trial ended."""

    @property
    def value(self) -> float | None:
        """The value of the objective; None if the evaluation gave none."""
        ...

    @property
    def message(self) -> str:
        """A remark for the user, such as why the evaluation failed."""
        ...

    @property
    def is_breakdown(self) -> bool:
        """Whether something went wrong; several breakdowns in a row end a study."""
        ...


@dataclass(frozen=True, slots=True)
class Completed:
    """The evaluation gave a value."""

    value: float
    message: str = ""
    is_breakdown: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Failed:
    """The evaluation broke down and gave no value."""

    message: str = ""
    value: ClassVar[None] = None
    is_breakdown: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Pruned:
    """The evaluation was ended early on purpose and gave no comparable value."""

    message: str = ""
    value: ClassVar[None] = None
    is_breakdown: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Infeasible:
    """The evaluation gave a value, and a measured outcome is beyond its limits.

    A study with ``limits`` finds this itself. The value is modelled. Without noise it is never
    the best; with noise its configuration may be believed to keep the limits all the same.
    """

    value: float
    message: str = ""
    is_breakdown: ClassVar[bool] = False


OUTCOMES: dict[str, type[Completed | Failed | Pruned | Infeasible]] = {
    "completed": Completed,
    "failed": Failed,
    "pruned": Pruned,
    "infeasible": Infeasible,
}
_IMPLIED = (Completed, Failed)  # a journal does not name these: the value implies them, as in 0.1
_PRUNED = "pruned"  # version 0.1 began the message of a pruned evaluation with this word


def outcome_of(value: float | None, message: str = "") -> Outcome:
    """Completed with a value, failed without one."""
    return Failed(message) if value is None else Completed(value, message)


def outcome_as_json(outcome: Outcome) -> dict[str, Any]:
    """Value and message, and the name of the outcome where they do not imply it."""
    line = {"value": outcome.value, "message": outcome.message}
    if type(outcome) in _IMPLIED:
        return line
    [name] = [name for name, kind in OUTCOMES.items() if type(outcome) is kind]
    more = {f: getattr(outcome, f) for f in _fields(OUTCOMES[name]) if f not in line}
    return {**line, "outcome": name, **({"details": more} if more else {})}


def outcome_from_json(line: Mapping[str, Any]) -> Outcome:
    """The outcome in a line of a journal."""
    name = line.get("outcome")
    if name is not None:
        kind = OUTCOMES[name]
        given = {**line, **line.get("details", {})}  # apart from keys of the line, as "seconds" is
        return kind(**{f: given[f] for f in _fields(kind)})
    if line["value"] is None and line["message"].startswith(_PRUNED):
        return Pruned(line["message"])
    return outcome_of(None if line["value"] is None else float(line["value"]), line["message"])


def _fields(kind: type) -> list[str]:
    return [f.name for f in fields(kind)]
