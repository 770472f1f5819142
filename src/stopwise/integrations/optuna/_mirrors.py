# SPDX-License-Identifier: Apache-2.0
"""The holder of the mirror that a sampler or a callback uses.

Sampler and callback of one study share a mirror if their models and prices are the same: each
finished trial is then translated once, and there is one fit and one supremum for it, whoever asks.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from threading import RLock
from typing import Any

from optuna.study import Study
from optuna.trial import FrozenTrial

from stopwise.core.space import Real
from stopwise.core.space.constraints import Constraint, checked_constraints
from stopwise.errors import shown
from stopwise.integrations.optuna._constraints import KnownConstraints
from stopwise.integrations.optuna._declared import DeclaredSpace
from stopwise.integrations.optuna._learning import learned
from stopwise.integrations.optuna._mirror import Mirror, direction_of, has_surplus
from stopwise.integrations.optuna._space import Distributions
from stopwise.integrations.optuna._tree import Tree, as_tree
from stopwise.integrations.optuna._unexplained import Unexplained
from stopwise.study.external import ExternalStudy
from stopwise.study.options import StudyOptions, names

# Options that the model and the prices do not depend on. To share a mirror, a sampler and a
# callback must agree in all others.
_DECISIONS = ("lam", "acquisition", "stopping", "watch", "seed", "max_trials", "start_from")
# Prices and what is asked of a trial: a callback that leaves them out says that there are none.
_PRICES = ("cost", "budget", "limits")


class Mirrors:
    """Holds the mirror of one Optuna study at a time.

    Args:
        options: Keywords of ``Study``; wrong ones are refused here, not at the first trial.
        owner: Name of the class that takes them, for messages.
        leave_out: Options that the owner sets itself.
        space: Distributions by name, or parameters of ours; learned from the trials if left out.
    """

    def __init__(
        self,
        options: dict[str, Any],
        *,
        owner: str,
        leave_out: Collection[str] = (),
        space: Mapping[str, Any] | None = None,
    ) -> None:
        self._space = space
        self._owner = owner
        self._unexplained = Unexplained(owner)
        self._declared = None if space is None else DeclaredSpace(space, owner)
        self.options = StudyOptions.of(options, owner=owner, leave_out=leave_out, also=("space",))
        self._keywords = options
        self._constraints = KnownConstraints(self.constraints)
        cost = None if callable(options.get("cost")) else options.get("cost")
        # What is about a space of its own, or a direction that is not known yet, is left out.
        about_space = {"cost": cost, "constraints": None}
        blank = {**options, **about_space, "lam": self.options.lam, "utility": None}
        self.rules = ExternalStudy({"x": Real(0, 1)}, **blank).rules
        self.lock = RLock()  # with n_jobs several threads ask at once
        self._key: tuple[object, ...] = ()
        self._mirror: Mirror | None = None
        self._checked: set[int] = set()  # trials that were searched for further parameters
        self._partial = False

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The known constraints."""
        return checked_constraints(self.options.constraints)

    def distributions(self, trials: Callable[[], Sequence[FrozenTrial]]) -> Tree:
        """The parameters that are modelled: those given, or those that trials explain.

        Args:
            trials: Reads the trials; it is not called if the parameters are given.
        """
        if self._space is not None:
            return as_tree(self._space)
        tree = learned(trials())
        self._unexplained.warn(tree)
        return tree

    def settings(self, distributions: Distributions) -> str:
        """A short text of the options, the same for workers that would choose by the same.

        The seed is left out: it makes choices repeatable and is not what they are made by.
        """
        options = {name: _named(getattr(self.options, name)) for name in names(leave_out=["seed"])}
        when, given = getattr(distributions, "when", {}), getattr(distributions, "given", {})
        conditions = [
            (name, parent, sorted(map(repr, values)))
            for name, condition in when.items()
            for parent, values in condition.items()
        ]
        parts = [sorted(distributions.items()), sorted(conditions), sorted(given.items())]
        if isinstance(distributions, Tree) and (distributions.ranges or distributions.unexplained):
            parts += [sorted(distributions.ranges.items()), sorted(distributions.unexplained)]
        text = repr((options, *parts))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def compare(self, trial: FrozenTrial, *, complete: bool) -> None:
        """Warn if a trial contradicts the space, where one was given; see ``DeclaredSpace``."""
        if self._declared is not None:
            self._declared.compare(trial, complete=complete)

    def beside(self, sampler: Mirrors) -> Mirrors:
        """The mirrors of a callback beside a sampler of ours: the sampler's if they believe alike.

        What the callback leaves out of the model, bounds or names, say, it has from the sampler,
        and so are constraints, with the space that they are about; without constraints, a model of
        its own learns the space from trials.
        """
        sampler.warn_of_differences(self)
        completed = self._completed(sampler)
        return sampler if sampler.believe_as(completed) else completed

    def _completed(self, sampler: Mirrors) -> Mirrors:
        left_out = {
            name: option
            for name, option in sampler._keywords.items()
            if name not in (*_DECISIONS, *_PRICES) and name not in self._keywords
        }
        constraints = self.constraints or sampler.constraints
        space = sampler._space if self._space is None and constraints else self._space
        if not left_out and not constraints:
            return self
        options = {**left_out, **self._keywords, "constraints": constraints}
        return Mirrors(options, owner=self._owner, space=space)

    def believe_as(self, callback: Mirrors) -> bool:
        """Whether the model, the prices and the constraints of both are the same."""
        same = all(
            getattr(self.options, name) == getattr(callback.options, name)
            for name in names(leave_out=(*_DECISIONS, "constraints"))
        )
        learns = callback._space is None  # and would learn what the sampler was given
        constrained = _sources(self.constraints) == _sources(callback.constraints)
        return same and constrained and (learns or self._has_space_of(callback))

    def _has_space_of(self, other: Mirrors) -> bool:
        """Whether both were given the same parameters and conditions."""
        if self._declared is None or other._declared is None:
            return False
        ours, theirs = self._declared.tree, other._declared.tree
        return ours == theirs and ours.when == theirs.when

    def warn_of_differences(self, callback: Mirrors) -> None:
        """Warn if trials are chosen at one price, or for one problem, and stopped at another.

        Args:
            callback: The mirrors of the callback, where these are the sampler's.
        """
        ours, theirs = self.options, callback.options
        different = []
        if None not in (ours.lam, theirs.lam) and ours.lam != theirs.lam:
            different.append(f"lam={ours.lam!r} and lam={theirs.lam!r}")
        if not _same_cost(ours.cost, theirs.cost):
            different.append(f"cost={shown(ours.cost)} and cost={shown(theirs.cost)}")
        if ours.limits != theirs.limits:
            different.append(f"limits={shown(ours.limits)} and limits={shown(theirs.limits)}")
        one, other = self.constraints, callback.constraints  # left out, they are the sampler's
        if other and _sources(one) != _sources(other):
            different.append(f"constraints={_listed(one)} and constraints={_listed(other)}")
        if None not in (self._space, callback._space) and not self._has_space_of(callback):
            different.append(f"space={shown(self._space)} and space={shown(callback._space)}")
        different += self._differing_options(callback)
        if different:
            message = (
                f"StopwiseSampler and StopwiseCallback have {', '.join(different)}: trials are"
                " chosen by the first and stopped by the second. Give both the same."
            )
            warnings.warn(message, stacklevel=2)

    def _differing_options(self, callback: Mirrors) -> list[str]:
        """Options of the model that both were given, each with its two values if they differ."""
        pairs = {
            name: (getattr(self.options, name), getattr(callback.options, name))
            for name in names(leave_out=(*_DECISIONS, *_PRICES, "constraints"))
            if name in self._keywords and name in callback._keywords
        }
        return [
            f"{name}={shown(ours)} and {name}={shown(theirs)}"
            for name, (ours, theirs) in pairs.items()
            if ours != theirs
        ]

    def mirror(
        self, study: Study, distributions: Distributions, trials: Sequence[FrozenTrial]
    ) -> Mirror:
        """The mirror of a study; a new one if its space has changed."""
        tree = distributions if isinstance(distributions, Tree) else Tree(distributions)
        model = (dict(tree), tree.when, tree.ranges, tree.unexplained)
        key = (id(study._storage), study.study_name, *model)  # noqa: SLF001
        if self._mirror is None or key != self._key:
            self._mirror, self._checked, self._partial, self._key = None, set(), False, key
        new = [t for t in trials if t.number not in self._checked]
        partial = self._partial or has_surplus(tree, new)
        self._checked |= {t.number for t in new if t.state.is_finished()}
        if self._mirror is None or partial != self._partial:
            self._partial = partial
            options = dict(self._keywords)
            if partial and options.get("noise") is None:
                # What is not modelled, or exists for no known reason, varies: that is noise.
                options |= {"noise": "learn", "replicates": True}
            options["constraints"] = self._constraints.on(tree)
            self._mirror = Mirror(tree, direction=direction_of(study), **options)
        return self._mirror


def _same_cost(one: object, other: object) -> bool:
    """Whether two costs are the same; seconds are reported too, and both are learned."""
    told = ("seconds", "reported")
    both_told = isinstance(one, str) and isinstance(other, str) and {one, other} <= set(told)
    return both_told or one is other or bool(one == other)


def _sources(constraints: Sequence[Constraint]) -> list[object]:
    """Constraints as the user gave them, which can be compared."""
    return [constraint.source for constraint in constraints]


def _listed(constraints: Sequence[Constraint]) -> str:
    return f"[{', '.join(map(str, constraints))}]" if constraints else "None"


def _named(option: object) -> str:
    """An option as text. Functions of the same name are taken to be the same."""
    if isinstance(option, list | tuple):
        return repr([_named(each) for each in option])
    if isinstance(option, Constraint):
        return _named(option.source)
    name = getattr(option, "__qualname__", None)
    return repr(option) if name is None else f"{getattr(option, '__module__', '')}.{name}"
