# SPDX-License-Identifier: Apache-2.0
"""Foreign spaces: search spaces of other packages as our spaces, and params both ways.

Most parameters mean the same in both. Three kinds are translated: numbers from a list are modelled
by their rank, because their order is known and their spacing is not; numbers at even steps by the
number of steps; and choices that cannot be hashed by their position. A parameter with one value is
constant and not modelled.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from stopwise.core.checks import Direction
from stopwise.core.space import Candidates, Categorical, Domain, Integer, Parameter, Real
from stopwise.errors import InputError, InputTypeError
from stopwise.record.history import History
from stopwise.study import Cost

_SAME = 1e-9  # relative tolerance for numbers that went through arithmetic or a text file


@dataclass(frozen=True, slots=True)
class Ranked:
    """A list of numbers to choose from, in ascending order; modelled by rank."""

    values: tuple[Any, ...]

    @property
    def parameter(self) -> Parameter:
        """The rank."""
        return Integer(0, len(self.values) - 1)

    def outward(self, rank: int) -> Any:  # noqa: ANN401  as the user gave it
        """The number of a rank."""
        return self.values[rank]

    def inward(self, value: Any) -> int:  # noqa: ANN401
        """The rank of a number."""
        for rank, known in enumerate(self.values):
            if value == known or math.isclose(value, known, rel_tol=_SAME):
                return rank
        message = f"{value!r} is not one of the values of its parameter: {list(self.values)}."
        raise InputError(message)


@dataclass(frozen=True, slots=True)
class Stepped:
    """Numbers at even steps, start + step k; modelled by k.

    Args:
        start: The number at k = 0.
        step: The difference from one number to the next.
        parameter: The range of k, and whether it is on a log scale.
        whole: Whether the numbers are whole.
    """

    start: float
    step: float
    parameter: Integer
    whole: bool = False

    def outward(self, k: int) -> float:
        """The number of a step."""
        value = self.start + self.step * k
        return round(value) if self.whole else float(f"{value:.15g}")  # 0.3, not 3 * 0.1

    def inward(self, value: Any) -> int:  # noqa: ANN401
        """The step of a number."""
        k = round((value - self.start) / self.step)
        if not math.isclose(self.start + self.step * k, value, rel_tol=_SAME, abs_tol=_SAME):
            message = f"{value!r} is not at a step of {self.step} from {self.start}."
            raise InputError(message)
        return int(k)


@dataclass(frozen=True, slots=True)
class Positioned:
    """Choices that cannot be hashed, such as lists, dicts and arrays; modelled by position."""

    choices: tuple[Any, ...]

    @property
    def parameter(self) -> Parameter:
        """The position."""
        return Categorical(range(len(self.choices)))

    def outward(self, position: int) -> Any:  # noqa: ANN401  as the user gave it
        """The choice at a position."""
        return self.choices[position]

    def inward(self, choice: Any) -> int:  # noqa: ANN401
        """The position of a choice: the same object, or the first with the same ``repr``."""
        for position, known in enumerate(self.choices):
            if choice is known or repr(choice) == repr(known):
                return position
        message = f"{choice!r} is not one of the choices of its parameter: {list(self.choices)}."
        raise InputError(message)


@dataclass(frozen=True, slots=True)
class ConstantParameter:
    """A parameter that does not vary."""

    value: Any


Kind: TypeAlias = Parameter | Ranked | Stepped | Positioned | ConstantParameter


def of_choices(choices: Iterable[Any]) -> Kind:
    """A list to choose from: numbers by rank, others as categories; one choice is constant."""
    items = list(choices)
    if not items:
        message = "a list of choices is empty; give at least one."
        raise InputError(message)
    if all(_is_number(choice) for choice in items):
        return of_numbers(items)
    try:
        distinct = tuple({(type(choice) is bool, choice): choice for choice in items}.values())
    except TypeError:
        return Positioned(tuple(items)) if len(items) > 1 else ConstantParameter(items[0])
    return Categorical(distinct) if len(distinct) > 1 else ConstantParameter(distinct[0])


def of_numbers(values: Iterable[Any]) -> Ranked | ConstantParameter:
    """Numbers to choose from, in any order."""
    distinct = tuple(sorted(dict.fromkeys(values)))
    return Ranked(distinct) if len(distinct) > 1 else ConstantParameter(distinct[0])


def _is_number(value: object) -> bool:
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return real and math.isfinite(value)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class ForeignSpace:
    """A search space of another package.

    Args:
        kinds: How each of its parameters is modelled.
    """

    kinds: Mapping[str, Kind]

    def __post_init__(self) -> None:
        if not self.space:
            message = (
                f"nothing varies in this space: {dict(self.kinds)}. Give at least one parameter"
                " with two or more values."
            )
            raise InputError(message)

    @property
    def space(self) -> dict[str, Parameter]:
        """The space that a study searches."""
        return {
            name: kind if isinstance(kind, Parameter) else kind.parameter
            for name, kind in self.kinds.items()
            if not isinstance(kind, ConstantParameter)
        }

    def outward(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Our params in the form of the other package."""
        return {name: self._out(kind, params.get(name)) for name, kind in self.kinds.items()}

    def inward(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Params of the other package in the form of our space."""
        missing = [name for name in self.space if name not in params]
        if missing:
            message = f"params {dict(params)} lack {missing}; each parameter needs a value."
            raise InputError(message)
        return {name: self._in(self.kinds[name], params[name]) for name in self.space}

    def history(self, history: History) -> History:
        """A history of ours with params in the form of the other package."""
        return History(tuple(replace(o, params=self.outward(o.params)) for o in history))

    def cost(self, given: Cost) -> Cost:
        """A cost; a function is called with params in the form of the other package."""
        if not callable(given) or hasattr(given, "price"):
            return given
        return lambda params: given(self.outward(params))

    @staticmethod
    def _out(kind: Kind, value: Any) -> Any:  # noqa: ANN401
        if isinstance(kind, ConstantParameter):
            return kind.value
        return kind.outward(value) if isinstance(kind, Ranked | Stepped | Positioned) else value

    @staticmethod
    def _in(kind: Kind, value: Any) -> Any:  # noqa: ANN401
        return kind.inward(value) if isinstance(kind, Ranked | Stepped | Positioned) else value


@dataclass(frozen=True, slots=True)
class CandidateTable:
    """A table of candidates (``sw.Candidates``), which needs no translation."""

    space: Candidates | Domain

    def outward(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The params as they are."""
        return dict(params)

    inward = outward

    def history(self, history: History) -> History:
        """The history as it is."""
        return history

    def cost(self, given: Cost) -> Cost:
        """The cost as it is."""
        return given


class Told(NamedTuple):
    """A history that was read from another package.

    Args:
        history: Its finished trials, in order of completion; params in the form of ``space``.
        space: Their parameters.
        direction: ``"minimize"`` or ``"maximize"``.
        notes: Sentences about what was left out or assumed.
    """

    history: History
    space: dict[str, Parameter]
    direction: Direction
    notes: tuple[str, ...]


def inferred(params: Sequence[Mapping[str, Any]], log: Collection[str] = ()) -> ForeignSpace:
    """A space from the values that were tried: the range of numbers, the set of other choices.

    Args:
        params: Configurations; parameters that not all of them have are left out.
        log: Names of parameters on a log scale.
    """
    shared = [name for name in params[0] if all(name in row for row in params)] if params else []
    kinds = {name: _inferred([row[name] for row in params], name in log) for name in shared}
    return ForeignSpace(kinds)


def _inferred(values: Sequence[Any], log: bool) -> Kind:  # noqa: FBT001
    if not all(_is_number(value) for value in values):
        return of_choices(values)
    low, high = min(values), max(values)
    if low == high:
        return ConstantParameter(low)
    if all(isinstance(value, numbers.Integral) for value in values):
        return Integer(int(low), int(high), log=log)
    return Real(float(low), float(high), log=log)


def translated(
    given: object, kind_of: Callable[[str, Any], Kind | None], allowed: str
) -> ForeignSpace:
    """A foreign space, parameter by parameter.

    Args:
        given: The user's dict of parameters.
        kind_of: How a parameter is modelled; None if it cannot be.
        allowed: The parameters that can be modelled, for the error.
    """
    if not isinstance(given, Mapping):
        message = f"a space must be a dict of parameters, got {given!r}. Allowed are {allowed}."
        raise InputTypeError(message)
    kinds: dict[str, Kind] = {}
    for name, value in given.items():
        kind = value if isinstance(value, Parameter) else kind_of(name, value)
        if kind is None:
            message = (
                f"parameter {name!r} is {value!r} ({type(value).__name__}), which stopwise cannot"
                f" model. Allowed are {allowed}."
            )
            raise InputTypeError(message)
        kinds[name] = kind
    return ForeignSpace(kinds)
