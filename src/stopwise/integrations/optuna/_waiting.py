# SPDX-License-Identifier: Apache-2.0
"""Waiting for other workers: seldom looks, and signs of life of those who are waited for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 30.0  # seconds without a sign of life, after which a worker counts as dead
LONGEST = 3600.0  # seconds to wait for one that lives
_LOOKS = 0.1  # part of the time that is spent looking, at most
_LATE = 0.5  # how much later something is noticed, as a part of the time waited for it
_SHORTEST, _LONG = 0.004, 1.0  # seconds between two looks


def until(patience: float) -> Iterator[None]:
    """Yield at once, and again after pauses that grow, until the patience is over.

    A look at a slow storage is followed by a long pause, and the longer one has waited the less a
    further moment matters.
    """
    begin = time.monotonic()
    while True:  # at most until the patience is over
        look = time.monotonic()
        yield
        now = time.monotonic()
        if now - begin > patience:
            return
        pause = max((1.0 / _LOOKS - 1.0) * (now - look), _LATE * (now - begin))
        time.sleep(min(max(pause, _SHORTEST), _LONG))


@contextmanager
def signs_of_life(sign: Callable[[], None]) -> Iterator[None]:
    """Call ``sign`` again and again from another thread, while others wait for this worker.

    A fit to thousands of trials takes longer than their patience.
    """
    done, interval = threading.Event(), PATIENCE / 3.0

    def live() -> None:
        while not done.wait(interval):
            sign()

    thread = threading.Thread(target=live, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
