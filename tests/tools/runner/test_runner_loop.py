# SPDX-License-Identifier: Apache-2.0
"""The loop around a real program that takes time, crashes, hangs once and floods its output."""

import contextlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from stopwise.errors import InputError
from stopwise.tools.runner import load, new_study, run_trials
from tests.support.processes import is_alive, parent_of, written
from tests.support.repository import SUPPORT

TRAINER = SUPPORT / "trainer.py"

TUNE = """
command = ["{{python}}", "trainer.py"{more}]
{top}
[parameters]
lr = {{ type = "real", low = 0.01, high = {high}, log = true }}
steps = {{ type = "integer", low = 5, high = 60 }}
[value]
key = "loss"
[worth]
improvement = 0.1
cost = 0.5
[search]
surrogate = "plain"
{search}
{rest}
"""


@pytest.fixture
def configured(tmp_path):
    def make(*more, top="", high=1.0, search="", rest=""):
        shutil.copy(TRAINER, tmp_path)
        path = tmp_path / "tune.toml"
        arguments = "".join(f', "{argument}"' for argument in more)
        text = TUNE.format(more=arguments, top=top, high=high, search=search, rest=rest)
        path.write_text(text, encoding="utf-8")
        return load(path)

    return make


def driven(config, on_change=lambda *_: None):
    study, lines = new_study(config), []

    def hear(study, line):
        lines.append(line)
        on_change(study, line)

    return run_trials(config, study, hear), study, lines


def children_of(pid):
    if sys.platform != "linux":
        pytest.skip("asks /proc")
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if parent_of(folder.name) == pid and is_alive(int(folder.name)):
                found.append(int(folder.name))
    return found


def supervisor():
    """Our child that supervises; other tests may have left children of other kinds."""
    [found] = [
        pid
        for pid in children_of(os.getpid())
        if "supervisor" in Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    ]
    return found


def test_a_run_to_its_end(configured, tmp_path):
    end, study, lines = driven(configured("--flood=2", top="workers = 2"))
    assert (end.why, end.signal) == ("verdict", 0)
    assert study.should_stop().rule == "pbgi"
    assert study.best.value < 0.05
    assert study.pending == ()
    # Costs are the seconds of the programs, which sleep two milliseconds a step at least.
    assert all(o.cost > 0.002 * o.params["steps"] for o in study.history)
    for observation in study.history:
        stdout = tmp_path / "tune.trials" / f"{observation.number:04}" / "stdout"
        assert stdout.stat().st_size > 2e6
    assert sum(line.startswith("trial ") for line in lines) == 2 * len(study.history)


def test_crashes_are_told_and_avoided(configured):
    end, study, lines = driven(configured(high=50.0, top="max_trials = 16"))
    failed = [o for o in study.history if o.failed]
    assert end.why == "verdict"
    assert failed
    assert all("FloatingPointError: diverged" in o.message and o.cost > 0 for o in failed)
    assert all(o.params["lr"] > 1 for o in failed)
    assert study.best.value < 0.1
    assert any(" failed after " in line and "diverged" in line for line in lines)


def test_a_program_that_hangs_is_a_failed_trial_and_the_run_goes_on(configured, tmp_path):
    top = "timeout = 1.5\nworkers = 2\nmax_trials = 8"
    never = 'stopping = { rule = "fixed", n = 100 }'
    end, study, _ = driven(configured("--hang-once", top=top, search=never))
    assert end.why == "verdict"
    [hung] = [o for o in study.history if o.failed]
    assert "killed after" in hung.message
    assert 1.5 <= hung.cost < 10
    assert len(study.history) == 8
    assert not is_alive(int((tmp_path / "grandchild.pid").read_text()))


def test_costs_that_the_program_reports(configured):
    reported = '[cost]\nkind = "reported"\nkey = "paid"'
    _, study, _ = driven(configured(top="max_trials = 3", rest=reported))
    assert [o.cost for o in study.history] == [0.01 * o.params["steps"] for o in study.history]


def test_a_budget_ends_a_run(configured):
    config = configured(top="budget = 2.5", rest='[cost]\nkind = "reported"\nkey = "paid"')
    object.__setattr__(config, "worth", None)
    end, study, _ = driven(config)
    assert end.why == "verdict"
    assert study.should_stop().rule == "budget"
    assert 1.5 < study.spent < 2.7


def test_workers_run_side_by_side(configured):
    def alone_or_not(study, _):
        running.append(len(study.pending))

    running = []
    driven(configured(top="workers = 3\nmax_trials = 6"), alone_or_not)
    assert max(running) == 3


def test_too_many_failures_end_the_run(configured):
    end, study, _ = driven(configured("--no-such-option", rest="[failures]\nstop_after = 3"))
    assert end.why == "failures"
    assert "3 trials in a row failed" in end.reason
    assert "unrecognized arguments" in end.reason
    assert len(study.history) == 3


