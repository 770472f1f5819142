# SPDX-License-Identifier: Apache-2.0
"""One program: what it gets, what is kept of it, and that nothing of it outlives its trial."""

import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

from stopwise.tools.runner import load
from stopwise.tools.runner.process import start
from stopwise.tools.runner.program_result import last_line, read_result
from tests.support.processes import is_alive, is_gone, written
from tests.support.programs import TIDYING, ended, with_child

TOP = """
{top}
timeout = {timeout}
pass = "{channel}"
command = ["{{python}}", "-c", {code}]
budget = 9
[parameters]
x = {{ type = "real", low = 0, high = 1 }}
{rest}
"""


@pytest.fixture
def configured(tmp_path):
    def make(code, *, timeout=60, channel="arguments", top="", rest=""):
        code = code.replace("{", "{{").replace("}", "}}")
        path = tmp_path / "tune.toml"
        text = TOP.format(
            code=json.dumps(code), top=top, timeout=timeout, channel=channel, rest=rest
        )
        path.write_text(text, encoding="utf-8")
        return load(path)

    return make


def ran(config, x=0.25):
    running = start(config, 7, {"x": x})
    end = ended(running)
    return end, read_result(config, running, end), running.folder


# ------------------------------------------------------------------------ what it gets

LOOK = """
import json, os, sys
try:
    os.close(os.open("/dev/tty", os.O_RDWR))
    tty = True
except OSError:
    tty = False
print(json.dumps({
    "argv": sys.argv[1:], "stdin": sys.stdin.read(), "tty": tty, "cwd": os.getcwd(),
    "leader": os.getpgrp() == os.getpid(), "session": os.getsid(0),
    "fds": sorted(int(n) for n in os.listdir("/dev/fd"))[:-1],
    "x": os.environ.get("x"), "folder": os.environ["STOPWISE_TRIAL_FOLDER"],
    "own": os.environ.get("OWN"), "value": 1.0,
}))
"""


@pytest.mark.parametrize("channel", ["arguments", "environment", "stdin"])
def test_what_a_program_gets(configured, channel, tmp_path):
    config = configured(LOOK, channel=channel, rest='[environment]\nOWN = "1"')
    _, found, folder = ran(config)
    assert found.value == 1.0
    seen = json.loads(last_line(folder / "stdout"))
    assert seen["argv"] == (["--x=0.25"] if channel == "arguments" else [])
    assert seen["x"] == ("0.25" if channel == "environment" else None)
    assert seen["stdin"] == ('{"x": 0.25}\n' if channel == "stdin" else "")
    assert seen["folder"] == str(folder) == str(tmp_path / "tune.trials" / "0007")
    assert seen["own"] == "1"
    assert Path(seen["cwd"]) == tmp_path.resolve()
    assert json.loads((folder / "params.json").read_text()) == {"x": 0.25}
    # No terminal: a session of its own, and no file descriptors besides the three.
    assert seen["tty"] is False
    assert seen["leader"]
    assert seen["session"] != os.getsid(0)
    assert seen["fds"] == [0, 1, 2]


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_signals_are_as_usual(configured):
    """Python ignores SIGPIPE; a program must not inherit that."""
    config = configured("", channel="environment")
    object.__setattr__(config, "command", ("grep", "SigIgn", "/proc/self/status"))
    _, _, folder = ran(config)
    ignored = int(last_line(folder / "stdout").split()[1], 16)
    ours = {signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGCHLD}
    assert {s for s in ours if ignored >> (s - 1) & 1} == set()


# ---------------------------------------------------------------------- what comes back


@pytest.mark.parametrize(
    ("code", "value", "says"),
    [
        ("print(0.5)", 0.5, ""),
        ('print("log"); print(); print("{\\"value\\": 2, \\"b\\": []}"); print()', 2.0, ""),
        ("", None, "nothing was printed"),
        ("print('done')", None, "not JSON: 'done'"),
        ('print("{\\"loss\\": 2}")', None, "no key 'value'; it has 'loss'"),
        ("print('NaN')", None, "'value' is nan"),
        ("print(10**400)", None, "'value' is inf"),
        ("print('true')", None, "no number: True"),
        ("print('[1]')", None, "no number: [1]; stopwise optimises one objective. Of several"),
        ("print(1); raise SystemExit(3)", None, "exit code 3"),
        ("print(1); raise SystemExit('no data')", None, "exit code 1: no data"),
        ("import os; print(1, flush=True); os.abort()", None, "killed by SIGABRT"),
        ("import sys; sys.stdout.buffer.write(b'\\xff\\n')", None, "not JSON"),
    ],
)
def test_what_a_program_prints_is_its_value_or_a_failure(configured, code, value, says):
    end, found, _ = ran(configured(code))
    assert found.value == value
    assert says in found.message
    assert bool(found.message) == (value is None)
    assert found.cost == end.seconds > 0


