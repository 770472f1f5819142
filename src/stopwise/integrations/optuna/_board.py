# SPDX-License-Identifier: Apache-2.0
"""The board: notes by which workers on one storage avoid evaluating the same point.

Each trial carries a note: it is choosing, has proposed a point, or has settled on one. A worker
writes its note before it reads those of others, so of two workers that propose the same point one
always sees the other. A later trial withdraws its proposal for an earlier one, and any trial for
one that has settled.

Only the earliest of the trials that are choosing computes. It makes offers to those that wait: an
offer is a proposal that somebody else has written to the trial. Each offerer has an attribute of
its own there, so no offer is ever overwritten, and everybody sees all points that a waiting trial
may take. When it has written some, it reads once for all of them. An offer that clashes with
nothing is granted: its trial finds it in the turn and takes it as it is, and the params that
Optuna then stores say that it has settled. Any other offer its trial checks itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

from optuna import exceptions
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from stopwise.integrations.optuna import _waiting
from stopwise.integrations.optuna._turn import Numbers, Turn

NOTE = "stopwise:proposal"  # a system attribute of the trial
OFFER = "stopwise:offer:"  # the same, followed by the number of the trial whose worker offers

Clash = Callable[[Sequence[FrozenTrial]], Sequence[FrozenTrial]]  # trials -> those in conflict

# A trial has ended, and cannot be written to any more; older Optunas raise a plain RuntimeError.
_FINISHED: type[RuntimeError] = getattr(exceptions, "UpdateFinishedTrialError", RuntimeError)
_TELLING = 0.1  # seconds between two notices that somebody has an offer, but for the last
_CHECKING = 0.1  # part of the turn that is spent on checking offers for those notices, at most
_LONGEST_CLAIM = 0.05  # seconds to wait for others that take the turn at the same moment
_UNSEEN = 2.0  # seconds after which one looks at all trials though nobody has said anything


@dataclass(frozen=True, slots=True)
class Note:
    """The note of a trial: the point that it is about to evaluate.

    Args:
        numbers: The params as Optuna stores them; None while it is still choosing.
        price: The expected cost of the evaluation, which is reserved until it is told.
        settled: Whether the choice is final.
        since: When the note was written, in seconds of the worker's clock.
        settings: What its worker would choose by; an offer is for a worker of the same settings.
        turn: The turn in which it was chosen; points of one turn are chosen to be evaluated
            side by side.
        aware: Turns of choices that were not final and were known when this one was made.
        left: Of an offer: what the budget left for it; None without a budget.
        upto: Of an offer: the highest number of a trial that was known when it was chosen.
        unsettled: Of an offer: trials up to that number whose points were not final.
    """

    numbers: Mapping[str, float] | None = None
    price: float = 0.0
    settled: bool = False
    since: float = 0.0
    settings: str = ""
    turn: str = ""
    aware: Sequence[str] = ()
    left: float | None = None
    upto: int = -1
    unsettled: Sequence[int] = ()

    @classmethod
    def of(cls, trial: FrozenTrial) -> Note | None:
        """The note of a trial; None if no sampler of ours has written one."""
        return next(iter(cls.all_of(trial)), None)

    @classmethod
    def all_of(cls, trial: FrozenTrial) -> list[Note]:
        """The note of a trial, or all offers to one that is choosing, in the order of taking."""
        attributes = trial.system_attrs
        if NOTE not in attributes:
            return []
        note = cls.own(trial)
        if note.numbers is not None or note.settled:
            return [note]
        offers = [(int(k.removeprefix(OFFER)), k) for k in attributes if k.startswith(OFFER)]
        return [cls._read(attributes[key]) for _, key in sorted(offers)] or [note]

    @classmethod
    def taken(cls, trial: FrozenTrial) -> Note | None:
        """The note that a trial has settled by, or the offer whose point it has; None without."""
        stored = {n: d.to_internal_repr(trial.params[n]) for n, d in trial.distributions.items()}
        notes = cls.all_of(trial)
        return next((note for note in notes if note.settled or note.has_point(stored)), None)

    def has_point(self, stored: Numbers) -> bool:
        """Whether its point is that of stored params, among which may be others beside it."""
        return self.numbers is not None and self.numbers.items() <= stored.items()

    @classmethod
    def own(cls, trial: FrozenTrial) -> Note:
        """The note that the worker of a trial has written."""
        return cls._read(trial.system_attrs[NOTE])

    @property
    def is_open(self) -> bool:
        """Whether the choice is not final, and its worker has given a sign of life."""
        return not self.settled and time.time() - self.since < _waiting.PATIENCE

    @classmethod
    def _read(cls, written: Mapping[str, Any]) -> Note:
        names = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in written.items() if name in names})

    def as_json(self) -> dict[str, Any]:
        """The note as JSON, a few dozen bytes for each parameter; without what is left out."""
        always = ("numbers", "price", "settled", "since")
        unset = {field.name: field.default for field in fields(self) if field.name not in always}
        return {k: v for k, v in asdict(self).items() if k not in unset or v != unset[k]}


class Look(NamedTuple):
    """All trials as they are at one moment: that of this worker, and the others.

    Args:
        own: The trial of this worker.
        others: All others; not read where a point was granted.
        granted: The point that another worker has chosen and checked for this one.
    """

    own: FrozenTrial
    others: Sequence[FrozenTrial] = ()
    granted: Numbers | None = None


class Board:
    """The notes of one study, as one of its trials sees them.

    Args:
        study: The study.
        trial: The trial that is being chosen.
    """

    def __init__(self, study: Study, trial: FrozenTrial) -> None:
        self.study = study
        self.trial = trial
        self._lock = threading.Lock()
        self._note = Note()  # the last one that was written
        self._has_turn = False
        self._offers: dict[int, tuple[Note, Clash]] = {}  # that were not checked yet
        self._served: list[int] = []
        self._granted: dict[str, Numbers] = {}  # of this turn, after those of turns before
        self._told = time.monotonic()  # when the turn was last written
        self._pause = _TELLING  # until it is written again

    def write(self, note: Note) -> None:
        """Write this trial's note to the storage."""
        with self._lock:
            self._note = note
            self._write(self.trial, NOTE, note)

    def leave(self) -> None:
        """Say that nothing will be evaluated."""
        with suppress(_FINISHED):
            self.write(Note(settled=True))

    def offer(self, trial: FrozenTrial, note: Note, clashing: Clash) -> None:
        """Write an offer to a trial that is waiting; all who wait are told at times.

        Args:
            trial: The trial.
            note: The offer.
            clashing: Selects the trials that must not be evaluated beside it.
        """
        with suppress(_FINISHED):  # it was counted as failed meanwhile
            self._write(trial, f"{OFFER}{self.trial.number}", note)
            self._offers[trial.number] = note, clashing
            if time.monotonic() - self._told > self._pause:
                self.grant()
                self._write_turn(over=False)

    def grant(self) -> None:
        """Check the offers that were written, as their trials would, by one look for all."""
        if not self._offers:
            return
        begin, look = time.monotonic(), self.look()
        self._pause = max(_TELLING, (time.monotonic() - begin) / _CHECKING)
        for number, (note, clashing) in self._offers.items():
            others = [trial for trial in look.others if trial.number != number]
            self._served.append(number)
            if note.numbers is not None and not clashing(others):
                self._granted[str(number)] = note.numbers
        self._offers.clear()

    def _write(self, trial: FrozenTrial, key: str, note: Note) -> None:
        dated = replace(note, since=time.time()).as_json()
        storage = self.study._storage  # noqa: SLF001  as Optuna's own samplers do
        storage.set_trial_system_attr(trial._trial_id, key, dated)  # noqa: SLF001

    def look(self) -> Look:
        """All trials, as the storage has them now; storages read only what may have changed."""
        trials = self.study.get_trials(deepcopy=False)
        others = [trial for trial in trials if trial.number != self.trial.number]
        own = [trial for trial in trials if trial.number == self.trial.number]
        return Look(own[0] if own else self.trial, others)

    @contextmanager
    def turn(self, look: Look) -> Iterator[None]:
        """Have the turn, and say so if there are others: they wait until it is over."""
        if not self._has_turn and any(map(_is_begun, look.others)):
            self._take_turn(Turn.read(self.study))
        with _waiting.signs_of_life(self._sign):
            yield

    def end_turn(self) -> None:
        """Say that the turn is over, if this trial has had it."""
        if self._has_turn:
            self._write_turn(over=True)
        self._has_turn = False

    def wait_for_turn(self) -> Look:
        """Wait until there is an offer to this trial, or nobody has the turn.

        While somebody has the turn, that attribute of the study is all that is read, and if a
        point is granted there, nothing else is. When the turn is over, the first to see it takes
        the next one. Where there was none, it is the earliest of the trials that are choosing.
        """
        number = self.trial.number
        with _waiting.signs_of_life(self._sign):
            begin, due = time.monotonic(), _UNSEEN
            for _ in _waiting.until(_waiting.LONGEST):
                turn, waited = Turn.read(self.study), time.monotonic() - begin
                granted = turn.granted_to(number) if turn else None
                if granted is not None:
                    return Look(self.trial, granted=granted)
                if turn and waited < due and number not in turn.served:
                    if turn.is_free and self._claims(turn):
                        return self.look()
                    if turn.is_free or turn.goes_on:
                        continue
                look = self.look()
                if _has_offer(look.own) or not any(map(self._is_choosing_before, look.others)):
                    break
                due = max(_UNSEEN, 2.0 * waited)
        return look

    def _claims(self, before: Turn) -> bool:
        """Take the turn after this one, unless another worker has written later that it does.

        Whoever read before this was written has written in twice the time that it took. Two that
        do not see each other all the same both choose, which is only more work than need be.
        """
        begin = time.monotonic()
        self._take_turn(before)
        time.sleep(min(2.0 * (time.monotonic() - begin), _LONGEST_CLAIM))
        now = Turn.read(self.study)
        self._has_turn = now is not None and now.of == self.trial.number
        return self._has_turn

    def _take_turn(self, before: Turn | None) -> None:
        self._has_turn = True
        self._granted = dict(before.granted) if before else {}
        self._write_turn(over=False)

    def _sign(self) -> None:
        with self._lock, suppress(_FINISHED):
            self._write(self.trial, NOTE, self._note)
        if self._has_turn:
            self._write_turn(over=False)

    def _write_turn(self, *, over: bool) -> None:
        served, granted = list(self._served), dict(self._granted)
        Turn(self.trial.number, time.time(), over, served, granted).write(self.study)
        self._told = time.monotonic()

    def waiting(self, trials: Sequence[FrozenTrial], settings: str) -> list[FrozenTrial]:
        """Trials that are waiting, and would choose by the same settings."""
        waiting = [
            trial
            for trial in trials
            if _is_choosing(trial)
            and Note.own(trial).numbers is None
            and Note.own(trial).settings == settings
            and "fixed_params" not in trial.system_attrs
        ]
        self._has_turn |= bool(waiting)
        return waiting

    def _is_choosing_before(self, trial: FrozenTrial) -> bool:
        return trial.number < self.trial.number and _is_choosing(trial)

    def stands(self, clashing: Clash, look: Look | None = None) -> bool:
        """Whether this trial may keep what it has proposed.

        Args:
            clashing: Selects the trials that must not be evaluated beside this one.
            look: The first look, if there was one since the proposal was written.
        """
        for _ in _waiting.until(_waiting.PATIENCE):
            look = self.look() if look is None else look
            clashes, look = clashing(look.others), None
            if any(self._is_ahead(trial) for trial in clashes):
                return False
            if not clashes:
                return True
            # A later trial must withdraw, or settled before it saw this note.
        return True

    def _is_ahead(self, trial: FrozenTrial) -> bool:
        note = Note.of(trial)
        final = note is None or note.settled or bool(trial.params) or trial.state.is_finished()
        return final or trial.number < self.trial.number


def _is_begun(trial: FrozenTrial) -> bool:
    """Whether a worker of ours works on a trial."""
    return trial.state == TrialState.RUNNING and NOTE in trial.system_attrs


def _is_choosing(trial: FrozenTrial) -> bool:
    """Whether a trial that somebody works on has neither settled nor an offer."""
    return _is_begun(trial) and Note.own(trial).is_open and Note.of(trial) == Note.own(trial)


def _has_offer(trial: FrozenTrial) -> bool:
    note = Note.of(trial)
    return note is not None and note.numbers is not None
