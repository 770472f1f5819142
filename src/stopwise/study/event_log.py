# SPDX-License-Identifier: Apache-2.0
"""The event log of a study: each event is written to the journal, then applied to the state."""

from __future__ import annotations

import time

from stopwise.errors import InputError
from stopwise.record.events import Event
from stopwise.record.journal import Journal
from stopwise.record.state import State


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

    def commit(self, event: Event, began: float | None = None) -> None:
        """Write an event to disk, then apply it: so no event that was applied is ever lost.

        Args:
            event: The event.
            began: When the call that makes the event began, on the clock of ``perf_counter``.
        """
        if self._journal is not None:
            took = {} if began is None else {"seconds": time.perf_counter() - began}
            self._journal.append(event, at=time.time(), **took)
        self.state.apply(event)

    def check_writable(self) -> None:
        """Refuse to change a study that was loaded only to be looked at."""
        if self._read_only:
            message = (
                "this study was loaded to be looked at: Study.resume(path) goes on with a journal."
            )
            raise InputError(message)

    def close(self) -> None:
        """Close the journal, so that another study may go on with it."""
        if self._journal is not None:
            self._journal.close()
