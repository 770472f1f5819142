# SPDX-License-Identifier: Apache-2.0
"""Processes that tests have started: whether they live, and the files that they write."""

import os
import signal
import time
from pathlib import Path


def _state_and_parent(pid):
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[:2]


def state_of(pid):
    """The letter of a process's state: R, S, T (stopped), Z (dead, and not collected), ..."""
    return _state_and_parent(pid)[0]


def parent_of(pid):
    """The number of a process's parent."""
    return int(_state_and_parent(pid)[1])


def is_alive(pid):
    """Whether a process is there; one that is dead and not collected yet is not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return state_of(pid) != "Z"
    except OSError:  # it has gone meanwhile, or there is no /proc
        return not Path("/proc").exists()


def is_gone(pid, patience=10.0):
    """Whether a process ends within so many seconds; one that does not is killed."""
    deadline = time.monotonic() + patience
    while is_alive(pid):
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            return False
        time.sleep(0.01)
    return True


def written(path, patience=30.0):
    """What stands in a file, once something does."""
    deadline = time.monotonic() + patience
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < deadline, f"{path} was never written"
        time.sleep(0.01)
    return path.read_text()
