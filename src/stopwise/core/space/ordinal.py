# SPDX-License-Identifier: Apache-2.0
"""Ordinal parameters: a list of values in an order, modelled by rank or by value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from stopwise.core.numerics.arrays import Array
from stopwise.core.space import _checks as checks
from stopwise.core.space.when import Conditional, When, checked_when
from stopwise.errors import InputError, InputTypeError, shown

# Up to this many values, every other value is a neighbour; with more, steps of 1, 2, 4, ... are.
_ALL_ARE_NEIGHBOURS = 64


@dataclass(frozen=True, slots=True, repr=False)
class Ordinal(Conditional):
    """One of a list of values in an order: numbers or labels, as they are listed.

    It is one column. By rank, neighbours in the list are equally far from each other: 16, 32, 64
    and 128 as well as "small", "medium" and "large". By value, numbers are as far from each other
    as their differences say. Values are told apart as the choices of ``Categorical`` are.

    Args:
        values: The values, in their order.
        by: ``"rank"`` or ``"value"``; by value they must be numbers in ascending order.
        when: Other parameters and the values that they must have for this one to exist.

    Example:
        >>> Ordinal([16, 32, 64, 128, 256]).encode([32], "batch")
        array([[0.25]])
        >>> Ordinal([0, 1, 10], by="value").encode([1], "k")
        array([[0.1]])
    """

    values: Sequence[Any]
    by: Literal["rank", "value"] = "rank"
    when: When = field(default=None, hash=False)
    width: ClassVar[int] = 1

    def __post_init__(self) -> None:
        listed: object = self.values
        if isinstance(listed, str | bytes | Mapping | AbstractSet) or not isinstance(
            listed, Iterable
        ):
            raise InputTypeError(
                f"Ordinal({shown(listed)}): values must be a list in their order, such as "
                "[16, 32, 64]; whole numbers from low to high are Integer(low, high)"
            )
        values = tuple(listed.tolist() if isinstance(listed, np.ndarray) else listed)
        checks.check_choices(values, kind="Ordinal", item="value")
        if self.by not in ("rank", "value"):
            raise InputError(
                f"Ordinal: by is {self.by!r}; it must be 'rank' (steps count) or 'value' "
                "(differences count)"
            )
        object.__setattr__(self, "values", values)
        if self.by == "value" and not _ascend(values):
            raise InputError(
                f"{shown(self)}: by value the values must be finite numbers in ascending order; "
                "sort them, or leave out by='value'"
            )
        object.__setattr__(self, "when", checked_when(shown(self), self.when))

    @property
    def n_values(self) -> int:
        """The number of values."""
        return len(self.values)

    @property
    def is_jumbled(self) -> bool:
        """Whether the values are numbers that neither rise nor fall along the list."""
        if not all(checks.is_number(type(value)) for value in self.values):
            return False
        listed, rising = list(self.values), sorted(self.values)
        return listed not in (rising, rising[::-1])

    def encode(self, values: Sequence[Any], name: str) -> Array:
        """Turn values into their column of the unit cube.

        Args:
            values: What the user gave, one value per row.
            name: The parameter's name, for the error messages.

        Returns:
            The column, of shape (m, 1).
        """
        return self._places()[checks.positions(self.values, values, name, "values")][:, None]

    def decode(self, U: Array) -> list[Any]:
        """Turn the column of the unit cube into the nearest values."""
        return [self.values[i] for i in self.numbers(U).astype(np.intp).tolist()]

    def numbers(self, U: Array) -> Array:
        """Decode to the value's rank, one float per row."""
        places = self._places()
        between = 0.5 * (places[1:] + places[:-1])
        return np.searchsorted(between, U[:, 0]).astype(np.float64)

    def snap(self, U: Array) -> Array:
        """Move each row to the nearest attainable one."""
        return self._places()[self.numbers(U).astype(np.intp)][:, None]

    def spread(self, u: Array) -> Array:
        """Spread numbers that are uniform on [0, 1) evenly over the attainable rows."""
        ranks = np.minimum((u * self.n_values).astype(np.intp), self.n_values - 1)
        return self._places()[ranks][:, None]

    def attainable(self) -> Array:
        """List every attainable row, in order."""
        return self._places()[:, None]

    def alternatives(self, row: Array) -> Array:
        """List attainable rows other than this one: all, or steps of 1, 2, 4, ... and the ends.

        Args:
            row: One attainable row, of shape (1,).

        Returns:
            The others, of shape (k, 1).
        """
        here, last = int(self.numbers(row[None, :])[0]), self.n_values - 1
        others = np.arange(self.n_values)
        if self.n_values > _ALL_ARE_NEIGHBOURS:
            steps = 2 ** np.arange(self.n_values.bit_length() + 1)
            others = np.unique(np.clip(np.concatenate([here - steps, here + steps]), 0, last))
        return np.asarray(self._places()[others[others != here]][:, None])

    def _places(self) -> Array:
        """Where each value is in the unit interval; a single one is at its beginning."""
        if self.n_values == 1:
            return np.zeros(1)
        if self.by == "rank":
            return np.asarray(np.arange(self.n_values) / (self.n_values - 1.0))
        numbers = np.array(self.values, dtype=np.float64)
        half = 0.5 * numbers  # the difference of two large numbers may overflow
        return np.asarray((half - half[0]) / (half[-1] - half[0]))


def _ascend(values: tuple[Any, ...]) -> bool:
    """Tell whether values are finite numbers in ascending order."""
    if not all(checks.is_number(type(value)) for value in values):
        return False
    numbers = checks.as_numbers(values, "values")
    return bool(np.isfinite(numbers).all() and (np.diff(numbers) > 0.0).all())
