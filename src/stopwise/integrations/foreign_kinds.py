# SPDX-License-Identifier: Apache-2.0
"""Kinds of foreign parameters: how parameters of other packages are modelled.

Most parameters mean the same in both. Some are translated: numbers from a list are modelled by
their rank, because their order is known and their spacing is not; numbers at even steps by the
number of steps; and choices that cannot be hashed by their position. A parameter with one value is
constant and not modelled.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from stopwise.core.space import Categorical, Integer, Parameter
from stopwise.errors import InputError

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
            close = is_number(value) and math.isclose(value, known, rel_tol=_SAME)
            if close or value == known:
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
        if not is_number(value):
            message = f"{value!r} is no number, and its parameter has steps of {self.step}."
            raise InputError(message)
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


@dataclass(frozen=True, slots=True)
class Alternatives:
    """A choice between groups of parameters, by position; the other package knows no name for it.

    Args:
        count: How many there are.
    """

    count: int

    @property
    def parameter(self) -> Parameter:
        """The position."""
        return Categorical(range(self.count))

    def outward(self, position: int) -> int:
        """The position as it is."""
        return position

    inward = outward


Kind: TypeAlias = Parameter | Ranked | Stepped | Positioned | ConstantParameter | Alternatives


def of_choices(choices: Iterable[Any]) -> Kind:
    """A list to choose from: numbers by rank, others as categories; one choice is constant."""
    items = list(choices)
    if not items:
        message = "a list of choices is empty; give at least one."
        raise InputError(message)
    if all(is_number(choice) for choice in items):
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


def is_number(value: object) -> bool:
    """Tell whether a value is a finite number; a bool is none."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return real and math.isfinite(value)  # type: ignore[arg-type]
