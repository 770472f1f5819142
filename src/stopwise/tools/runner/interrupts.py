# SPDX-License-Identifier: Apache-2.0
"""Interrupts of a run: Ctrl-C once starts nothing new; twice, or SIGTERM, stops what runs."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Self

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_HANDLED = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))


class Interrupts:
    """A context that counts signals, and that can be waited for like a file.

    ``level`` is 0 while nobody has interrupted, 1 when running trials may finish, 2 when they are
    to be stopped. The third signal raises KeyboardInterrupt, in case something hangs.

    Args:
        announce: Called at once when the level has changed, whatever else is being done.
    """

    def __init__(self, announce: Callable[[], None] = lambda: None) -> None:
        self.level = 0
        self._announce = announce
        self.first: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._wake, self._write = os.pipe()
        for fd in (self._wake, self._write):
            os.set_blocking(fd, False)
        self._wakeup_before = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in _HANDLED:
            if signal.getsignal(number) != signal.SIG_IGN:  # nohup stays nohup
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._wakeup_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self._wake)
        os.close(self._write)

    def fileno(self) -> int:
        """Becomes readable at a signal."""
        return self._wake

    def clear(self) -> None:
        """Forget what made it readable."""
        try:
            os.read(self._wake, 512)
        except BlockingIOError:
            return

    def _note(self, number: int, _: FrameType | None) -> None:
        if self.level == 2 and self.first is not None:
            raise KeyboardInterrupt
        self.first = number if self.first is None else self.first
        self.level = self.level + 1 if number == signal.SIGINT else 2
        with suppress(RuntimeError):  # in the middle of writing: it is said a little later
            self._announce()
