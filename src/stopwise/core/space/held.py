# SPDX-License-Identifier: Apache-2.0
"""Parameters that are held at given values, while the others of a space are searched.

On a product of parameters each held one is replaced by a parameter of a single value, in the same
columns: what draws, moves and rounds points then never leaves it. Of a finite domain the rows with
these values are marked, because tables of costs count all of its rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.space._checks import listing, of_type, suggestion
from stopwise.core.space.conditions import said
from stopwise.core.space.domain import Mixed
from stopwise.core.space.finite import Finite, codec_of
from stopwise.core.space.parameters import Parameter, Real
from stopwise.core.space.when import When
from stopwise.errors import InputError, InputTypeError

_SAME = 1e-12  # the most that rounding moves a value in the unit cube
_DRAWN = 1  # so many allowed points must be found
_SHOWN = "fixed={'act': 'relu'}"


@dataclass(frozen=True, eq=False)
class Held:
    """A parameter of one value; its columns are those of the parameter that it stands for.

    Args:
        parameter: The parameter of the space.
        value: Its value, as the params of a trial contain it.
        row: The value's columns, of shape (width,).
    """

    parameter: Parameter
    value: Any
    row: Array
    n_values: int = 1

    @classmethod
    def of(cls, parameter: Parameter, given: object, name: str) -> Held:
        """Hold a parameter at what a user gave; a value that it cannot have is refused."""
        row = parameter.encode([given], name)
        is_real = isinstance(parameter, Real)
        value = float(cast("float", given)) if is_real else parameter.decode(row)[0]
        return cls(parameter, value, row[0])

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.parameter.width

    @property
    def when(self) -> When:
        """The condition under which the parameter exists."""
        return self.parameter.when

    def encode(self, values: Sequence[Any], name: str) -> Array:
        """Turn values into columns, also others than the one that is held."""
        return self.parameter.encode(values, name)

    def numbers(self, U: Array) -> Array:
        """Decode to one float per row, also others than the one that is held."""
        return self.parameter.numbers(U)

    def decode(self, U: Array) -> list[Any]:
        """The value, for each row."""
        return [self.value] * len(U)

    def snap(self, U: Array) -> Array:
        """Move each row to the value."""
        return np.tile(self.row, (len(U), 1))

    def spread(self, u: Array) -> Array:
        """The value, for each number."""
        return np.tile(self.row, (len(u), 1))

    def attainable(self) -> Array:
        """The one attainable row."""
        return self.row[None, :]

    def alternatives(self, row: Array) -> Array:
        """No other rows."""
        return np.empty((0, len(row)))


@dataclass(frozen=True, eq=False)
class Holding:
    """A domain of which some parameters are held.

    Args:
        domain: Where to search: the product with the held parameters, or the whole finite domain.
        fixed: The held parameters and their values.
    """

    domain: Mixed | Finite
    fixed: Mapping[str, Any]

    @classmethod
    def of(cls, domain: Mixed | Finite, fixed: Mapping[str, Any]) -> Holding:
        """Hold parameters of a domain, after refusing what is impossible."""
        codec = codec_of(domain)
        held = _held(codec, fixed)
        values = {name: each.value for name, each in held.items()}
        if isinstance(domain, Finite):
            return cls(domain, values).checked()
        parameters = [
            cast("Parameter", held.get(name, parameter))
            for name, parameter in zip(codec.names, codec.parameters, strict=True)
        ]
        return cls(replace(codec, parameters=tuple(parameters)), values).checked()

    @cached_property
    def rows(self) -> Mask | None:
        """Which candidates of a finite domain have these values; None for a product."""
        return self.matches(self.domain.points) if isinstance(self.domain, Finite) else None

    @cached_property
    def free(self) -> Mask:
        """Which columns are those of parameters that are not held, of shape (width,)."""
        codec = codec_of(self.domain)
        return np.array([name not in self.fixed for name in codec.names])[codec.groups]

    def is_beside(self, params: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Whether two configurations differ in held parameters at most."""
        free, others = (
            {name: value for name, value in each.items() if name not in self.fixed}
            for each in (params, other)
        )
        return free == others

    def matches(self, X: Array) -> Mask:
        """Which points have these values."""
        codec = codec_of(self.domain)
        same, active = np.ones(len(X), dtype=bool), codec.active(X)
        for name, value in self.fixed.items():
            index = codec.names.index(name)
            wanted = codec.parameters[index].encode([value], name)
            close = np.abs(X[:, codec.columns[index]] - wanted) <= _SAME
            same &= close.all(axis=1) & active[:, index]
        return same

    def agrees(self, params: Mapping[str, Any]) -> bool:
        """Whether a configuration has these values."""
        return bool(self.matches(self.domain.encode(params))[0])

    def checked(self) -> Holding:
        """This, after refusing values that no configuration has."""
        if isinstance(self.domain, Finite):
            if not self.matches(self.domain.points).any():
                what = "no row of the table has" if self.domain.rows else "no configuration has"
                raise InputError(
                    f"fixed={dict(self.fixed)}: {what} {_all(self.fixed)} these values"
                    f"{_under(self.domain.codec)}; {self._of_the_table()}"
                )
        elif not len(self.domain.sobol(_DRAWN, np.random.default_rng(0))):
            raise InputError(
                f"fixed={dict(self.fixed)}: no configuration with these values was found that "
                f"satisfies the constraints{_under(self.domain)}; fix fewer parameters, or others"
            )
        return self

    def _of_the_table(self) -> str:
        """Which values the table has of the first parameter whose value no row has."""
        table = cast("Finite", self.domain)
        for name, value in self.fixed.items():
            column = list(dict.fromkeys(row[name] for row in table.rows or ()))
            if column and value not in column:
                return f"of {name!r} it has {listing(column)}"
        return "fix fewer parameters, or others"


def _all(fixed: Mapping[str, Any]) -> str:
    return "all of" if len(fixed) > 1 else "exactly"


def _under(codec: Mixed) -> str:
    """The constraints, if there are any, for a message."""
    return f" ({', '.join(map(str, codec.constraints))})" if codec.constraints else ""


def _held(codec: Mixed, fixed: object) -> dict[str, Held]:
    """Each parameter that is to be held; unknown names and impossible values are refused."""
    if not isinstance(fixed, Mapping):
        raise InputTypeError(
            f"fixed is {of_type(fixed)}; give a dict of parameters and values: {_SHOWN}"
        )
    if not fixed:
        raise InputError(f"fixed names no parameter; leave it out, or give a value: {_SHOWN}")
    for name in fixed:
        if name not in codec.names:
            raise InputError(
                f"fixed names {name!r}, which the space does not have; it has "
                f"{listing(codec.names)}{suggestion(name, codec.names)}"
            )
    held = {
        name: Held.of(parameter, fixed[name], name)
        for name, parameter in zip(codec.names, codec.parameters, strict=True)
        if name in fixed
    }
    for name in held:
        _check_active(codec, held, name)
    return held


def _check_active(codec: Mixed, held: Mapping[str, Held], name: str) -> None:
    """Refuse to hold a parameter that other values of its parents would switch off."""
    index = codec.names.index(name)
    for parent, allowed in codec.conditions.parents[index]:
        decides = held.get(codec.names[parent])
        if decides is not None and decides.numbers(decides.row[None, :])[0] in allowed:
            continue
        condition = said(codec.parameters[index])
        now = "is not fixed" if decides is None else f"is fixed at {decides.value!r}"
        raise InputError(
            f"fixed has {name!r}, which exists only when {condition}, and {codec.names[parent]!r} "
            f"{now}; fix it so that {name!r} exists, or leave {name!r} out"
        )
