# SPDX-License-Identifier: Apache-2.0
"""The conditions of a space: which parameters are active, given the values of others.

A parameter with ``when`` is active if each parameter that its condition names is active and has
one of the values that are listed. Parameters that depend on each other form a tree, or a graph
without cycles, and are looked at from the roots down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.space._checks import listing, suggestion
from stopwise.core.space.parameters import Parameter, Real
from stopwise.errors import InputError, StopwiseError


@dataclass(frozen=True, slots=True, eq=False)
class Conditions:
    """Who depends on whom.

    Attributes:
        order: Indices of the parameters, each after those that it depends on.
        parents: For each parameter the index of each one that it depends on, and the numbers
            (see ``numbers`` of a parameter) that this one must have.
    """

    order: tuple[int, ...]
    parents: tuple[tuple[tuple[int, Array], ...], ...]

    @classmethod
    def of(cls, names: Sequence[str], parameters: Sequence[Parameter]) -> Conditions:
        """The conditions of parameters, after refusing those that cannot be."""
        position = {name: i for i, name in enumerate(names)}
        parents = []
        for name, parameter in zip(names, parameters, strict=True):
            needed = []
            for parent, values in (parameter.when or {}).items():
                if parent not in position:
                    raise InputError(
                        f"parameter {name!r} exists only when {parent!r} has certain values, but "
                        f"the space has no {parent!r}; it has {listing(list(names))}"
                        f"{suggestion(parent, names)}"
                    )
                other = parameters[position[parent]]
                needed.append((position[parent], _allowed(name, parent, other, values)))
            parents.append(tuple(needed))
        order = _sorted(names, parents)
        _check_possible(names, order, parents)
        return cls(order, tuple(parents))

    @property
    def deciding(self) -> list[int]:
        """Indices of the parameters that others depend on."""
        return sorted({parent for needed in self.parents for parent, _ in needed})

    @property
    def any(self) -> bool:
        """Whether any parameter has a condition."""
        return any(self.parents)

    def holds(self, index: int, numbers: Array, active: Mask) -> Mask:
        """Where the condition of one parameter holds, (m,).

        Args:
            index: Of the parameter.
            numbers: Of all parameters, (m, d); those that it depends on must be there.
            active: Which of them are active, (m, d).
        """
        holds = np.ones(len(numbers), dtype=bool)
        for parent, allowed in self.parents[index]:
            holds &= active[:, parent] & np.isin(numbers[:, parent], allowed)
        return holds

    def active(self, numbers: Array) -> Mask:
        """Which parameters are active, (m, d), from the numbers of all."""
        active = np.ones(numbers.shape, dtype=bool)
        for index in self.order:
            if self.parents[index]:
                active[:, index] = self.holds(index, numbers, active)
        return active


def said(parameter: Parameter) -> str:
    """The condition of a parameter in words: "booster is 'gbtree' or 'dart'"."""
    when = (parameter.when or {}).items()
    return " and ".join(f"{name} is {' or '.join(map(repr, values))}" for name, values in when)


def _allowed(name: str, parent: str, other: Parameter, values: Sequence[Any]) -> Array:
    """The numbers of the values that a parent must have."""
    if isinstance(other, Real):
        raise InputError(
            f"parameter {name!r} depends on {parent!r}, a Real, which hardly ever has one certain "
            "value; let it depend on an Integer, a Categorical or an Ordinal"
        )
    try:
        # One at a time, so that an error names the value and no row.
        return other.numbers(np.vstack([other.encode([value], parent) for value in values]))
    except StopwiseError as error:
        raise InputError(
            f"parameter {name!r} exists only when {parent!r} is one of {listing(values)}, but "
            f"{error}. List the values of {parent!r} for which it exists"
        ) from error


def _sorted(
    names: Sequence[str], parents: Sequence[Sequence[tuple[int, Array]]]
) -> tuple[int, ...]:
    """Indices with parents before children; a cycle is an error that names it."""
    done: dict[int, None] = {}
    for start in range(len(names)):
        path: list[int] = []
        todo = [start]
        while todo:
            index = todo[-1]
            waiting = [parent for parent, _ in parents[index] if parent not in done]
            if index in done or not waiting:
                done[index] = None
                todo.pop()
                if path and path[-1] == index:
                    path.pop()
            else:
                if not path or path[-1] != index:
                    path.append(index)
                if waiting[0] in path:
                    cycle = [*path[path.index(waiting[0]) :], waiting[0]]
                    shown = " depends on ".join(repr(names[i]) for i in cycle)
                    raise InputError(
                        f"conditions form a cycle: {shown}; remove one of these conditions"
                    )
                todo.append(waiting[0])
    return tuple(done)


def _check_possible(
    names: Sequence[str], order: Sequence[int], parents: Sequence[Sequence[tuple[int, Array]]]
) -> None:
    """Refuse a parameter whose own condition and those of its parents exclude each other."""
    needed: list[dict[int, Array]] = [{} for _ in names]
    for index in order:
        for parent, allowed in parents[index]:
            for other, numbers in (*needed[parent].items(), (parent, allowed)):
                both = np.intersect1d(needed[index].get(other, numbers), numbers)
                if not both.size:
                    raise InputError(
                        f"parameter {names[index]!r} could never exist: its condition and those "
                        f"of the parameters that it depends on need different values of "
                        f"{names[other]!r}; change one of them, or leave {names[index]!r} out"
                    )
                needed[index][other] = both
