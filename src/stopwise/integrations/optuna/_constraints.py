# SPDX-License-Identifier: Apache-2.0
"""Known constraints about a space that is learned from trials, and may still grow.

A parameter that depends on a choice appears with the first trial that makes this choice. Until
then a constraint that names it does not apply, and a warning says so, once for each name. It is an
error where the space was given, or has no choices that a further parameter could depend on.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stopwise.core.space.constraints import Constraint, check_names
from stopwise.core.space.user_functions import asked_for, name_of
from stopwise.errors import InputError
from stopwise.integrations.optuna._tree import Tree


class KnownConstraints:
    """The known constraints of a sampler or a callback.

    Args:
        constraints: The constraints, about params in the form of Optuna.
    """

    def __init__(self, constraints: tuple[Constraint, ...]) -> None:
        self._constraints = constraints
        self._warned: set[str] = set()  # names of parameters

    def on(self, tree: Tree) -> tuple[Constraint, ...]:
        """The constraints as they apply to a space; names that cannot be right are refused."""
        for constraint in self._constraints:
            for name in sorted(constraint.names.difference(tree)):
                if tree.may_get(name):
                    self._warn(constraint, name, tree)
                else:
                    _refuse(constraint, tree)
        if tree.seen is None:
            return self._constraints
        return tuple(c if c.names else self._lenient(c, tree) for c in self._constraints)

    def _lenient(self, constraint: Constraint, tree: Tree) -> Constraint:
        """A function that also holds where it asks for a parameter that may still come."""

        def test(params: Mapping[str, Any]) -> bool:
            try:
                answer: bool = constraint.test(params)
            except KeyError as error:
                name = asked_for(error)
                if not isinstance(name, str) or name in tree or not tree.may_get(name):
                    raise
                self._warn(constraint, name, tree)
                return True
            return answer

        test.__qualname__ = name_of(constraint.test)  # for messages
        return replace(constraint, test=test)

    def _warn(self, constraint: Constraint, name: str, tree: Tree) -> None:
        if name in self._warned:
            return
        self._warned.add(name)
        message = (
            f"the constraint {constraint} names {name!r}, and the parameters that are understood"
            f" from the trials so far are {_listed(tree)}. Until {name!r} is among them, the"
            " constraint does not apply. Give space= with all parameters and their"
            " conditions, so that it is kept from the first trial on; or correct the name."
        )
        warnings.warn(message, stacklevel=2)


def _refuse(constraint: Constraint, tree: Tree) -> None:
    try:
        check_names([constraint], tree)
    except InputError as error:
        if tree.seen is None:
            raise
        message = (
            f"{error}. The space is what trials have suggested so far; if other parameters are to"
            " come, give space= with all of them."
        )
        raise InputError(message) from error


def _listed(tree: Tree) -> str:
    return ", ".join(map(repr, tree)) or "none"
