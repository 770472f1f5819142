# SPDX-License-Identifier: Apache-2.0
"""The callback: it stops an Optuna study, and stores the verdict for all workers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from functools import partial
from threading import Lock
from typing import Any, cast

from optuna.distributions import BaseDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from stopwise.core.space import Parameter
from stopwise.integrations.optuna._lookout import Lookout
from stopwise.integrations.optuna._mirror import direction_of
from stopwise.integrations.optuna._mirrors import Mirrors
from stopwise.integrations.optuna._sampler import StopwiseSampler
from stopwise.stopping.verdict import Verdict
from stopwise.study.options import StudyOptions
from stopwise.study.signatures import spells_out_options

# The sampler chooses; Optuna knows the direction and counts trials.
_CALLBACK_SETS = ("direction", "acquisition", "watch", "max_trials", "start_from")
VERDICT = "stopwise:verdict"  # a user attribute of the study: dashboards show it


class StopwiseCallback:
    """An Optuna callback that stops a study when no further trial is worth its price.

    It works beside any sampler. The verdict that stops, with its reason, becomes the study's user
    attribute ``stopwise:verdict``; every worker on the same storage reads it and stops too. A
    verdict of other settings (a smaller lam, say) is not obeyed, so a study can be taken up again.

    Args:
        lam: As for ``StopwiseSampler``; for rules that need it.
        space: As for ``StopwiseSampler``; for use beside other samplers, where parameters have
            conditions or constraints.
        **options: As for ``stopwise.Study``: ``stopping`` is a name of
            ``stopwise.stopping.RULES``, a rule, or several (any of them stops); cost, budget
            and limits as for ``StopwiseSampler``; ``n_initial`` trials come before the rules are
            asked; ``constraints`` are those of a ``StopwiseSampler`` if they are left out.
    """

    @spells_out_options(_CALLBACK_SETS)
    def __init__(
        self,
        lam: float | None = None,
        *,
        space: Mapping[str, BaseDistribution | Parameter] | None = None,
        **options: Any,  # noqa: ANN401  StudyOptions checks them
    ) -> None:
        # A callback chooses nothing, so any acquisition will do: one that needs no lam.
        by_budget = lam is None and options.get("budget") is not None
        acquisition = {} if by_budget else {"acquisition": "logeipc"}
        StudyOptions.of(
            options, owner="StopwiseCallback", leave_out=_CALLBACK_SETS, also=("space",)
        )
        settings = {"lam": lam, **options, **acquisition}
        self._own_mirrors = Mirrors(settings, owner="StopwiseCallback", space=space)
        self._beside: tuple[StopwiseSampler, Mirrors] | None = None
        self._lock = Lock()  # with n_jobs several threads ask at once
        rules = [_named(rule) for rule in self._own_mirrors.rules]
        self._settings = f"{rules}, budget {options.get('budget')}"
        self._lookout = Lookout(self._settings)

    def __call__(self, study: Study, trial: FrozenTrial) -> None:
        """After each trial, end the loop if the verdict is to stop.

        While another worker asks the rules, or has just asked them, this one goes on.
        """
        self._mirrors(study).compare(trial, complete=trial.state == TrialState.COMPLETE)
        verdict = self._written(study)
        if verdict is None:
            verdict = self._lookout.ask(study, trial, partial(self._verdict, study))
        if verdict is not None and verdict.stop:
            with suppress(RuntimeError):  # in ask-and-tell there is no loop to end
                study.stop()

    def should_terminate(self, study: Study) -> bool:
        """Whether to stop; for ask-and-tell loops, and in place of Optuna's terminator."""
        return self.verdict(study).stop

    def verdict(self, study: Study) -> Verdict:
        """Whether to stop, and why. A verdict that stops is stored for every worker."""
        return self._written(study) or self._verdict(study, study.get_trials(deepcopy=False))

    def _verdict(self, study: Study, trials: Sequence[FrozenTrial]) -> Verdict:
        """The verdict after these trials, or one that another worker has stored meanwhile."""
        mirrors = self._mirrors(study)
        with mirrors.lock:
            verdict = self._asked(study, mirrors, trials)
        if not verdict.stop:
            return verdict
        written = self._written(study)
        if written is None:
            study.set_user_attr(VERDICT, {**_as_json(verdict), "settings": self._settings})
        return written or verdict

    def _written(self, study: Study) -> Verdict | None:
        """The verdict that this worker or another has stored under the same settings."""
        stored = cast("dict[str, Any] | None", study.user_attrs.get(VERDICT))
        if not stored or stored.get("settings") != self._settings:
            return None
        value, threshold = (math.nan if stored[k] is None else stored[k] for k in _NUMBERS)
        return Verdict(True, stored["rule"], value, threshold, stored["reason"])  # noqa: FBT003

    def _mirrors(self, study: Study) -> Mirrors:
        """The mirrors of the sampler, if it is ours with the same model; else the callback's."""
        sampler = study.sampler
        if not isinstance(sampler, StopwiseSampler):
            return self._own_mirrors
        with self._lock:
            if self._beside is None or self._beside[0] is not sampler:
                self._beside = sampler, self._own_mirrors.beside(sampler.mirrors)
            return self._beside[1]

    def _asked(self, study: Study, mirrors: Mirrors, trials: Sequence[FrozenTrial]) -> Verdict:
        direction_of(study)  # refuses several objectives
        distributions = mirrors.distributions(lambda: trials)
        if not distributions:
            return Verdict.not_yet("initial", "no parameter is common to all trials yet: go on")
        mirror = mirrors.mirror(study, distributions, trials)
        mirror.record(self._own_mirrors.rules)
        mirror.update(trials)
        return mirror.study.verdict_of(self._own_mirrors.rules)


_NUMBERS = ("value", "threshold")


def _named(rule: object) -> str:
    """A rule and its settings as text, the same in every process."""
    return repr(rule) if is_dataclass(rule) else type(rule).__name__


def _as_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict in plain JSON, which has no nan."""
    numbers = {name: getattr(verdict, name) for name in _NUMBERS}
    finite = {name: n if math.isfinite(n) else None for name, n in numbers.items()}
    return {"stop": verdict.stop, "rule": verdict.rule, **finite, "reason": verdict.reason}
