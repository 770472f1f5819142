# SPDX-License-Identifier: Apache-2.0
"""Where workers on one storage tell each other what they are about to evaluate.

Each trial carries a note: choosing, proposed, or settled. Of two workers that propose the same
point, one always sees the other, because each writes before it looks: the later trial steps aside
for the earlier, and everybody for what is settled.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optuna.study import Study
from optuna.trial import FrozenTrial

NOTE = "stopwise:proposal"  # a system attribute of the trial
PATIENCE = 30.0  # seconds that one waits for a worker that may be dead
_POLL = 0.05

Clash = Callable[[Sequence[FrozenTrial]], Sequence[FrozenTrial]]  # those that stand in the way


@dataclass(frozen=True, slots=True)
class Note:
    """What a trial is about to evaluate.

    Args:
        numbers: The params as Optuna stores them; None while it is still choosing.
        price: What the evaluation is expected to cost: reserved until it is told.
        settled: Whether it will not step aside any more.
        since: When it was written, seconds of the worker's clock.
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
        """Plain values, a few dozen bytes a parameter."""
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
        """Write this trial's note, for all to see."""
        storage = self.study._storage  # noqa: SLF001  as Optuna's own samplers do
        dated = {**note.as_json(), "since": time.time()}
        storage.set_trial_system_attr(self.trial._trial_id, NOTE, dated)  # noqa: SLF001

    def trials(self) -> Sequence[FrozenTrial]:
        """All trials but this one, as the storage has them now."""
        found = self.study.get_trials(deepcopy=False)
        return [t for t in found if t.number != self.trial.number]

    def wait_for_earlier(self) -> None:
        """Let those choose first whose trials came first: then nobody has to step aside."""
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
            clashing: Of some trials, those that cannot be evaluated beside this one.
        """
        give_up = time.monotonic() + PATIENCE
        while True:
            clashes = clashing(self.trials())
            if any(self._is_ahead(trial) for trial in clashes):
                return False
            if not clashes or time.monotonic() > give_up:
                return True
            time.sleep(_POLL)  # a later one must step aside, or has settled before it saw us

    def _is_ahead(self, trial: FrozenTrial) -> bool:
        note = Note.of(trial)
        return note is None or note.settled or trial.number < self.trial.number
