# SPDX-License-Identifier: Apache-2.0
"""The supervisor as a program of its own: what it says of each end, and what it leaves running.

The runner starts it without site packages; here it is started with them, so that coverage counts.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from stopwise.tools.runner import supervisor
from tests.support.processes import is_gone, parent_of, state_of

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
SLEEP = "echo $$ > program; exec sleep 600"


class Supervised:
    """A shell command under a supervisor, with our ends of the two pipes."""

    def __init__(self, folder, *command, timeout=0.0):
        self.folder = folder
        life, self.life = os.pipe()
        self.status, status = os.pipe()
        self.process = subprocess.Popen(
            [
                *(sys.executable, supervisor.__file__, str(life), str(status), repr(timeout)),
                *command,
            ],
            cwd=folder,
            pass_fds=(life, status),
            start_new_session=True,
        )
        os.close(life)
        os.close(status)

    def pid(self, name="program"):
        """The process that has written its number to a file."""
        path, deadline = self.folder / name, time.monotonic() + 20
        while not (path.exists() and path.read_text().endswith("\n")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return int(path.read_text())

    def end(self):
        """What it said, once it is gone."""
        said = b""
        while chunk := os.read(self.status, 4096):
            said += chunk
        self.process.wait(timeout=20)
        return [json.loads(line) for line in said.splitlines()]


@pytest.fixture
def supervised(tmp_path):
    made = []

    def make(*command, timeout=0.0):
        made.append(Supervised(tmp_path, *command, timeout=timeout))
        return made[-1]

    yield make
    for one in made:
        if one.life is not None:
            os.close(one.life)
        os.close(one.status)
        one.process.wait(timeout=20)


@pytest.mark.parametrize(("command", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", -9)])
def test_an_end_is_told_with_its_code(supervised, command, code):
    [said] = supervised("sh", "-c", command).end()
    assert (said["exit"], said["why"]) == (code, "ended")
    assert 0.0 < said["seconds"] < 20.0


def test_a_program_that_is_not_there_is_said_to_be_so(supervised):
    error, ended = supervised("./no-such-program").end()
    assert error == {"error": "No such file or directory"}
    assert ended["exit"] == 127


@LINUX
def test_what_a_program_leaves_behind_is_killed(supervised):
    one = supervised("sh", "-c", "(echo $$; setsid sleep 600) & echo $! > program; exit 0")
    [said] = one.end()
    assert said["why"] == "ended"
    assert is_gone(one.pid())


def test_a_timeout_is_kept(supervised):
    one = supervised("sh", "-c", SLEEP, timeout=0.4)
    [said] = one.end()
    assert (said["exit"], said["why"]) == (-signal.SIGTERM, "timeout")
    assert said["seconds"] >= 0.4


@pytest.mark.parametrize("deaf", [False, True])
def test_a_byte_stops_the_program_and_a_deaf_one_is_killed(supervised, deaf):
    code = 'trap "" TERM; echo $$ > program; while :; do sleep 0.05; done' if deaf else SLEEP
    one = supervised("sh", "-c", code)
    program = one.pid()
    os.write(one.life, b"x")
    [said] = one.end()
    assert (said["exit"], said["why"]) == (-9 if deaf else -15, "stopped")
    assert (said["seconds"] > supervisor.GRACE) == deaf
    assert is_gone(program)


@pytest.mark.parametrize("late", [False, True])
def test_a_program_whose_runner_dies_is_killed_at_once(supervised, late):
    """Also where it dies while a program that does not listen has time to tidy up."""
    one = supervised("sh", "-c", 'trap "" TERM; echo $$ > program; while :; do sleep 0.05; done')
    program = one.pid()
    if late:
        os.write(one.life, b"x")
        time.sleep(0.1)
    os.close(one.life)
    one.life = None
    [said] = one.end()
    assert (said["exit"], said["why"]) == (-9, "stopped" if late else "orphaned")
    assert said["seconds"] < supervisor.GRACE
    assert is_gone(program)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_guard_ends_the_program(supervised, number):
    one = supervised("sh", "-c", SLEEP)
    one.pid()
    one.process.send_signal(number)
    [said] = one.end()
    assert (said["exit"], said["why"]) == (-15, "terminated")


@LINUX
@pytest.mark.parametrize("whom", ["guard", "supervisor"])
def test_if_one_of_the_two_is_killed_the_other_kills_the_program(supervised, whom):
    one = supervised("sh", "-c", SLEEP)
    program = one.pid()
    os.kill(one.process.pid if whom == "guard" else parent_of(program), signal.SIGKILL)
    assert [said["why"] for said in one.end()] == (["lost"] if whom == "guard" else [])
    assert is_gone(program)


# ------------------------------------------------------------------------ paused

COUNT = "echo $$ > program; trap 'exit 7' TERM; while :; do echo x >> ticks; sleep 0.05; done"


def ticks(one):
    path = one.folder / "ticks"
    return len(path.read_text()) if path.exists() else 0


def stands_still(one):
    """Whether nothing is written for a while."""
    time.sleep(0.15)  # what was being written
    before = ticks(one)
    time.sleep(0.3)
    return ticks(one) == before


def test_a_program_is_paused_and_goes_on_and_its_pause_is_not_counted(supervised):
    one = supervised("sh", "-c", COUNT, timeout=1.0)
    one.pid()
    os.write(one.life, supervisor.PAUSE)
    assert stands_still(one)
    time.sleep(1.0)  # longer than the timeout, which does not run
    at = ticks(one)
    os.write(one.life, supervisor.PAUSE)  # twice is once
    os.write(one.life, supervisor.GO_ON)
    [said] = one.end()
    assert said["why"] == "timeout"
    assert said["exit"] == 7
    assert 1.0 <= said["seconds"] < 3.0
    assert ticks(one) > at


def test_a_paused_program_that_is_ended_hears_of_it(supervised):
    one = supervised("sh", "-c", COUNT)
    pid = one.pid()
    os.write(one.life, supervisor.PAUSE)
    assert stands_still(one)
    os.write(one.life, supervisor.END)
    [said] = one.end()
    assert (said["why"], said["exit"]) == ("stopped", 7)
    assert is_gone(pid)


@LINUX
def test_a_paused_program_and_what_it_started_die_with_the_runner(supervised):
    one = supervised("sh", "-c", f"setsid sh -c 'echo $$ > child; exec sleep 600' & {COUNT}")
    pid, child = one.pid(), one.pid("child")
    os.write(one.life, supervisor.PAUSE)
    assert stands_still(one)
    assert state_of(child) == "T"  # it has left the group, and is paused too
    os.close(one.life)
    one.life = None
    one.end()
    assert is_gone(pid)
    assert is_gone(child)


@LINUX
@pytest.mark.parametrize("whom", ["guard", "supervisor"])
def test_a_paused_program_dies_with_its_supervisor(supervised, whom):
    one = supervised("sh", "-c", COUNT)
    pid = one.pid()
    os.write(one.life, supervisor.PAUSE)
    assert stands_still(one)
    os.kill(one.process.pid if whom == "guard" else parent_of(pid), signal.SIGKILL)
    one.end()
    assert is_gone(pid)


def test_an_end_just_after_another_signal_was_seen_is_not_missed(monkeypatch):
    """Pausing a program is a SIGCHLD too; the program ends between two looks at its children."""
    (life, _), (guard, _), (wake, signals) = (os.pipe() for _ in range(3))

    def reap(program, looks=[]):  # noqa: B006  what it has seen so far
        looks.append(program)
        if len(looks) > 1:
            return 0
        os.write(signals, bytes([signal.SIGCHLD]))  # it ends right after this look
        return None

    def ready_now(read, write, failed, _):
        ready = select.select(read, write, failed, 0.0)
        assert any(ready), "it would wait for ever"
        return ready

    monkeypatch.setattr(supervisor, "_reap", reap)
    monkeypatch.setattr(supervisor, "select", SimpleNamespace(select=ready_now))
    os.write(signals, bytes([signal.SIGCHLD]))
    pipes = supervisor._Pipes(life, -1, guard, -1)
    assert supervisor._watch(1, pipes, wake, supervisor._Clock(0.0)) == (0, "ended")