@pytest.mark.parametrize(
    ("printed", "value", "cost"),
    [
        ('{"value": 1, "cost": 3}', 1.0, 3.0),
        ('{"value": null, "cost": 3}', None, 3.0),
        ('{"value": 1}', None, None),
        ('{"value": 1, "cost": -3}', None, None),
        ("1", None, None),
    ],
)
def test_a_cost_is_read_beside_the_value(configured, printed, value, cost):
    config = configured(f"print({json.dumps(printed)})", rest='[cost]\nkind = "reported"')
    _, found, _ = ran(config)
    assert (found.value, found.cost) == (value, cost)
    assert bool(found.message) == (value is None)


def test_time_is_priced_by_the_hour(configured):
    end, found, _ = ran(configured("print(1)", rest="[cost]\nprice_per_hour = 7200"))
    assert found.cost == pytest.approx(2 * end.seconds)


def test_of_a_program_without_costs_none_is_read(configured):
    assert ran(configured("print(1)", rest='[cost]\nkind = "none"'))[1].cost is None


WRITE = "import os; open(os.environ['STOPWISE_TRIAL_FOLDER'] + '/r.json', 'w').write('3.5')"


def test_a_value_from_a_file(configured):
    config = configured(WRITE, rest='[value]\nfile = "{trial_folder}/r.json"')
    assert ran(config)[1].value == 3.5


def test_a_folder_for_each_trial(configured, tmp_path):
    config = configured(
        "open('r.json', 'w').write('3.5')",
        rest='[value]\nfile = "r.json"',
        top='directory = "{trial_folder}"\nworkers = 2',
    )
    assert ran(config)[1].value == 3.5
    assert (tmp_path / "tune.trials" / "0007" / "r.json").exists()


def test_a_file_from_before_is_no_value(configured, tmp_path):
    (tmp_path / "r.json").write_text("1.0")
    config = configured("print(1)", rest='[value]\nfile = "r.json"')
    _, found, _ = ran(config)
    assert found.value is None
    assert "without writing" in found.message
    assert (tmp_path / "r.json").read_text() == "1.0"


def test_output_of_every_start_is_kept(configured):
    config = configured("print(1)")
    assert [ran(config)[2].name for _ in range(3)] == ["0007", "0007-2", "0007-3"]


def test_a_flood_fills_the_disk_and_not_the_memory(configured):
    code = "for _ in range(640): print('x' * 99999)\nprint('y' * 3000000)\nprint(1)"
    config = configured(code)
    tracemalloc.start()
    try:
        _, found, folder = ran(config)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.value == 1.0
    assert (folder / "stdout").stat().st_size > 60e6
    assert most < 10e6


def test_a_program_that_cannot_be_started_is_said_to_be_so(configured):
    config = configured("")
    object.__setattr__(config, "command", ("./no-such-program",))
    end = ended(start(config, 0, {"x": 1.0}))
    assert (end.why, end.message) == ("unstartable", "No such file or directory")


# ------------------------------------------------------------------- nothing outlives it

HOWS = [
    "near",
    pytest.param(
        "away", marks=pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")
    ),
]


@pytest.mark.parametrize("how", HOWS)
def test_what_a_program_leaves_behind_is_killed(configured, how, tmp_path):
    end, found, _ = ran(configured(with_child(how, "print(1)")))
    assert (end.why, found.value) == ("ended", 1.0)
    assert end.seconds < 30
    assert is_gone(int((tmp_path / "grandchild").read_text()))


@pytest.mark.parametrize("how", HOWS)
def test_a_timeout_kills_everything(configured, how, tmp_path):
    code = "print(1, flush=True)\n" + with_child(how, "time.sleep(600)")
    begin = time.monotonic()
    end, found, _ = ran(configured(code, timeout=1.5))
    assert time.monotonic() - begin < 15
    assert (end.why, found.value, found.retriable) == ("timeout", None, False)
    assert "timeout = 1.5" in found.message
    assert 1.5 <= found.cost < 15
    assert is_gone(int((tmp_path / "grandchild").read_text()))


def test_a_stopped_program_may_tidy_up(configured, tmp_path):
    running = start(configured(TIDYING), 0, {"x": 1.0})
    written(tmp_path / "ready")
    running.stop()
    assert ended(running).why == "stopped"
    assert (tmp_path / "tidied").exists()


RUNNER = """
import sys, time
from pathlib import Path
from stopwise.tools.runner import load
from stopwise.tools.runner.process import start
start(load(Path(sys.argv[1])), 0, {"x": 1.0})
time.sleep(600)
"""


@pytest.mark.parametrize("how", HOWS)
def test_nothing_survives_a_runner_that_is_killed(configured, how, tmp_path):
    config = configured(with_child(how, "time.sleep(600)"))
    runner = subprocess.Popen([sys.executable, "-c", RUNNER, str(config.path)])
    grandchild = int(written(tmp_path / "grandchild"))
    assert is_alive(grandchild)
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    assert is_gone(grandchild)
