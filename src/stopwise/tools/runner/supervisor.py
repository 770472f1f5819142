# SPDX-License-Identifier: Apache-2.0
"""The supervisor of one program: no process of the program outlives its trial.

It is a script that needs the standard library only; the runner starts it in a new session:

    python supervisor.py LIFE STATUS TIMEOUT PROGRAM [ARGUMENT ...]

LIFE is the reading end of a pipe. Whoever holds the other end may write a byte to have the
program ended, paused (SIGSTOP) or continued (SIGCONT); when it closes, which it does however the
runner dies, everything is killed at once, paused or not. STATUS is the writing end of a pipe for
one JSON line about how it ended. TIMEOUT is in seconds that the program runs, pauses not counted;
0 means none.

There are two processes, a guard and its child, the supervisor, whose child is the program. If one
of the two is killed (SIGKILL), the other one kills the program and what it has started, and the
trial counts as lost. If both are killed at once, on Linux the program still dies
(PR_SET_PDEATHSIG), but not what it has started.

The program gets a process group of its own. On Linux its orphans come to the supervisor or the
guard (PR_SET_CHILD_SUBREAPER), which therefore find every descendant. Elsewhere, on macOS too, the
process group is what is killed: a process that has left it survives.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable

END, PAUSE, GO_ON = b"x", b"p", b"c"  # what may be written to LIFE
GRACE = 2.0  # seconds between SIGTERM and SIGKILL
_PATIENCE = 5.0  # seconds for killed processes to be gone; one in a system call may need them
_LONGEST = 3600.0  # seconds of one wait; select refuses very long ones
_ENDING = (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM))
_LINUX = sys.platform == "linux"
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h


def main(life: int, status: int, timeout: float, command: list[str]) -> None:
    """Guard a supervisor: if it is killed, kill the program and what it has started."""
    for fd in (life, status):
        os.set_inheritable(fd, False)  # noqa: FBT003  os has no keyword for it
    prctl = _prctl()
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    guard, guard_of_us = os.pipe()  # closes when the guard dies
    program_of_it, program = os.pipe()  # tells the guard which process group to kill
    supervisor = os.fork()
    if supervisor == 0:
        os.close(guard_of_us)
        os.close(program_of_it)
        os.setpgid(0, 0)  # whoever kills the group of the guard does not kill both
        _supervise(command, timeout, _Pipes(life, status, guard, program), prctl)
        return
    for number in _ENDING:
        signal.signal(number, lambda number, _: _signal(supervisor, number))
    for fd in (life, status, guard, program):
        os.close(fd)
    _, ended = os.waitpid(supervisor, 0)
    if ended != 0:
        group = os.read(program_of_it, 20)
        _kill_rest(int(group) if group else None)


class _Pipes:
    """The ends of pipes that the supervisor holds."""

    def __init__(self, life: int, status: int, guard: int, program: int) -> None:
        self.life, self.status, self.guard, self.program = life, status, guard, program


class _Clock:
    """The seconds that a program runs: the clock stands still while it is paused.

    Args:
        timeout: Seconds that it may run; 0 means no limit.
    """

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.before = 0.0  # seconds, before the last pause
        self.since: float | None = time.monotonic()  # None while it is paused

    def seconds(self) -> float:
        return self.before + (0.0 if self.since is None else time.monotonic() - self.since)

    def pause(self) -> None:
        self.before, self.since = self.seconds(), None

    def go_on(self) -> None:
        self.since = time.monotonic() if self.since is None else self.since

    def left(self) -> float | None:
        """Seconds until the timeout; None if there is none or the clock stands still."""
        if not self.timeout or self.since is None:
            return None
        return max(self.timeout - self.seconds(), 0.0)


def _supervise(
    command: list[str], timeout: float, pipes: _Pipes, prctl: Callable[[int, int], None]
) -> None:
    """Run the program to its end, and write to the status pipe how it ended."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    wake = _woken_by(signal.SIGCHLD, *_ENDING)
    clock = _Clock(timeout)
    program = os.fork()
    if program == 0:
        _become(command, pipes.status, prctl)
    os.write(pipes.program, str(program).encode())
    with contextlib.suppress(OSError):  # the program does the same; either may come first
        os.setpgid(program, program)
    ended, why = _watch(program, pipes, wake, clock)
    if ended is None:
        ended = _stop(program, pipes.life, clock, at_once=why in ("orphaned", "lost"))
    seconds = clock.seconds()
    _kill_rest(program)
    line = json.dumps({"exit": ended, "seconds": seconds, "why": why}) + "\n"
    with contextlib.suppress(BrokenPipeError):
        os.write(pipes.status, line.encode())


