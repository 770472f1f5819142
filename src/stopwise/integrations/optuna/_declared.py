# SPDX-License-Identifier: Apache-2.0
"""The space that a user declares, compared with what the objective really suggests.

Optuna draws a value at random where the one that was chosen for it does not fit, and says nothing.
So a trial that contradicts the declared space is answered with a warning, once for each parameter.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cached_property
from threading import Lock
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial

from stopwise.integrations.optuna._tree import Tree, as_tree

_MOST_LISTED = 1000  # whole numbers, which are compared with a list of choices


class DeclaredSpace:
    """A space that was given to a sampler or a callback, for comparison with trials.

    Args:
        space: Distributions by name, or parameters of ours.
        owner: Name of the class that it was given to, for messages.
    """

    def __init__(self, space: Mapping[str, Any], owner: str) -> None:
        self._space = space
        self._owner = owner
        self._lock = Lock()  # with n_jobs several trials end at once
        self._warned: set[str] = set()  # names of parameters

    @cached_property
    def tree(self) -> Tree:
        """The space with its conditions."""
        return as_tree(self._space)

    def compare(self, trial: FrozenTrial, *, complete: bool) -> None:
        """Warn if a trial of this worker contradicts the space.

        Args:
            trial: The trial.
            complete: Whether the trial has suggested all that it would.
        """
        with self._lock:
            new = {
                name: how
                for name, how in contradictions(self.tree, trial, complete=complete).items()
                if name not in self._warned
            }
            self._warned |= set(new)
        if new:
            how = "; ".join(new.values())
            message = (
                f"trial {trial.number} contradicts the space= of {self._owner}: {how}."
                " What is not declared is never chosen, a value that the objective does not take"
                " is replaced by a random one, and a trial that does not fit teaches nothing, so"
                " the study may never stop. Make space= and the objective agree in ranges, steps"
                " and conditions (when=)."
            )
            warnings.warn(message, stacklevel=2)


def contradictions(tree: Tree, trial: FrozenTrial, *, complete: bool) -> dict[str, str]:
    """How a trial contradicts a space, in words, by the name of the parameter.

    Parameters that the space does not have are no contradiction: what they do counts as noise. Nor
    is another scale: it says how values are modelled, not which there are.
    """
    active = tree.active(trial.params)
    how = {}
    for name, declared in tree.items():
        suggested = trial.distributions.get(name)
        if suggested is None and complete and name in active:
            how[name] = f"{_condition(tree, name)}, and not suggested{_beside(tree, name, trial)}"
        elif suggested is not None and name not in active:
            how[name] = f"{_condition(tree, name)}, and suggested{_beside(tree, name, trial)}"
        elif suggested is not None and _values(suggested) != _values(declared):
            how[name] = f"as {_in_words(declared)}, and suggested as {_in_words(suggested)}"
    return {name: f"{name!r} is declared {words}" for name, words in how.items()}


def _condition(tree: Tree, name: str) -> str:
    """When a parameter exists by the space, in words."""
    conditions = [
        f"{parent} is {' or '.join(map(repr, values))}"
        for parent, values in tree.when.get(name, {}).items()
    ]
    return f"to exist when {' and '.join(conditions)}" if conditions else "without a condition"


def _beside(tree: Tree, name: str, trial: FrozenTrial) -> str:
    """The values in a trial of the parameters that another depends on."""
    parents = tree.when.get(name, {})
    values = [f"{p} = {trial.params[p]!r}" if p in trial.params else f"no {p}" for p in parents]
    return f" with {', '.join(values)}" if values else ""


def _values(distribution: BaseDistribution) -> object:
    """What tells apart distributions of different values, whatever their kind and scale."""
    if isinstance(distribution, CategoricalDistribution):
        return sorted(map(repr, distribution.choices))
    if isinstance(distribution, IntDistribution):
        low, high, step = distribution.low, distribution.high, distribution.step
        if (high - low) // step < _MOST_LISTED:
            return sorted(map(repr, range(low, high + 1, step)))
    kind = type(distribution)
    return kind, *(getattr(distribution, part, None) for part in ("low", "high", "step"))


def _in_words(distribution: BaseDistribution) -> str:
    if isinstance(distribution, FloatDistribution | IntDistribution):
        is_float = isinstance(distribution, FloatDistribution)
        kind, usual = ("a float", None) if is_float else ("an integer", 1)
        step = f" in steps of {distribution.step}" if distribution.step != usual else ""
        return f"{kind} from {distribution.low} to {distribution.high}{step}"
    if isinstance(distribution, CategoricalDistribution):
        return f"one of {', '.join(map(repr, distribution.choices))}"
    return repr(distribution)
