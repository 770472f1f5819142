# SPDX-License-Identifier: Apache-2.0
"""What a space of ConfigSpace forbids, as expressions that configurations must satisfy.

ConfigSpace takes a part of a clause for false where it asks for an inactive parameter; our
constraint does not apply there as a whole. Both mean the same of parts joined by "and", so a
clause becomes one constraint for each way in which it can hold. Ways that ask for the same
parameters are written into one expression, as far as its length allows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from stopwise.core.space.expressions import LONGEST
from stopwise.core.space.ordinal import Ordinal
from stopwise.core.space.parameters import Categorical, Parameter
from stopwise.errors import InputError

_SIGNS = {
    "Equals": "==",
    "LessThan": "<",
    "LessThanEquals": "<=",
    "GreaterThan": ">",
    "GreaterThanEquals": ">=",
}
_MOST_WAYS = 10_000  # of a clause to hold, before it is refused as too long
_READ = (
    "clauses and relations by Equals, In, LessThan, LessThanEquals, GreaterThan and "
    "GreaterThanEquals can be, joined by And and Or"
)


@dataclass(frozen=True, slots=True)
class _Part:
    """A comparison: names of the parameters, and its text or the values that it lists."""

    names: frozenset[str]
    text: str
    listed: tuple[str, ...] | None = None

    def __str__(self) -> str:
        return self.text if self.listed is None else f"{self.text} [{', '.join(self.listed)}]"

    @property
    def n_listed(self) -> int:
        """The number of values that it lists."""
        return len(self.listed or ())

    def halves(self) -> tuple[_Part, _Part]:
        """The comparison with the first and with the second half of its list."""
        listed, half = self.listed or (), self.n_listed // 2
        first, second = listed[:half], listed[half:]
        return _Part(self.names, self.text, first), _Part(self.names, self.text, second)


_Way: TypeAlias = tuple[_Part, ...]  # parts that all hold


def constraints_of(clause: Any, space: Mapping[str, Parameter]) -> list[str]:  # noqa: ANN401
    """A forbidden clause as constraints: expressions that do not hold where it forbids.

    Args:
        clause: Of ConfigSpace.
        space: Our parameters.
    """
    by_names: dict[frozenset[str], list[str]] = {}
    for way in itertools.chain.from_iterable(map(_short, _ways(clause, space))):
        names = frozenset().union(*(part.names for part in way))
        text = str(way[0]) if len(way) == 1 else " and ".join(f"({part})" for part in way)
        by_names.setdefault(names, []).append(text)
    return [f"not ({joined})" for texts in by_names.values() for joined in _packed(texts)]


def _ways(clause: Any, space: Mapping[str, Parameter]) -> list[_Way]:  # noqa: ANN401
    """The ways in which a clause can hold."""
    kind = type(clause).__name__
    if kind == "ForbiddenOrConjunction":
        return [way for part in clause.components for way in _ways(part, space)]
    if kind == "ForbiddenAndConjunction":
        parts = [_ways(part, space) for part in clause.components]
        if np.prod([float(len(part)) for part in parts]) > _MOST_WAYS:
            raise InputError(
                f"the forbidden clause {str(clause)[:200]} of ConfigSpace can hold in more than "
                f"{_MOST_WAYS} ways; join fewer 'or' by 'and', or give a function as constraint"
            )
        return [tuple(itertools.chain(*chosen)) for chosen in itertools.product(*parts)]
    part = _part(clause, kind, space)
    return [] if part.listed == () else [(part,)]  # of an empty list nothing is one


def _part(clause: Any, kind: str, space: Mapping[str, Parameter]) -> _Part:  # noqa: ANN401
    named = kind.removeprefix("Forbidden").removesuffix("Clause").removesuffix("Relation")
    sign = _SIGNS.get(named)
    if kind == "ForbiddenInClause":
        name = clause.hyperparameter.name
        return _Part(frozenset([name]), f"`{name}` in", tuple(map(_written, clause.values)))
    if sign and kind.endswith("Relation"):
        return _relation(clause, sign, space)
    if sign and kind.endswith("Clause"):
        return _comparison(clause, sign, space)
    raise InputError(
        f"the forbidden clause {clause} of ConfigSpace, {kind}, cannot be read; {_READ}. Leave it "
        "out, and give constraints=, an expression or a function"
    )


def _comparison(clause: Any, sign: str, space: Mapping[str, Parameter]) -> _Part:  # noqa: ANN401
    """A parameter compared with a value; an ordinal goes by the order of its list."""
    name, parameter = clause.hyperparameter.name, space[clause.hyperparameter.name]
    names = frozenset([name])
    if sign == "==" or not isinstance(parameter, Ordinal):
        return _Part(names, f"`{name}` {sign} {_written(clause.value)}")
    values = list(parameter.values)
    at = values.index(clause.value)
    beyond = {
        "<": values[:at],
        "<=": values[: at + 1],
        ">": values[at + 1 :],
        ">=": values[at:],
    }[sign]
    return _Part(names, f"`{name}` in", tuple(map(_written, beyond)))


def _relation(clause: Any, sign: str, space: Mapping[str, Parameter]) -> _Part:  # noqa: ANN401
    """Two parameters compared with each other, by their values."""
    left, right = clause.left.name, clause.right.name
    if sign != "==":
        for name in (left, right):
            parameter = space[name]
            listed = parameter.choices if isinstance(parameter, Categorical) else ()
            listed = parameter.values if isinstance(parameter, Ordinal) else listed
            if not all(isinstance(value, int | float) for value in listed):
                raise InputError(
                    f"the forbidden clause {clause} of ConfigSpace compares {name!r} by size, "
                    f"whose values {list(listed)} are not all numbers: ConfigSpace would go by "
                    "the alphabet. Forbid pairs, by ForbiddenAndConjunction of ForbiddenInClause"
                )
    return _Part(frozenset([left, right]), f"`{left}` {sign} `{right}`")


def _short(way: _Way) -> Iterator[_Way]:
    """A way as several, each short enough for an expression: lists are halved."""
    longest = max(range(len(way)), key=lambda i: way[i].n_listed)
    if sum(len(str(part)) + 7 for part in way) + 7 <= LONGEST or way[longest].n_listed < 2:
        yield way
        return
    for half in way[longest].halves():
        yield from _short((*way[:longest], half, *way[longest + 1 :]))


def _packed(texts: list[str]) -> Iterator[str]:
    """Texts joined by "or", as many as one expression may hold."""
    while texts:
        lengths = itertools.accumulate(len(text) + 6 for text in texts)
        fit = max(1, sum(length + 5 <= LONGEST for length in lengths))
        yield texts[0] if fit == 1 else " or ".join(f"({text})" for text in texts[:fit])
        texts = texts[fit:]


def _written(value: Any) -> str:  # noqa: ANN401
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is not None and not isinstance(plain, bool | int | float | str):
        raise InputError(
            f"a forbidden clause of ConfigSpace about {plain!r} cannot be written as an "
            "expression, which has numbers, text, True, False and None. Leave it out, and give a "
            "function as constraint"
        )
    return repr(plain)