def _become(command: list[str], status: int, prctl: Callable[[int, int], None]) -> None:
    """In the child: execute the program, or report why that is not possible."""
    try:
        os.setpgid(0, 0)
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, *_ENDING):
            signal.signal(number, signal.SIG_DFL)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them; programs do not
            signal.signal(number, signal.SIG_DFL)
        os.execvp(command[0], command)  # noqa: S606  without a shell on purpose
    except OSError as error:
        os.write(status, (json.dumps({"error": error.strerror}) + "\n").encode())
    finally:
        os._exit(127)


def _watch(program: int, pipes: _Pipes, wake: int, clock: _Clock) -> tuple[int | None, str]:
    """Wait for the program's end, the deadline, a request to end, or the death of others.

    On the way it is paused and continued as requested.
    """
    while True:  # every pass waits for one of these
        left = clock.left()
        wait = None if left is None else min(left, _LONGEST)
        ready, _, _ = select.select([pipes.life, pipes.guard, wake], [], [], wait)
        # Signals are read before children are reaped: an end that comes after this is read in the
        # next pass. The other way round it could be read here, unnoticed, and waited for in vain.
        signals = os.read(wake, 512) if wake in ready else b""
        ended = _reap(program)
        if ended is not None:
            return ended, "ended"
        if pipes.life in ready:
            request = os.read(pipes.life, 1)
            if request not in (PAUSE, GO_ON):
                return None, "stopped" if request else "orphaned"
            _pause_or_go_on(program, clock, is_paused=request == PAUSE)
        if pipes.guard in ready:
            return None, "lost"
        if any(byte != signal.SIGCHLD for byte in signals):
            return None, "terminated"
        if clock.left() == 0.0:
            return None, "timeout"


def _pause_or_go_on(program: int, clock: _Clock, *, is_paused: bool) -> None:
    """Stop the program where it is, or continue it, with all that it has started."""
    if is_paused:
        clock.pause()
    number = signal.SIGSTOP if is_paused else signal.SIGCONT
    _signal_group(program, number)
    for pid in _descendants(os.getpid()):  # those that have left the group
        _signal(pid, number)
    if not is_paused:
        clock.go_on()


def _stop(program: int, life: int, clock: _Clock, *, at_once: bool) -> int:
    """End the program: SIGTERM, and SIGKILL when the grace is over or the runner is dead."""
    ended = None
    if not at_once:
        _signal_group(program, signal.SIGTERM)
        if clock.since is None:  # it is paused, and hears of SIGTERM when it goes on
            _pause_or_go_on(program, clock, is_paused=False)
        deadline = time.monotonic() + GRACE
        while ended is None and time.monotonic() < deadline:
            ready, _, _ = select.select([life], [], [], 0.02)
            if ready and not os.read(life, 1):
                break
            ended = _reap(program)
    if ended is None:
        _signal_group(program, signal.SIGKILL)
        ended = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
    return ended


def _kill_rest(program: int | None) -> None:
    """Kill the processes that the program has left behind, until none is left."""
    deadline = time.monotonic() + _PATIENCE
    if program is not None:
        _signal_group(program, signal.SIGKILL)
    while time.monotonic() < deadline:
        for pid in _descendants(os.getpid()):
            _signal(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:  # one for each child that has ended
                pass
        except ChildProcessError:
            return  # no child is left; on Linux, no descendant either
        time.sleep(0.005)


def _reap(program: int) -> int | None:
    """The program's exit code if it has ended; orphans that ended are reaped on the way."""
    while True:  # ends when no more children have ended
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 127  # it was reaped elsewhere, which should not happen and must not hang
        if pid == program:
            return os.waitstatus_to_exitcode(status)
        if pid == 0:
            return None


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _descendants(ancestor: int) -> list[int]:
    """All descendants of a process; none but on Linux, where alone they are cheap to list."""
    if not _LINUX:
        return []
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208  pathlib loads slowly
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
            parent = int(file.read().rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(name))
    descendants, todo = [], [ancestor]
    while todo:  # processes are a tree: each is met once
        below = children.get(todo.pop(), [])
        descendants += below
        todo += below
    return descendants


def _woken_by(*numbers: signal.Signals) -> int:
    """A file descriptor that becomes readable at these signals, with their numbers."""
    wake, write = os.pipe()
    os.set_blocking(write, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    for number in numbers:
        signal.signal(number, lambda *_: None)
    return wake


def _prctl() -> Callable[[int, int], None]:
    """Linux's prctl, loaded before any fork; nothing elsewhere."""
    if not _LINUX:
        return lambda *_: None
    import ctypes

    function = ctypes.CDLL(None).prctl
    return lambda option, value: function(option, value, 0, 0, 0) and None


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:])
