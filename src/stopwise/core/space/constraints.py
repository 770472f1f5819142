# SPDX-License-Identifier: Apache-2.0
"""Known constraints: what every configuration must satisfy, as functions or as expressions.

A function takes the params, a dict, and returns True or False. An expression is text in a small
part of Python's grammar (``expressions.py``), so that a file can hold it. A constraint that asks
for a parameter which is inactive does not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stopwise.core.space._checks import listing, of_type, suggestion
from stopwise.core.space.expressions import Evaluate, parsed
from stopwise.core.space.parameters import Parameter
from stopwise.core.space.user_functions import asked_for, called, name_of
from stopwise.errors import InputError, InputTypeError


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """One constraint.

    Args:
        source: What the user gave, a function or an expression.
        test: Params -> whether they satisfy it.
        names: The parameters that an expression reads; none of a function's are known.
        compared: The parameters that it compares with text, each with that text.
    """

    source: str | Callable[[Mapping[str, Any]], bool]
    test: Evaluate
    names: frozenset[str] = frozenset()
    compared: frozenset[tuple[str, str]] = frozenset()

    def __str__(self) -> str:
        named = self.source if isinstance(self.source, str) else name_of(self.source)
        return repr(named)

    def holds(self, params: Mapping[str, Any], space: Collection[str]) -> bool:
        """Tell whether params satisfy it, or lack an inactive parameter that it asks for.

        Args:
            params: The active parameters and their values.
            space: The names of all parameters.
        """
        if any(name not in params for name in self.names):
            return True
        try:
            answer = called(self.test, params, space, what="constraint", returns="True or False")
        except InputError as error:
            asked = asked_for(error.__cause__)
            if asked in space and asked not in params:
                return True
            raise
        if not isinstance(answer, bool | np.bool_):
            raise InputTypeError(
                f"the constraint {self} gives {answer!r}, {of_type(answer)}, for {dict(params)}; "
                "it must give True or False: compare, as in 'a + b <= 1'"
            )
        return bool(answer)


def checked_constraints(given: object) -> tuple[Constraint, ...]:
    """Constraints from functions and expressions; one alone stands for a list of one."""
    if given is None:
        return ()
    alone = isinstance(given, str | Constraint) or callable(given)
    if isinstance(given, Mapping) or not (alone or isinstance(given, Iterable)):
        raise InputTypeError(f"constraints are {of_type(given)}; give {_KINDS}")
    listed: list[Any] = [given] if alone else list(given)  # type: ignore[call-overload]
    made = map(_constraint, listed)
    once = {c.source if isinstance(c.source, str) else id(c): c for c in made}
    if len(once) > _MOST:
        raise InputError(
            f"there are {len(once)} constraints, each of which is checked at many configurations; "
            f"give at most {_MOST}, joined by 'and' or in one function"
        )
    return tuple(once.values())


_MOST = 100
_KINDS = "a list of functions, params -> bool, or of expressions such as 'a + b <= 1'"


def _constraint(given: object) -> Constraint:
    if isinstance(given, Constraint):
        return given
    if isinstance(given, str):
        expression = parsed(given)
        return Constraint(given, expression.evaluate, expression.names, expression.compared)
    if callable(given):
        return Constraint(given, given)
    raise InputTypeError(f"the constraint {given!r} is {of_type(given)}; give {_KINDS}")


def check_names(constraints: Sequence[Constraint], space: Collection[str]) -> None:
    """Refuse expressions about parameters that the space does not have."""
    for constraint in constraints:
        for name in sorted(constraint.names):
            if name not in space:
                guess = suggestion(name, space)
                raise InputError(
                    f"the constraint {constraint} names {name!r}, which the space does not have; "
                    f"it has {listing(list(space))}{guess}{'' if guess else '.'} Text is "
                    f"written in quotes: '{name}'"
                )


def check_choices(constraints: Sequence[Constraint], space: Mapping[str, Parameter]) -> None:
    """Refuse expressions that compare a parameter with a choice that it does not have."""
    for constraint in constraints:
        for name, text in sorted(constraint.compared):
            parameter = space[name]
            listed = getattr(parameter, "choices", None) or getattr(parameter, "values", ())
            if listed and text not in listed:
                guess = suggestion(text, [item for item in listed if isinstance(item, str)])
                raise InputError(
                    f"the constraint {constraint} compares {name!r} with {text!r}, which it never "
                    f"is; it is one of {listing(listed)}{guess}"
                )


def refuse_violations(
    constraints: Sequence[Constraint], rows: Sequence[Mapping[str, Any]], space: Collection[str]
) -> None:
    """Refuse configurations that violate a constraint."""
    for constraint in constraints:
        for row in rows:
            if not constraint.holds(row, space):
                raise InputError(
                    f"{dict(row)} violates the constraint {constraint}; give a configuration that "
                    "satisfies it, or leave the constraint out"
                )
