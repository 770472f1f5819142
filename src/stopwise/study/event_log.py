# SPDX-License-Identifier: Apache-2.0
"""The event log of a study: each event is written to the journal, then applied to the state.

An interrupt (Ctrl-C, or an exception that another thread raises here) may arrive at any moment. An
event therefore happens by one assignment, which cannot be interrupted half-way: before it nothing
has changed, after it the event is written and applied, if not by this call then by the next one.
"""

from __future__ import annotations

import time
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from stopwise.errors import InputError, JournalError
from stopwise.record.events import Event
from stopwise.record.journal import Journal
from stopwise.record.journal.file import NextLine
from stopwise.record.state import State


class _Begun(NamedTuple):
    """An event that is being written and applied.

    Args:
        after: The state after it.
        line: Its line; None without a journal.
    """

    after: State
    line: NextLine | None


class EventLog:
    """The state of a study, and the journal of its events.

    Args:
        state: The state so far; that of a new study if left out.
        journal: The journal that events are written to, if any.
        read_only: Whether the study was loaded only to be looked at.
    """

    def __init__(
        self,
        state: State | None = None,
        journal: Journal | None = None,
        *,
        read_only: bool = False,
    ) -> None:
        self.state = State() if state is None else state
        self._journal = journal
        self._read_only = read_only
        self._begun: _Begun | None = None  # stays set if writing or applying was interrupted

    def commit(self, event: Event, began: float | None = None) -> None:
        """Write an event to disk, then apply it: so no event that was applied is ever lost.

        If it cannot be written it is not applied either.

        Args:
            event: The event.
            began: When the call that makes the event began, on the clock of ``perf_counter``.
        """
        self.settle()
        after, line = self.state.after(event), None
        if self._journal is not None:
            took = {} if began is None else {"seconds": time.perf_counter() - began}
            line = self._journal.next_line(event, at=time.time(), **took)
        self._begun = _Begun(after, line)  # from here on the event happens
        try:
            self.settle()
        finally:
            self.settle()  # once more if the first was interrupted

    def settle(self) -> None:
        """Write and apply an event that an interrupted call has begun; mostly there is none.

        It may be interrupted itself: what it does may be repeated, with the same result.
        """
        begun = self._begun
        if begun is None:
            return
        if self._journal is not None and begun.line is not None:
            try:
                self._journal.write(begun.line)
            except JournalError:
                self._begun = None
                raise
        if self._begun is begun:
            self.state, self._begun = begun.after, None

    def check_writable(self) -> None:
        """Refuse to change a study that was loaded only to be looked at."""
        if self._read_only:
            message = (
                "this study was loaded to be looked at: Study.resume(path) goes on with a journal."
            )
            raise InputError(message)

    @property
    def is_in_place(self) -> bool:
        """Whether the file of the journal is the one that was written, at its path."""
        return self._journal is None or self._journal.is_in_place

    @property
    def path(self) -> Path | None:
        """The path of the journal; None if there is none."""
        return None if self._journal is None else self._journal.path

    def move(self, path: str | PathLike[str] | None) -> Path:
        """Write the journal to another file and go on there; returns its path."""
        if self._journal is None:
            message = "this study has no journal: give journal=... when it is begun."
            raise InputError(message)
        return self._journal.move(path)

    def close(self) -> None:
        """Close the journal, so that another study may go on with it."""
        try:
            self.settle()
        finally:
            if self._journal is not None:
                self._journal.close()
