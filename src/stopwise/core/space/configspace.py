# SPDX-License-Identifier: Apache-2.0
"""ConfigSpace's spaces as ours: hyper-parameters, conditions and forbidden clauses.

They are read by what they have, so that ConfigSpace need not be installed. A constant is a choice
of one. Only the bounds of a normal or beta distribution count, and no weights of choices: a model
learns what is good from what it is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from stopwise.core.space._forbidden import constraints_of
from stopwise.core.space.ordinal import Ordinal
from stopwise.core.space.parameters import Categorical, Integer, Parameter, Real
from stopwise.errors import InputError

_MOST_VALUES = 10_000  # of an integer that others depend on by more or less than a number


def is_configspace(space: object) -> bool:
    """Tell whether it is a ``ConfigSpace.ConfigurationSpace``."""
    return all(hasattr(space, name) for name in ("conditions", "forbidden_clauses", "values"))


def read_configspace(space: Any) -> tuple[dict[str, Parameter], list[str]]:  # noqa: ANN401
    """The parameters of a ``ConfigurationSpace``, and what it forbids as expressions."""
    plain = {hyper.name: _parameter(hyper, None) for hyper in space.values()}
    when = {c.child.name: _condition(c, plain) for c in space.conditions}
    parameters = {hyper.name: _parameter(hyper, when.get(hyper.name)) for hyper in space.values()}
    return parameters, [
        text for clause in space.forbidden_clauses for text in constraints_of(clause, plain)
    ]


def _parameter(hyper: Any, when: Mapping[str, Sequence[Any]] | None) -> Parameter:  # noqa: ANN401
    if hasattr(hyper, "choices"):
        return Categorical(hyper.choices, when=when)
    if hasattr(hyper, "sequence"):
        return Ordinal(hyper.sequence, when=when)
    if hasattr(hyper, "value"):
        return Categorical([hyper.value], when=when)
    low, high = getattr(hyper, "lower", None), getattr(hyper, "upper", None)
    if low is None or high is None:
        raise InputError(
            f"the hyper-parameter {hyper!r} of ConfigSpace has no bounds that could be searched; "
            "give it some"
        )
    kind = Integer if "Integer" in type(hyper).__name__ else Real
    return kind(low, high, log=bool(hyper.log), when=when)


def _condition(condition: Any, space: Mapping[str, Parameter]) -> dict[str, list[Any]]:  # noqa: ANN401
    """A condition as the values that each parent must have."""
    kind = type(condition).__name__
    if kind in ("AndConjunction", "OrConjunction"):
        parts = [_condition(part, space) for part in condition.components]
        if kind == "AndConjunction":
            return reduce(_both, parts)
        if len({frozenset(part) for part in parts}) == 1 and all(len(part) == 1 for part in parts):
            return reduce(_either, parts)
        raise InputError(
            f"the condition {condition} of ConfigSpace holds for values of one parameter or of "
            "another, which cannot be read; give the parameter twice, under two names"
        )
    parent = condition.parent.name
    return {parent: _fulfilling(condition, kind, list(_values(parent, space[parent])))}


def _fulfilling(condition: Any, kind: str, values: list[Any]) -> list[Any]:  # noqa: ANN401
    """Which of the values of a parent, in order, fulfil a condition."""
    if kind == "InCondition":
        return list(condition.values)
    at = values.index(condition.value) if condition.value in values else len(values)
    chosen = {
        "EqualsCondition": values[at : at + 1],
        "NotEqualsCondition": values[:at] + values[at + 1 :],
        "GreaterThanCondition": values[at + 1 :],
        "LessThanCondition": values[:at],
    }
    if kind not in chosen or at == len(values):
        raise InputError(f"the condition {condition} of ConfigSpace cannot be read")
    return chosen[kind]


def _values(name: str, parameter: Parameter) -> Sequence[Any]:
    """All values of a parameter, in order."""
    if isinstance(parameter, Categorical):
        return parameter.choices
    if isinstance(parameter, Ordinal):
        return parameter.values
    if isinstance(parameter, Integer) and parameter.n_values <= _MOST_VALUES:
        return range(parameter.low, parameter.high + 1)
    raise InputError(
        f"others depend on {name!r}, which has too many values to list; let them depend on an "
        "integer with few, a category or an ordinal"
    )


def _both(one: dict[str, list[Any]], other: dict[str, list[Any]]) -> dict[str, list[Any]]:
    shared = {n: [v for v in one[n] if v in other[n]] for n in one if n in other}
    return {**one, **other, **shared}


def _either(one: dict[str, list[Any]], other: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {n: [*one[n], *(v for v in other[n] if v not in one[n])] for n in one}
