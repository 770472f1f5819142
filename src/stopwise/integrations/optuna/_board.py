# SPDX-License-Identifier: Apache-2.0
"""The board: notes by which workers on one storage avoid evaluating the same point.

Each trial carries a note: it is choosing, has proposed a point, or has settled on one. A worker
writes its note before it reads those of others, so of two workers that propose the same point one
always sees the other. A later trial withdraws its proposal for an earlier one, and any trial for
one that has settled.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optuna.study import Study
from optuna.trial import FrozenTrial

NOTE = "stopwise:proposal"  # a system attribute of the trial
PATIENCE = 30.0  # seconds to wait for a worker that may be dead
_POLL = 0.05

Clash = Callable[[Sequence[FrozenTrial]], Sequence[FrozenTrial]]  # trials -> those in conflict


@dataclass(frozen=True, slots=True)
class Note:
    """The note of a trial: the point that it is about to evaluate.

    Args:
        numbers: The params as Optuna stores them; None while it is still choosing.
        price: The expected cost of the evaluation, which is reserved until it is told.
        settled: Whether the choice is final.
        since: When the note was written, in seconds of the worker's clock.
    """

    numbers: Mapping[str, float] | None = None
    price: float = 0.0
    settled: bool = False
    since: float = 0.0

    @classmethod
    def of(cls, trial: FrozenTrial) -> Note | None:
        """The note of a trial; None if no sampler of ours has written one."""
        written = trial.system_attrs.get(NOTE)
        return None if written is None else cls(**written)

    def as_json(self) -> dict[str, Any]:
        """The note as JSON, a few dozen bytes for each parameter."""
        numbers = None if self.numbers is None else dict(self.numbers)
        return {
            "numbers": numbers,
            "price": self.price,
            "settled": self.settled,
            "since": self.since,
        }


@dataclass(frozen=True, slots=True)
class Board:
    """The notes of one study, as one of its trials sees them.

    Args:
        study: The study.
        trial: The trial that is being chosen.
    """

    study: Study
    trial: FrozenTrial

    def write(self, note: Note) -> None:
        """Write this trial's note to the storage."""
        storage = self.study._storage  # noqa: SLF001  as Optuna's own samplers do
        dated = {**note.as_json(), "since": time.time()}
        storage.set_trial_system_attr(self.trial._trial_id, NOTE, dated)  # noqa: SLF001

    def trials(self) -> Sequence[FrozenTrial]:
        """All trials but this one, as the storage has them now."""
        trials = self.study.get_trials(deepcopy=False)
        return [t for t in trials if t.number != self.trial.number]

    def wait_for_earlier(self) -> None:
        """Wait until earlier trials have chosen: then none has to withdraw its proposal."""
        give_up = time.monotonic() + PATIENCE
        while any(map(self._is_choosing_before, self.trials())) and time.monotonic() < give_up:
            time.sleep(_POLL)

    def _is_choosing_before(self, trial: FrozenTrial) -> bool:
        note = Note.of(trial)
        return (
            note is not None
            and not note.settled
            and not trial.state.is_finished()
            and trial.number < self.trial.number
            and time.time() - note.since < PATIENCE
        )

    def stands(self, clashing: Clash) -> bool:
        """Whether this trial may keep what it has proposed.

        Args:
            clashing: Selects the trials that must not be evaluated beside this one.
        """
        give_up = time.monotonic() + PATIENCE
        while True:  # at most until the patience is over
            clashes = clashing(self.trials())
            if any(self._is_ahead(trial) for trial in clashes):
                return False
            if not clashes or time.monotonic() > give_up:
                return True
            time.sleep(_POLL)  # a later trial must withdraw, or settled before it saw this note

    def _is_ahead(self, trial: FrozenTrial) -> bool:
        note = Note.of(trial)
        return note is None or note.settled or trial.number < self.trial.number
