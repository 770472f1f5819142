# SPDX-License-Identifier: Apache-2.0
"""``stopwise run``, interrupted in every way, and run again: nothing is lost."""

import contextlib
import json
import os
import pty
import random
import select
import shutil
import signal
import subprocess
import sys
import time

import pytest

import stopwise as sw
from tests.support.commands import stopwise
from tests.support.processes import written
from tests.support.repository import ROOT, SUPPORT
from tests.support.screen import screen

TRAINER = SUPPORT / "trainer.py"

TUNE = """\
command = ["{python}", "trainer.py"]
max_trials = 8
[parameters]
lr = { type = "real", low = 0.01, high = 1.0, log = true }
steps = { type = "integer", low = 5, high = 60 }
[value]
key = "loss"
[cost]
kind = "none"
[worth]
improvement = 1e-6
cost = 1
[search]
surrogate = "plain"
"""


@pytest.fixture
def folder(tmp_path):
    shutil.copy(TRAINER, tmp_path)
    (tmp_path / "tune.toml").write_text(TUNE, encoding="utf-8")
    return tmp_path


def changed(folder, old, new):
    path = folder / "tune.toml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def begun(folder, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "stopwise.tools.cli", "run", "tune.toml", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder, *arguments):
    """A run to its end, in this process."""
    return stopwise("run", folder / "tune.toml", *arguments)


def heard(process, *words):
    """Read lines until one has all these words."""
    for line in process.stdout:
        if all(word in line for word in words):
            return line
    pytest.fail(f"{words} was never said: {process.stderr.read()}")


def history_of(folder):
    study = sw.Study.load(folder / "tune.jsonl")
    return [(o.number, dict(o.params), o.value) for o in study.history], study.pending


def test_the_example_runs(tmp_path):
    for name in ("tune.toml", "train.py"):
        shutil.copy(ROOT / "examples" / name, tmp_path)
    code, out, err = run(tmp_path)
    assert (code, err) == (0, ""), out
    assert "Best: rmse 0.1" in out
    assert "No choice of the model" not in out
    assert out.rstrip().endswith("stop.")
    assert (tmp_path / "tune.jsonl").exists()
    assert "rmse" in (tmp_path / "tune.trials" / "0000" / "stdout").read_text()


def test_run_again_after_the_end_says_so_and_starts_nothing(folder):
    assert run(folder)[0] == 0
    before = history_of(folder)
    code, out, _ = run(folder)
    assert code == 0
    assert "Going on with tune.jsonl: 8 trials told, 0 without answer." in out
    assert " started: " not in out
    assert history_of(folder) == before


def test_caps_and_prices_may_change_and_what_changed_is_said_once(folder):
    run(folder)
    changed(folder, "max_trials = 8", "max_trials = 9\ntimeout = 60")
    changed(folder, "cost = 1", "cost = 2")
    _, out, _ = run(folder, "--check")
    assert "changed since: max_trials was 8 and is 9" in out
    code, out, _ = run(folder)
    assert code == 0
    assert "changed since the last run: max_trials was 8 and is 9" in out
    assert "changed since the last run: timeout is new: 60" in out
    assert "changed since the last run: worth.cost was 1 and is 2" in out
    assert len(history_of(folder)[0]) == 9
    assert "changed since" not in run(folder)[1]  # said once


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("high = 1.0", "high = 2.0", "parameters.lr.high was 1.0 and is 2.0"),
        ('key = "loss"', 'key = "paid"', "value.key"),
        ('"none"', '"seconds"', "cost.kind"),
        ("[cost]", 'direction = "maximize"\n[cost]', "value.direction is new"),
    ],
)
@pytest.mark.parametrize("arguments", [(), ("--check",)])
def test_what_may_not_change_is_refused(folder, old, new, says, arguments):
    changed(folder, "max_trials = 8", "max_trials = 1")
    run(folder)
    before = (folder / "tune.jsonl").read_bytes()
    changed(folder, old, new)
    code, _, err = run(folder, *arguments)
    assert code == 2
    assert says in err
    assert "copy the file to another name" in err
    assert "Traceback" not in err
    assert (folder / "tune.jsonl").read_bytes() == before


