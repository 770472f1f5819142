# SPDX-License-Identifier: Apache-2.0
"""The lookout: workers that share a study take turns in asking the rules.

A worker that asks says so in a system attribute of the study, and says there when it is done and
how long it took. While one is asking, and for a few times as long afterwards, the others go on:
their trials are looked at after the next one. So asking takes a fixed part of the time at most,
however many workers there are. What this may cost is that a worker begins one more trial, and only
if two trials end within a few times the seconds that a look takes: seldom, where trials are long.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from stopwise.integrations.optuna import _waiting
from stopwise.stopping.verdict import Verdict

LOOKOUT = "stopwise:lookout"  # a system attribute of the study
_PAUSE = 4.0  # between two looks, in lengths of the last one
_RECENT = 16  # trials among which one looks for those of other workers

Rules = Callable[[Sequence[FrozenTrial]], Verdict]


@dataclass(frozen=True, slots=True)
class _Watch:
    """What the last worker that looked says.

    Args:
        settings: The settings of its rules.
        since: When it wrote this, in seconds of its clock.
        took: Seconds that its look took; None while it is looking.
    """

    settings: str
    since: float
    took: float | None = None

    @property
    def is_recent(self) -> bool:
        """Whether somebody is looking, or has just looked."""
        pause = _waiting.PATIENCE if self.took is None else _PAUSE * self.took
        return 0.0 <= time.time() - self.since < pause  # a clock may be ahead of ours


class Lookout:
    """Asks the rules after trials of this worker, unless another one does.

    Args:
        settings: Those of the rules; workers of other settings ask their own.
    """

    def __init__(self, settings: str) -> None:
        self._settings = settings
        self._own: set[int] = set()  # trials of this worker
        self._has_others = False

    def ask(self, study: Study, trial: FrozenTrial, rules: Rules) -> Verdict | None:
        """The verdict after a trial of this worker; None if another one looks, or just has.

        Args:
            study: The study.
            trial: The trial. After one that is not complete the rules are asked in any case: it
                may have ended because there is nothing left to do.
            rules: Gives the verdict after all trials.
        """
        self._own.add(trial.number)
        if not self._has_others:
            return rules(self._read(study))
        if trial.state == TrialState.COMPLETE and self._is_watched(study):
            return None
        begin = time.monotonic()
        self._write(study, None)
        try:
            with _waiting.signs_of_life(lambda: self._write(study, None)):
                return rules(self._read(study))
        finally:
            self._write(study, time.monotonic() - begin)

    def _read(self, study: Study) -> Sequence[FrozenTrial]:
        """All trials; remembers whether others have begun some since this worker began."""
        trials = study.get_trials(deepcopy=False)
        first = min(self._own)
        later = (trial.number for trial in trials[-_RECENT:] if trial.number > first)
        self._has_others = any(number not in self._own for number in later)
        return trials

    def _is_watched(self, study: Study) -> bool:
        storage, key = study._storage, study._study_id  # noqa: SLF001  as Optuna's own samplers do
        written = storage.get_study_system_attrs(key).get(LOOKOUT)
        return (
            written is not None
            and written["settings"] == self._settings
            and _Watch(written["settings"], written["since"], written["took"]).is_recent
        )

    def _write(self, study: Study, took: float | None) -> None:
        storage, key = study._storage, study._study_id  # noqa: SLF001
        watch = _Watch(self._settings, time.time(), took)
        storage.set_study_system_attr(key, LOOKOUT, asdict(watch))
