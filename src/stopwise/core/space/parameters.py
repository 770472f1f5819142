# SPDX-License-Identifier: Apache-2.0
"""The parameters of a space: real numbers, whole numbers and choices; values in an order apart.

A parameter translates between its values, as the user writes them, and its columns of the
unit cube, as the models see them. A number is one column, running from 0 at `low` to 1 at
`high` on its scale; a choice is one-hot, one column per choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import numpy as np

from stopwise.core.numerics.arrays import Array, Indices
from stopwise.core.space import _checks as checks
from stopwise.core.space._scale import from_unit, to_unit
from stopwise.core.space.ordinal import Ordinal
from stopwise.core.space.when import Conditional, When, checked_when
from stopwise.errors import InputError, InputTypeError, shown

# A value this little outside, relative to the range (log scale: to the bound), is a bound with a
# rounding error, such as 3 * 0.1 for 0.3; it counts as the bound.
_NOISE = 1e-12
# Neighbouring whole numbers up to here stay 100 rounding errors apart, on a log scale too.
_LARGEST_INTEGER = 10**12
# Up to this many values, every other value is a neighbour; with more, steps of 1, 2, 4, ... are.
_ALL_ARE_NEIGHBOURS = 64


@dataclass(frozen=True, slots=True, repr=False)
class Real(Conditional):
    """A real number between two bounds, both included.

    Encoding and decoding again moves a value by less than 4 eps (2^-52) of the larger bound,
    on a log scale by less than 2 + 5 max ``|ln bound|`` eps of the value itself. The most that was
    measured is 1.3 eps and, for bounds between e^-700 and e^700, a relative 2.3e-13. Bounds
    come back exactly, and nothing decodes to a value outside them.

    Args:
        low: The smallest value.
        high: The largest value.
        log: Whether ratios matter rather than differences: 0.001 is then as far from 0.01 as
            0.01 from 0.1. Needs bounds above zero.
        when: Other parameters and the values that they must have for this one to exist, such as
            ``{"booster": ["gbtree", "dart"]}``; it always exists if left out.

    Example:
        >>> Real(1e-4, 1e-2, log=True).encode([1e-3], "lr")
        array([[0.5]])
    """

    low: float
    high: float
    log: bool = False
    when: When = field(default=None, hash=False)
    width: ClassVar[int] = 1

    def __post_init__(self) -> None:
        low, high = checks.checked_bounds(shown(self), self.low, self.high, self.log)
        checks.check_resolution(repr(self), low, high, log=self.log)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "when", checked_when(shown(self), self.when))

    def encode(self, values: Sequence[Any], name: str) -> Array:
        """Turn values into their column of the unit cube.

        Args:
            values: What the user gave, one value per row.
            name: The parameter's name, for the error messages.

        Returns:
            The column, of shape (m, 1).
        """
        numbers = checks.as_numbers(values, name)
        reach = (self.low, self.high) if self.log else (self.high - self.low,) * 2
        above, below = self.low - _NOISE * reach[0], self.high + _NOISE * reach[1]
        inside = (numbers >= above) & (numbers <= below) & np.isfinite(numbers)
        checks.refuse_outside(values, name, inside, (self.low, self.high))
        return to_unit(numbers, self.low, self.high, log=self.log)[:, None]

    def decode(self, U: Array) -> list[float]:
        """Turn the column of the unit cube into floats within the bounds."""
        values: list[float] = self.numbers(U).tolist()
        return values

    def numbers(self, U: Array) -> Array:
        """Decode to one float per row; equal values give equal numbers."""
        return from_unit(U[:, 0], self.low, self.high, log=self.log)

    def snap(self, U: Array) -> Array:
        """Move each row to the nearest attainable one: into the unit interval."""
        return np.clip(U, 0.0, 1.0)

    def spread(self, u: Array) -> Array:
        """Spread numbers that are uniform on [0, 1) evenly over the attainable rows."""
        return u[:, None]


@dataclass(frozen=True, slots=True, repr=False)
class Integer(Conditional):
    """A whole number between two bounds, both included.

    Args:
        low: The smallest value.
        high: The largest value; at most 10**12 in size.
        log: Whether ratios matter rather than differences. Needs bounds above zero.
        when: As for ``Real``.

    Example:
        >>> layers = Integer(1, 5)
        >>> layers.encode([1, 2, 5], "layers").ravel()
        array([0.  , 0.25, 1.  ])
        >>> layers.decode(layers.snap(np.array([[0.3]])))
        [2]
    """

    low: int
    high: int
    log: bool = False
    when: When = field(default=None, hash=False)
    width: ClassVar[int] = 1

    def __post_init__(self) -> None:
        bounds = checks.checked_bounds(shown(self), self.low, self.high, self.log)
        for label, bound in zip(("low", "high"), bounds, strict=True):
            if not bound.is_integer():
                raise InputError(
                    f"{self!r}: {label} is not a whole number; round it, or use Real for a "
                    "parameter that may take fractions"
                )
            if abs(bound) > _LARGEST_INTEGER:
                raise InputError(
                    f"{self!r}: {label} is beyond 10**12, where neighbouring whole numbers can "
                    "no longer be told apart; use Real and round in the objective"
                )
            object.__setattr__(self, label, int(bound))
        object.__setattr__(self, "when", checked_when(shown(self), self.when))

    @property
    def n_values(self) -> int:
        """The number of values."""
        return self.high - self.low + 1

    def encode(self, values: Sequence[Any], name: str) -> Array:
        """Turn values into their column of the unit cube.

        Args:
            values: What the user gave, one value per row; 3.0 counts as 3.
            name: The parameter's name, for the error messages.

        Returns:
            The column, of shape (m, 1).
        """
        numbers = checks.as_numbers(values, name)
        whole = numbers == np.rint(numbers)
        if not whole.all():
            bad = int(np.argmin(whole))
            raise InputError(
                f"{checks.at(name, values, bad)} is {values[bad]!r}, not a whole number; allowed "
                f"are the whole numbers from {self.low} to {self.high}"
            )
        inside = (numbers >= self.low) & (numbers <= self.high)
        checks.refuse_outside(values, name, inside, (self.low, self.high))
        return self._place(numbers)

    def decode(self, U: Array) -> list[int]:
        """Turn the column of the unit cube into the nearest whole numbers."""
        values: list[int] = self.numbers(U).astype(np.int64).tolist()
        return values

    def numbers(self, U: Array) -> Array:
        """Decode to one float per row; equal values give equal numbers."""
        return np.rint(from_unit(U[:, 0], self.low, self.high, log=self.log))

    def snap(self, U: Array) -> Array:
        """Move each row to the nearest attainable one, rounding the value, not the column."""
        return self._place(self.numbers(U))

    def spread(self, u: Array) -> Array:
        """Spread numbers that are uniform on [0, 1) evenly over the attainable rows."""
        # Half a unit beyond each bound, so that the first and last value have whole bins.
        drawn = from_unit(u, self.low - 0.5, self.high + 0.5, log=self.log)
        return self._place(np.clip(np.rint(drawn), self.low, self.high))

    def attainable(self) -> Array:
        """List every attainable row, in ascending order."""
        return self._place(np.arange(self.low, self.high + 1, dtype=np.float64))

    def alternatives(self, row: Array) -> Array:
        """List attainable rows other than this one: all, or steps of 1, 2, 4, ... and the bounds.

        Args:
            row: One attainable row, of shape (1,).

        Returns:
            The others, of shape (k, 1).
        """
        here = self.numbers(row[None, :])
        if self.n_values <= _ALL_ARE_NEIGHBOURS:
            others = np.arange(self.low, self.high + 1, dtype=np.float64)
        else:
            steps = 2.0 ** np.arange(self.n_values.bit_length() + 1)
            moved = np.concatenate([here - steps, here + steps])
            others = np.unique(np.clip(moved, self.low, self.high))
        return self._place(others[others != here])

    def _place(self, whole: Array) -> Array:
        return to_unit(whole, self.low, self.high, log=self.log)[:, None]


@dataclass(frozen=True, slots=True, repr=False)
class Categorical(Conditional):
    """One of a list of choices, without any order among them.

    Choices are told apart by equality, except that True is not 1 and False is not 0. They
    come back as the objects that were given.

    Args:
        choices: The choices; anything hashable.
        when: As for ``Real``.

    Example:
        >>> act = Categorical(["relu", "tanh"])
        >>> act.encode(["tanh"], "act")
        array([[0., 1.]])
    """

    choices: Sequence[Any]
    when: When = field(default=None, hash=False)

    def __post_init__(self) -> None:
        listed: object = self.choices
        if not isinstance(listed, Iterable) or isinstance(listed, str | bytes | Mapping):
            raise InputTypeError(
                f"Categorical({listed!r}): choices must be a list, such as ['relu', 'tanh']"
            )
        if isinstance(listed, AbstractSet):
            raise InputTypeError(
                f"Categorical({listed!r}): a set has no fixed order, so no run could be repeated; "
                "give a list: Categorical(sorted(...))"
            )
        choices = tuple(listed.tolist() if isinstance(listed, np.ndarray) else listed)
        checks.check_choices(choices)
        object.__setattr__(self, "choices", choices)
        object.__setattr__(self, "when", checked_when(shown(self), self.when))

    @property
    def width(self) -> int:
        """The number of columns: one per choice."""
        return len(self.choices)

    @property
    def n_values(self) -> int:
        """The number of values."""
        return len(self.choices)

    def encode(self, values: Sequence[Any], name: str) -> Array:
        """Turn values into their one-hot columns.

        Args:
            values: What the user gave, one value per row.
            name: The parameter's name, for the error messages.

        Returns:
            The columns, of shape (m, width).
        """
        return self._one_hot(checks.positions(self.choices, values, name))

    def decode(self, U: Array) -> list[Any]:
        """Turn one-hot columns, or the largest of any columns, into the choice objects."""
        return [self.choices[i] for i in U.argmax(axis=1).tolist()]

    def numbers(self, U: Array) -> Array:
        """Decode to the choice's position, one float per row."""
        return np.asarray(U.argmax(axis=1), dtype=np.float64)

    def snap(self, U: Array) -> Array:
        """Move each row to the nearest attainable one: a 1 at its largest column."""
        return self._one_hot(U.argmax(axis=1))

    def spread(self, u: Array) -> Array:
        """Spread numbers that are uniform on [0, 1) evenly over the attainable rows."""
        positions = (u * self.n_values).astype(np.intp)
        return self._one_hot(np.minimum(positions, self.n_values - 1))

    def attainable(self) -> Array:
        """List every attainable row, in the order of the choices."""
        return np.eye(self.n_values)

    def alternatives(self, row: Array) -> Array:
        """List the attainable rows other than this one, of shape (width - 1, width)."""
        return np.delete(np.eye(self.n_values), row.argmax(), axis=0)

    def _one_hot(self, positions: Indices) -> Array:
        U = np.zeros((len(positions), self.n_values))
        U[np.arange(len(positions)), positions] = 1.0
        return U


Parameter: TypeAlias = Real | Integer | Categorical | Ordinal