def test_a_wrong_key_of_the_value_is_corrected_before_anything_was_measured(folder):
    changed(folder, 'key = "loss"', 'key = "lost"')
    changed(folder, "max_trials = 8", "max_trials = 2")
    code, out, _ = run(folder)  # its two trials print no "lost"
    assert code == 3
    assert "No trial has succeeded." in out
    changed(folder, 'key = "lost"', 'key = "loss"')
    code, _, err = run(folder)  # what failed would teach where evaluations fail
    assert code == 2
    assert 'value.key was "lost" and is "loss"' in err
    assert "No value is on record there, so nothing is lost by beginning afresh: remove" in err
    assert "remove tune.jsonl and run again." in err
    (folder / "tune.jsonl").unlink()
    assert run(folder)[0] == 0
    assert [o.value is None for o in sw.Study.load(folder / "tune.jsonl").history] == [False] * 2


def test_a_key_may_change_while_no_trial_has_ended(folder):
    changed(folder, 'key = "loss"', 'key = "lost"')
    changed(folder, "max_trials = 8", "max_trials = 1")
    sw.Study(  # as a run leaves it that was interrupted in its first trial
        {"lr": sw.Real(0.01, 1.0, log=True), "steps": sw.Integer(5, 60)},
        lam=1e-6,
        max_trials=1,
        journal=folder / "tune.jsonl",
        value_name="lost",
        surrogate="plain",
    ).ask()
    (folder / "tune.trials").mkdir()
    shutil.copy(folder / "tune.toml", folder / "tune.trials")
    changed(folder, 'key = "lost"', 'key = "loss"')
    code, out, _ = run(folder)
    assert code == 0
    assert 'changed since the last run: value.key was "lost" and is "loss"' in out
    assert "Best: loss " in out


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("high = 1.0", "high = 2.0", "'lr' was"),
        ("lr =", "rate =", "'rate' was None"),
        ("[cost]", 'direction = "maximize"\n[cost]', "direction was"),
        ('"none"', '"seconds"', "cost was None"),
    ],
)
def test_the_journal_itself_is_compared_too(folder, old, new, says):
    changed(folder, "max_trials = 8", "max_trials = 1")
    run(folder)
    (folder / "tune.trials" / "tune.toml").unlink()
    changed(folder, old, new)
    code, _, err = run(folder)
    assert code == 2
    assert says in err


def test_too_many_failures_end_the_run_with_exit_code_3(folder):
    changed(folder, '"trainer.py"', '"trainer.py", "--no-such-option"')
    code, out, _ = run(folder)
    assert code == 3
    assert "5 trials in a row failed" in out
    assert "No value is on record yet: once the program, [value] or [limits] is mended," in out
    changed(folder, ', "--no-such-option"', "")  # repaired: the run goes on
    assert run(folder)[0] == 0


def test_a_run_that_stops_after_its_design_says_so(folder):
    changed(folder, "max_trials = 8", "max_trials = 1")
    code, out, _ = run(folder)
    assert code == 0
    assert "No choice of the model was tried yet: this verdict rests on 1 evaluation that" in out


def test_a_run_in_which_every_trial_failed(folder):
    changed(folder, '"trainer.py"', '"trainer.py", "--no-such-option"')
    changed(folder, "max_trials = 8", "max_trials = 2")
    for _ in range(2):  # the second run begins no trial, and answers the same
        code, out, err = run(folder)
        assert code == 3
        assert "No trial has succeeded." in out
        assert err.startswith("stopwise: all 2 trials have failed; the first said: exit code 2")
        assert err.count("\n") == 1
    changed(folder, ', "--no-such-option"', "")
    changed(folder, "max_trials = 2", "max_trials = 3")
    assert run(folder)[::2] == (0, "")  # one has succeeded


def test_a_program_that_is_not_there_starts_nothing(folder):
    changed(folder, '"{python}"', '"./gone"')
    code, _, err = run(folder)
    assert code == 2
    assert "the program './gone' is not an executable file" in err
    assert not (folder / "tune.jsonl").exists()


def test_a_second_run_of_the_same_file_is_refused(folder):
    changed(folder, '"trainer.py"', '"trainer.py", "--hang-once"')
    first = begun(folder)
    heard(first, " started: ")
    code, _, err = run(folder)
    assert code == 1
    assert "tune.jsonl" in err
    assert "Traceback" not in err
    first.send_signal(signal.SIGTERM)
    first.communicate(timeout=60)


def test_a_folder_that_cannot_be_written_is_one_message(folder):
    if os.geteuid() == 0:
        (folder / "tune.trials").write_text("a file where the folder should be")
    else:
        folder.chmod(0o500)
    code, _, err = run(folder)
    folder.chmod(0o700)
    assert code == 1
    assert err.startswith("stopwise: ")
    assert "Traceback" not in err


# ------------------------------------------------------------------------ interruptions


