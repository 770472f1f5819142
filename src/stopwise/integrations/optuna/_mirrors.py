# SPDX-License-Identifier: Apache-2.0
"""The holder of the mirror that a sampler or a callback uses.

Sampler and callback of one study share a mirror if their models and prices are the same: each
finished trial is then translated once, and there is one fit and one supremum for it, whoever asks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from threading import RLock
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial

from stopwise.core.space import Real
from stopwise.integrations.optuna._mirror import Mirror, direction_of, has_surplus
from stopwise.integrations.optuna._space import Distributions
from stopwise.integrations.optuna._tree import as_tree, learned
from stopwise.study.external import ExternalStudy
from stopwise.study.options import StudyOptions, names

# Options that the model and the prices do not depend on. To share a mirror, a sampler and a
# callback must agree in all others.
_DECISIONS = ("lam", "acquisition", "stopping", "watch", "seed", "max_trials", "start_from")


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
        self.options = StudyOptions.of(options, owner=owner, leave_out=leave_out, also=("space",))
        self._keywords = options
        cost = None if callable(options.get("cost")) else options.get("cost")
        blank = {**options, "cost": cost, "constraints": None}  # which are about its own space
        self.rules = ExternalStudy({"x": Real(0, 1)}, **blank).rules
        self.lock = RLock()  # with n_jobs several threads ask at once
        self._key: tuple[object, ...] = ()
        self._mirror: Mirror | None = None
        self._checked: set[int] = set()  # trials that were searched for further parameters
        self._partial = False

    def distributions(self, trials: Sequence[FrozenTrial]) -> dict[str, BaseDistribution]:
        """The parameters that are modelled: those given, or those that trials explain."""
        if self._space is None:
            return learned(trials)
        return as_tree(self._space)

    def believe_as(self, other: Mirrors) -> bool:
        """Whether the model and the prices of both are the same."""
        return all(
            getattr(self.options, name) == getattr(other.options, name)
            for name in names(leave_out=_DECISIONS)
        )

    def mirror(
        self, study: Study, distributions: Distributions, trials: Sequence[FrozenTrial]
    ) -> Mirror:
        """The mirror of a study; a new one if its space has changed."""
        when = getattr(distributions, "when", {})
        key = (id(study._storage), study.study_name, dict(distributions), when)  # noqa: SLF001
        if self._mirror is None or key != self._key:
            self._mirror, self._checked, self._partial, self._key = None, set(), False, key
        new = [t for t in trials if t.number not in self._checked]
        partial = self._partial or has_surplus(distributions, new)
        self._checked |= {t.number for t in new if t.state.is_finished()}
        if self._mirror is None or partial != self._partial:
            self._partial = partial
            options = dict(self._keywords)
            if partial and options.get("noise") is None:
                # Parameters that are not modelled vary between trials: to the model that is noise.
                options |= {"noise": "learn", "replicates": True}
            self._mirror = Mirror(distributions, direction=direction_of(study), **options)
        return self._mirror
