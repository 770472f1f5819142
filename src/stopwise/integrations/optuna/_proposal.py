# SPDX-License-Identifier: Apache-2.0
"""A proposal: params for a trial, and what was known of other trials when they were chosen."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from optuna.trial import FrozenTrial

from stopwise.integrations.optuna._board import Note
from stopwise.integrations.optuna._mirror import Mirror

_CLOSE = 0.01  # of the unit cube: two workers with the same data may choose points this close

Points = list[dict[str, Any]]


class Knowledge(NamedTuple):
    """What was known of other trials when points were chosen, in one turn of one worker.

    Args:
        turn: Name of the turn; points of the same turn are known.
        upto: The highest number of a trial that was known.
        unsettled: Trials up to that number whose points were not final, with the point that was
            believed pending; none where that is not known. Of several offers to a trial the model
            knows one, so that the trial stays news.
        aware: The turns in which these points were chosen.
    """

    turn: str
    upto: int
    unsettled: Mapping[int, Points]
    aware: Sequence[str] = ()

    @classmethod
    def of(cls, trials: Sequence[FrozenTrial], mirror: Mirror) -> Knowledge:
        """What is known now, as a turn begins."""
        unsettled = [trial for trial in trials if not _is_final(trial, mirror)]
        points = {trial.number: mirror.points(trial)[:1] for trial in unsettled}
        aware = {note.turn for trial in unsettled for note in Note.all_of(trial) if note.turn}
        upto = max((trial.number for trial in trials), default=-1)
        return cls(secrets.token_hex(4), upto, points, sorted(aware))

    def news(self, trials: Sequence[FrozenTrial], mirror: Mirror) -> dict[int, Points]:
        """The points of trials that were not known, and whose workers did not know this turn's."""
        new = [trial for trial in self._open(trials) if not self._is_known_to(trial)]
        points = {trial.number: mirror.points(trial) for trial in new}
        return {n: p for n, p in points.items() if p and p != self.unsettled.get(n)}

    def at(
        self, params: Mapping[str, Any], trials: Sequence[FrozenTrial], mirror: Mirror
    ) -> set[int]:
        """Trials that were not final then and have these very params, whatever was known to whom.

        Who knew a turn may have begun before the last points of that turn were chosen.
        """
        return {t.number for t in self._open(trials) if dict(params) in mirror.points(t)}

    def _open(self, trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
        """Trials that were not there when the turn began, or not final."""
        return [t for t in trials if t.number > self.upto or t.number in self.unsettled]

    def _is_known_to(self, trial: FrozenTrial) -> bool:
        """Whether a trial was chosen in this turn, or in one that knew what was chosen in this."""
        notes = Note.all_of(trial)
        return bool(notes) and all(
            note.turn == self.turn or self.turn in note.aware for note in notes
        )


class Proposal(NamedTuple):
    """The params that were chosen.

    Args:
        mirror: The mirror of the study.
        params: The params.
        price: Their expected cost.
        left: What the budget left for it.
        knew: What was known of other trials.
    """

    mirror: Mirror
    params: dict[str, Any]
    price: float
    left: float
    knew: Knowledge

    @classmethod
    def offered(cls, note: Note, mirror: Mirror) -> Proposal | None:
        """The proposal that somebody else has made for a trial; None if it is of another space."""
        params = mirror.axes.external(note.numbers or {})
        if params is None:
            return None
        left = math.inf if note.left is None else note.left
        knew = Knowledge(
            note.turn, note.upto, {number: [] for number in note.unsettled}, note.aware
        )
        return cls(mirror, params, note.price, left, knew)

    @property
    def note(self) -> Note:
        """The note that proposes it."""
        return Note(
            self.mirror.axes.internal(self.params),
            self.price,
            turn=self.knew.turn,
            aware=self.knew.aware,
        )

    @property
    def offer(self) -> Note:
        """The note that offers it to another worker, with what that one must know."""
        return replace(
            self.note,
            left=self.left if math.isfinite(self.left) else None,
            upto=self.knew.upto,
            unsettled=list(self.knew.unsettled),
        )

    def clashing(self, trials: Sequence[FrozenTrial]) -> Sequence[FrozenTrial]:
        """Trials that were unknown then and are too close, or leave too little of the budget."""
        news = self.knew.news(trials, self.mirror)
        ours, study = self.mirror.axes.inward(self.params), self.mirror.study
        new = [trial for trial in trials if trial.number in news]
        if math.isfinite(self.left):
            others = sum(self._reserved(trial, news[trial.number]) for trial in new)
            if self.price + others > self.left:
                return new
        here = study.encoded(ours)
        near = {
            number
            for number, points in news.items()
            if any(np.abs(study.encoded(p) - here).max() <= _CLOSE for p in points)
        }
        near |= self.knew.at(ours, trials, self.mirror)
        return [trial for trial in trials if trial.number in near]

    def _reserved(self, trial: FrozenTrial, points: Points) -> float:
        """What a trial is expected to cost; as its own worker says, if it has one of ours."""
        notes = Note.all_of(trial)
        if notes:
            return sum(note.price for note in notes)
        return sum(map(self.mirror.study.price_of, points))


def _is_final(trial: FrozenTrial, mirror: Mirror) -> bool:
    """Whether a trial has its point for good: its params say so, or its note before."""
    if trial.state.is_finished() or mirror.axes.holds(trial):
        return True
    note = Note.of(trial)
    return note is not None and note.settled