def test_after_one_interrupt_the_running_trial_finishes_and_a_second_run_goes_on(folder):
    process = begun(folder)
    heard(process, "trial 2 started")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "may finish" in out
    assert "Go on with: stopwise run tune.toml" in out
    told, pending = history_of(folder)
    assert [number for number, *_ in told] == [0, 1, 2]
    assert pending == ()
    assert run(folder)[0] == 0
    assert len(history_of(folder)[0]) == 8


@pytest.mark.parametrize("signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)])
def test_a_trial_that_was_stopped_is_run_again_with_the_same_parameters(folder, signals):
    changed(folder, '"trainer.py"', '"trainer.py", "--hang-once"')
    process = begun(folder)
    heard(process, "trial 0 started")
    written(folder / "grandchild.pid")
    for number in signals:
        process.send_signal(number)
        time.sleep(0.2)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signals[0]
    _, [open_one] = history_of(folder)
    code, out, _ = run(folder)
    assert code == 0
    assert "0 trials told, 1 without answer" in out
    told, pending = history_of(folder)
    assert pending == ()
    assert told[0][:2] == (0, dict(open_one.params))
    assert len(told) == 8
    params = [json.loads((folder / "tune.trials" / name / "params.json").read_text())
              for name in ("0000", "0000-2")]  # fmt: skip
    assert params[0] == params[1]


def test_ctrl_c_in_a_terminal_lets_the_running_program_finish(folder):
    """Ctrl-C in a real terminal reaches the run and not its programs, which have no terminal."""
    program = """
import json, os, time
try:
    has_terminal = bool(os.open("/dev/tty", os.O_RDWR))
except OSError:
    has_terminal = False
time.sleep(1.0)
print(json.dumps({"loss": float(has_terminal)}))
"""
    (folder / "trainer.py").write_text(program)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        command = [sys.executable, "-m", "stopwise.tools.cli", "run", "tune.toml"]
        os.execv(sys.executable, command)  # noqa: S606  no shell on purpose
    said, interrupted = b"", False
    with contextlib.suppress(OSError):  # how a terminal says that its other side is gone
        while True:
            if select.select([terminal], [], [], 0.05)[0]:
                said += os.read(terminal, 4096)
            if not interrupted and (folder / "tune.trials" / "0001" / "stdout").exists():
                interrupted = bool(os.write(terminal, b"\x03"))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    os.close(terminal)
    told, pending = history_of(folder)
    assert [value for *_, value in told] == [0.0, 0.0]
    assert pending == ()
    seen = said.decode()
    shown = screen(seen[: seen.index("them.") + 5])
    assert shown[-1].startswith(" Ctrl-C  no new trials; 1 running may finish")
    assert shown[-2].startswith("running  trial 1 (")
    left = screen(seen)  # no line of an earlier picture, and no word of what is over
    assert [line for line in left if line.startswith(" trials")] == [" trials  2 of at most 8"]
    assert not [line for line in left if "Ctrl-C" in line or "running" in line]
    assert left[-3:-1] == ["Why it ended: interrupted.", "Go on with: stopwise run tune.toml"]


@pytest.mark.parametrize(
    ("kills", "trials"), [(3, 8), pytest.param(40, 40, marks=pytest.mark.slow)]
)
def test_killed_at_random_moments_it_comes_to_the_same_end(
    folder, tmp_path_factory, kills, trials
):
    """Nothing told is lost, and what is chosen afterwards is what would have been chosen."""
    changed(folder, "max_trials = 8", f"max_trials = {trials}")
    alone = tmp_path_factory.mktemp("alone")
    for name in ("tune.toml", "trainer.py"):
        shutil.copy(folder / name, alone)
    assert run(alone)[0] == 0
    rng = random.Random(0)  # noqa: S311  moments, not secrets
    told, killed = [], 0
    for _ in range(kills):
        process = begun(folder)
        process.stdout.readline()
        time.sleep(rng.uniform(0, 0.6))
        process.kill()
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        now, _ = history_of(folder)
        assert now[: len(told)] == told
        told = now
    assert killed > kills / 2
    assert run(folder)[0] == 0
    assert history_of(folder) == history_of(alone)


def test_killed_with_several_workers_every_trial_is_answered_once(folder):
    changed(folder, "max_trials = 8", "max_trials = 8\nworkers = 3")
    process = begun(folder)
    heard(process, "trial 5 started")
    process.kill()
    process.communicate()
    assert run(folder)[0] == 0
    told, pending = history_of(folder)
    assert sorted(number for number, *_ in told) == list(range(8))
    assert pending == ()
