# SPDX-License-Identifier: Apache-2.0
"""The turn: who chooses for all that wait, and what was chosen; an attribute of the study."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from optuna.study import Study

from stopwise.integrations.optuna import _waiting

TURN = "stopwise:turn"  # a system attribute of the study
_MOST_GRANTED = 32  # points in the attribute: those of this turn, then those of the turns before
_MOST_TEXT = 16_384  # characters that they may take; some databases hold 65,535 bytes at most

Numbers = Mapping[str, float]  # params as Optuna stores them


class Turn(NamedTuple):
    """Who has the turn, or had it last.

    Args:
        of: Number of its trial.
        since: When its worker wrote this, in seconds of its clock.
        over: Whether the turn is over.
        served: Numbers of the trials that have an offer of this turn.
        granted: The points of offers that were checked, by the number of the trial; also of turns
            before, for trials that have not looked since.
    """

    of: int
    since: float
    over: bool
    served: Sequence[int] = ()
    granted: Mapping[str, Numbers] = {}

    @classmethod
    def read(cls, study: Study) -> Turn | None:
        """The turn that a study has, or had last; None before the first."""
        storage, key = study._storage, study._study_id  # noqa: SLF001  as Optuna's own samplers do
        written: dict[str, Any] | None = storage.get_study_system_attrs(key).get(TURN)
        if written is None:
            return None
        return cls(**{name: written[name] for name in cls._fields if name in written})

    def write(self, study: Study) -> None:
        """Write it to a study, with as many of the points as there is room for, the last first."""
        storage, key = study._storage, study._study_id  # noqa: SLF001
        turn = self._replace(granted=_last(self.granted))
        storage.set_study_system_attr(key, TURN, turn._asdict())

    def granted_to(self, number: int) -> Numbers | None:
        """The point that was chosen and checked for a trial, if there is one."""
        return self.granted.get(str(number))

    @property
    def goes_on(self) -> bool:
        """Whether its worker is choosing, and has given a sign of life."""
        return not self.over and self._is_recent

    @property
    def is_free(self) -> bool:
        """Whether it has ended lately: there are other workers, and nobody has the turn."""
        return self.over and self._is_recent

    @property
    def _is_recent(self) -> bool:
        return time.time() - self.since < _waiting.PATIENCE


def _last(granted: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """The last of some points, as many as there is room for."""
    kept: list[tuple[str, Numbers]] = []
    room = _MOST_TEXT
    for number, numbers in reversed(list(granted.items())[-_MOST_GRANTED:]):
        room -= len(json.dumps({number: dict(numbers)}))
        if room < 0:
            break
        kept.append((number, numbers))
    return dict(reversed(kept))