def test_ten_failures_in_a_row_over_several_runs_end_it_too(configured):
    config = configured("--no-such-option", rest="[failures]\nstop_after = 10")
    study = new_study(config)
    for _ in range(8):
        study.tell(study.ask(), None, 1.0)
    end = run_trials(config, study, lambda *_: None)
    assert end.why == "failures"
    assert len(study.history) == 10


def test_a_failed_trial_is_started_again_where_the_file_says_so(configured, tmp_path):
    config = configured(
        "--no-such-option", rest="[failures]\nstop_after = 1\nretry = 2", top="workers = 1"
    )
    end, study, lines = driven(config)
    assert end.why == "failures"
    assert len(study.history) == 1
    assert sum("is started again" in line for line in lines) == 2
    folders = [p.name for p in sorted((tmp_path / "tune.trials").iterdir())]
    assert folders == ["0000", "0000-2", "0000-3"]
    assert study.history[0].cost > 3 * 0.005  # three starts of an interpreter


def test_a_retry_that_helps(configured):
    config = configured("--crash-once", rest="[failures]\nretry = 1", top="max_trials = 2")
    end, study, lines = driven(config)
    assert end.why == "verdict"
    assert [o.failed for o in study.history] == [False, False]
    assert sum("(exit code 1: not yet) and is started again" in line for line in lines) == 1


def test_a_program_that_vanishes_ends_the_run_and_leaves_its_trial_open(configured):
    config = configured()
    object.__setattr__(config, "command", ("./gone",))
    study = new_study(config)
    with pytest.raises(InputError, match=r"'./gone' cannot be started.*stays open"):
        run_trials(config, study, lambda *_: None)
    assert len(study.history) == 0
    assert len(study.pending) == 1


# ------------------------------------------------------------------------- interrupting


def at(number, *signals):
    """Send signals to ourselves when so many trials were started."""
    started = []

    def react(_, line):
        if " started: " in line:
            started.append(line)
            if len(started) == number:
                for name in signals:
                    os.kill(os.getpid(), name)

    return react


def test_interrupted_once_running_trials_finish_and_count(configured):
    end, study, lines = driven(configured(top="workers = 2"), at(4, signal.SIGINT))
    assert (end.why, end.signal) == ("interrupted", signal.SIGINT)
    assert len(study.history) == 4
    assert study.pending == ()
    assert all(not o.failed for o in study.history)
    assert any("may finish" in line for line in lines)


@pytest.mark.parametrize(
    "signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,), (signal.SIGHUP,)]
)
def test_interrupted_twice_running_trials_stop_and_stay_open(configured, signals, tmp_path):
    config = configured("--hang-once", top="workers = 2")
    begin = time.monotonic()

    def react(study, line):
        if len(study.history) == 3 and not sent:
            sent.append(line)
            for name in signals:
                os.kill(os.getpid(), name)

    sent = []
    end, study, _ = driven(config, react)
    assert (end.why, end.signal) == ("interrupted", signals[0])
    assert time.monotonic() - begin < 60
    assert len(study.history) >= 3
    assert len(study.pending) >= 1  # the one that hangs, and perhaps the other
    assert not is_alive(int((tmp_path / "grandchild.pid").read_text()))


def test_a_machine_that_shuts_down_signals_everybody(configured, tmp_path):
    """The program dies of the signal as well, perhaps first: its trial has not failed."""
    config = configured("--hang-once")

    def react(_, line):
        if " started: " in line:
            written(tmp_path / "grandchild.pid")
            [program] = children_of(supervisor())
            os.kill(program, signal.SIGTERM)
            time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGTERM)

    end, study, _ = driven(config, react)
    assert (end.why, end.signal) == ("interrupted", signal.SIGTERM)
    assert (len(study.history), len(study.pending)) == (0, 1)


def test_a_program_that_somebody_kills_has_failed(configured, tmp_path):
    config = configured("--hang-once", top="max_trials = 1")

    def react(_, line):
        if " started: " in line:
            written(tmp_path / "grandchild.pid")
            os.kill(supervisor(), signal.SIGTERM)

    end, study, _ = driven(config, react)
    assert end.why == "verdict"
    assert study.history[0].failed
    assert "SIGTERM" in study.history[0].message


def test_handlers_are_restored(configured):
    before = [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    driven(configured(top="max_trials = 1"))
    after = [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    assert after == before


def test_a_value_beyond_the_bounds_ends_the_run_and_its_trial_stays_open(configured):
    config = configured(search="bounds = [-inf, -1]")
    study = new_study(config)
    with pytest.raises(InputError, match=r"trial 0 has the value .* no value is above -1"):
        run_trials(config, study, lambda *_: None)
    assert len(study.history) == 0
    assert [trial.number for trial in study.pending] == [0]
