# SPDX-License-Identifier: Apache-2.0
"""Outcomes: what became of a trial, as values.

A new outcome is a class here and a line in ``OUTCOMES``; the journal writes its fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol


class Outcome(Protocol):
    """What became of a trial."""

    @property
    def value(self) -> float | None:
        """The objective; None if none came back."""
        ...

    @property
    def message(self) -> str:
        """What there is to say about it: why it failed, say."""
        ...

    @property
    def is_breakdown(self) -> bool:
        """Whether something went wrong; several in a row end a study."""
        ...


@dataclass(frozen=True, slots=True)
class Completed:
    """A value came back."""

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
    """The evaluation was ended early on purpose and gave no value that could be compared."""

    message: str = ""
    value: ClassVar[None] = None
    is_breakdown: ClassVar[bool] = False


OUTCOMES: dict[str, type[Completed | Failed | Pruned]] = {
    "completed": Completed,
    "failed": Failed,
    "pruned": Pruned,
}
_IMPLIED = (Completed, Failed)  # a journal says these by the value alone, as version 0.1 did
_PRUNED = "pruned"  # how 0.1 began the message of an evaluation that was ended early


def outcome_of(value: float | None, message: str = "") -> Outcome:
    """Completed with a value, failed without one."""
    return Failed(message) if value is None else Completed(value, message)


def outcome_as_json(outcome: Outcome) -> dict[str, Any]:
    """Value and message, and the name of the outcome where they do not imply it."""
    written = {"value": outcome.value, "message": outcome.message}
    if type(outcome) in _IMPLIED:
        return written
    [name] = [name for name, kind in OUTCOMES.items() if type(outcome) is kind]
    own = {f.name: getattr(outcome, f.name) for f in fields(OUTCOMES[name])}
    return {**written, **own, "outcome": name}


def outcome_from_json(line: Mapping[str, Any]) -> Outcome:
    """The outcome that a line of a journal tells."""
    name = line.get("outcome")
    if name is not None:
        kind = OUTCOMES[name]
        return kind(**{f.name: line[f.name] for f in fields(kind)})
    if line["value"] is None and line["message"].startswith(_PRUNED):
        return Pruned(line["message"])
    return outcome_of(None if line["value"] is None else float(line["value"]), line["message"])
