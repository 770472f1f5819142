# SPDX-License-Identifier: Apache-2.0
"""``stopwise run`` in stages: programs that are paused, taken up again, left, killed and wrong."""

import contextlib
import json
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

import stopwise as sw
from stopwise.errors import InputError
from stopwise.tools.runner import description, load, load_study, new_study, run_trials
from stopwise.tools.runner.process import RunningProgram
from tests.support.commands import stopwise
from tests.support.processes import is_gone, state_of
from tests.support.repository import ROOT, SUPPORT

TUNE = """\
command = ["{{python}}", "-I", "-S", "stager.py", "{{x}}"{more}]
max_trials = {most}
{top}
[parameters]
x = {{ type = "real", low = 0, high = 1 }}
[value]
key = "loss"
[cost]
kind = "{kind}"
[worth]
lam = 0.01
[stages]
steps = [1, 3, 9]
pause = "{pause}"
{rest}
"""
CHECKPOINT = ', "{checkpoint}"'
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")


def written(folder, *, pause="stop", kind="none", most=7, more=None, top="", rest=""):
    shutil.copy(SUPPORT / "stager.py", folder)
    more = (CHECKPOINT if pause == "checkpoint" else "") if more is None else more
    text = TUNE.format(pause=pause, kind=kind, most=most, more=more, top=top, rest=rest)
    (folder / "tune.toml").write_text(text, encoding="utf-8")
    return folder / "tune.toml"


def trouble(what, **more):
    variables = {"TROUBLE": what, **more}
    return "[environment]\n" + "".join(f'{n} = "{v}"\n' for n, v in variables.items())


def driven(path, on_change=lambda *_: None):
    config, lines = load(path), []
    study = new_study(config)

    def hear(study, line):
        lines.append(line)
        on_change(study, line)

    return run_trials(config, study, hear, lines.append), study, lines


def train(params):
    for step in range(1, 10):
        yield step, (params["x"] - 0.3) ** 2 + params["x"] / step**0.5


@pytest.fixture(scope="module")
def whole():
    """The same study without programs."""
    result = sw.minimize(
        train,
        {"x": sw.Real(0, 1)},
        lam=0.01,
        stages=sw.Stages([1, 3, 9]),
        max_trials=7,
        value_name="loss",
    )
    return result._study


def values(study):
    return {n: [(r.step, r.value) for r in curve] for n, curve in study.curves.items()}


@pytest.mark.parametrize(
    ("pause", "more"),
    [
        ("stop", None),
        ("checkpoint", None),
        ("checkpoint", f'{CHECKPOINT}, "{{to_step}}"'),  # it ends by itself
    ],
)
def test_however_they_are_paused_programs_make_the_same_study(tmp_path, whole, pause, more):
    rest = trouble("", PAUSE="0.02")  # or a program might be at its end before it is paused
    end, study, lines = driven(written(tmp_path, pause=pause, more=more, rest=rest))
    assert values(study) == values(whole)
    assert study.best == whole.best
    assert end.why == "verdict"
    assert end.reason == whole.should_stop().reason
    again = any(re.fullmatch(r"\d+-2", path.name) for path in (tmp_path / "tune.trials").iterdir())
    assert again == (pause == "checkpoint")  # only then a program is started anew
    assert any(re.search(r"to step \d of 9, worth going on: .* times its price", x) for x in lines)
    assert "trial 0 at step 1 of 9: loss 0.8815 for 0.1111 trials" in lines
    assert "some words" in (tmp_path / "tune.trials" / "0000" / "stdout").read_text()


@pytest.mark.parametrize("pause", ["stop", "checkpoint"])
def test_no_choice_depends_on_how_quick_a_program_is(tmp_path, whole, pause, monkeypatch):
    def too_late(self):
        time.sleep(0.1)  # it is at its end by now
        asked.append(self)

    asked = []
    monkeypatch.setattr(RunningProgram, "pause", too_late)
    end, study, _ = driven(written(tmp_path, pause=pause))
    assert asked
    assert values(study) == values(whole)
    assert end.reason == whole.should_stop().reason
    if sys.platform == "linux":
        assert states(tmp_path) == {}


def states(folder):
    """The states of programs that are there, by the name of their folder."""
    found = {}
    for path in (folder / "tune.trials").glob("*/pid"):
        with contextlib.suppress(OSError):  # it has ended
            found[path.parent.name] = state_of(int(path.read_text() or 0))
    return found


@LINUX
def test_a_paused_program_stands_still_and_ends_with_the_run(tmp_path):
    seen = []

    def look(_, line):
        if line.startswith("trial 2 to step 1"):
            deadline = time.monotonic() + 20
            while set(states(tmp_path).values()) != {"T"} and time.monotonic() < deadline:
                time.sleep(0.01)
            seen.append(states(tmp_path))

    slow = trouble("", PAUSE="0.2")  # or a program might be at its end before it is paused
    driven(written(tmp_path, most=4, rest=slow), look)
    assert seen == [{"0000": "T", "0001": "T"}]
    assert states(tmp_path) == {}


def test_a_program_that_ignores_its_checkpoint_is_said_to_begin_anew(tmp_path):
    slow = trouble("", PAUSE="0.02")
    path = written(tmp_path, pause="checkpoint", more="", rest=slow)
    assert "The command does not mention {checkpoint}" in description(load(path))
    _, study, lines = driven(path)
    [said] = [line for line in lines if "did not go on from" in line]
    assert re.match(r"trial \d had come to step \d and prints step 1 again", said)
    assert study.best is not None
    (tmp_path / "good").mkdir()
    path = written(tmp_path / "good", pause="checkpoint", rest=slow)
    assert "does not mention" not in description(load(path))
    assert not [line for line in driven(path)[2] if "did not go on from" in line]


def test_two_programs_run_at_a_time(tmp_path):
    running = []

    def count(study, _):
        running.append(len(study.pending) - len(study.paused))

    end, study, _ = driven(written(tmp_path, top="workers = 2"), count)
    assert end.why == "verdict"
    assert study.best is not None
    assert max(running) == 2


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("back", "step 2 came after step 3: steps go forward"),
        ("skip", "step 3 was passed by; stages are 1, 3, 9, and step 4 came"),
        ("nan", "at step 2: 'loss' is nan"),
        ("cheaper", "the cost went from 4 to 1: it is that of the run so far, and does not"),
        ("word", "'step'='three': give a whole number"),
        ("silent", 'ended at step 2 of 9 without a word: .* such as {"step": 3, "loss": 0.5}'),
        ("crash", "exit code 1: out of memory"),
    ],
)
def test_what_is_wrong_fails_the_trial_and_nothing_told_is_lost(tmp_path, what, says):
    rest = "[failures]\nstop_after = 1\n" + trouble(what)
    end, study, lines = driven(written(tmp_path, kind="reported", rest=rest))
    [failed] = study.history
    assert re.search(says, failed.message)
    assert failed.message in end.reason
    assert study.curves[failed.number][0].step == 1  # what was told before
    assert failed.cost >= study.curves[failed.number][-1].cost > 0.0
    assert any(f"trial {failed.number} failed after" in line for line in lines)


@pytest.mark.parametrize(("what", "step"), [("nan", 2), ("silent", 2), ("skip", 4), ("crash", 2)])
def test_a_program_that_fails_is_charged_to_the_step_that_it_came_to(tmp_path, what, step):
    rest = "[failures]\nstop_after = 1\n" + trouble(what)
    stopwise("run", written(tmp_path, rest=rest))
    lines = (tmp_path / "tune.jsonl").read_text().splitlines()
    [told] = [line for line in map(json.loads, lines) if line.get("event") == "tell"]
    assert told["step"] == step
    assert told["cost"] == pytest.approx(step / 9)  # a known cost, spread evenly


def test_values_on_the_way_are_on_record(tmp_path):
    rest = "[failures]\nstop_after = 1\n" + trouble("crash")
    ended = stopwise("run", written(tmp_path, rest=rest))
    assert ended.code == 3
    assert "run again to go on with other trials" in ended.out
    assert "No value is on record" not in ended.out


def test_a_value_after_the_last_stage_is_said_and_not_told(tmp_path):
    _, study, lines = driven(written(tmp_path, rest=trouble("more")))
    best = study.best.number
    assert f"trial {best} printed step 10 after its last stage, 9: not told" in lines
    assert study.curves[best][-1].step == 9


def test_a_trial_that_fails_is_started_again_as_the_file_says(tmp_path):
    rest = "[failures]\nretry = 1\nstop_after = 1\n" + trouble("crash")
    end, study, lines = driven(written(tmp_path, kind="seconds", rest=rest))
    assert end.why == "failures"
    assert "(exit code 1: out of memory) and is started again" in " ".join(lines)
    [failed] = [o for o in study.history if o.failed]
    assert (tmp_path / "tune.trials" / f"{failed.number:04}-2").exists()
    assert failed.cost > study.curves[failed.number][-1].cost


def test_a_timeout_counts_the_time_that_a_program_runs(tmp_path):
    rest = "[failures]\nstop_after = 1\n" + trouble("hang")
    path = written(tmp_path, kind="seconds", top="timeout = 0.7", rest=rest)
    end, study, _ = driven(path)
    assert re.search(r"killed after [\d.]+ s \(timeout = 0\.7\)", end.reason)
    [failed] = [o for o in study.history if o.failed]
    assert 0.7 <= failed.cost < 5.0


def begun(folder):
    return subprocess.Popen(
        [sys.executable, "-m", "stopwise.tools.cli", "run", "tune.toml"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def pids(folder):
    return [int(path.read_text()) for path in (folder / "tune.trials").glob("*/pid")]


@pytest.mark.parametrize(
    ("pause", "number", "code"),
    [
        ("stop", signal.SIGKILL, -signal.SIGKILL),
        pytest.param("checkpoint", signal.SIGKILL, -signal.SIGKILL, marks=pytest.mark.slow),
        pytest.param("stop", signal.SIGTERM, 128 + signal.SIGTERM, marks=pytest.mark.slow),
    ],
)
def test_a_run_that_is_killed_in_the_middle_of_a_trial_goes_on(
    tmp_path, whole, pause, number, code
):
    path = written(tmp_path, pause=pause, rest=trouble("", PAUSE="0.05"))
    process = begun(tmp_path)
    for line in process.stdout:
        if "to step 9 of 9" in line:
            break
    time.sleep(0.1)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == code
    assert all(map(is_gone, pids(tmp_path)))  # paused ones too
    path.write_text(path.read_text().replace("0.05", "0.0"))
    done = subprocess.run(
        [sys.executable, "-m", "stopwise.tools.cli", "run", "tune.toml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert re.search(r"Going on with tune.jsonl: . trials? ha.* ended, \d+ .* paused", done.stdout)
    assert f"7 trials begun, {len(whole.history)} of them ended" in done.stdout
    study = sw.Study.load(tmp_path / "tune.jsonl")
    assert values(study) == values(whole)
    assert study.best == whole.best


# ------------------------------------------------------------------------ the file


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("steps = [1, 3, 9]", "steps = [3, 1]", "line 13: .*give steps that grow"),
        ("steps = [1, 3, 9]", "eta = 3", r"\[stages\] needs the key 'steps'"),
        ("steps = [1, 3, 9]", "steps = [1, 3]\neta = 3", "line 14: eta is for steps = 81"),
        ("steps = [1, 3, 9]", "steps = 9\nusable = 1", "usable=1: give True"),
        ('pause = "stop"', 'pause = "wait"', "line 14: .*wait"),
        ('pause = "stop"', 'paused = "stop"', "unknown key 'paused'"),
        ('key = "loss"', 'file = "x.json"', "line 7: with .stages. a program prints a line"),
        ('"{x}"', '"{x}", "{checkpoint}"', "'{checkpoint}', which is not one of"),
        ("lam = 0.01", "lam = 0.01\n[search]\nnoise = 0.1", "noise= does not go with stages="),
    ],
)
def test_a_wrong_table_is_refused(tmp_path, old, new, says):
    path = written(tmp_path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=says):
        new_study(load(path))


def test_a_parameter_may_not_be_called_as_what_a_checkpoint_adds(tmp_path):
    path = written(tmp_path, pause="checkpoint")
    another = "to_step = { type = 'real', low = 0, high = 1 }"
    path.write_text(path.read_text().replace("x = {", f"{another}\nx = {{"))
    with pytest.raises(InputError, match="cannot be called 'to_step'"):
        load(path)


def test_check_says_how_it_would_go(tmp_path):
    said = description(load(written(tmp_path)))
    assert 'prints a line such as {"step": 1, "loss": ...} at the steps 1, 3, 9.' in said
    assert "is stopped (SIGSTOP), and waits in memory" in said
    assert "read from lines of its stdout" in said
    said = description(load(written(tmp_path, pause="checkpoint")))
    assert "tune.trials/NUMBER.checkpoint, if it is taken up" in said
    assert "stager.py 0.7118550268933177 tune.trials/0000.checkpoint" in said


def test_in_the_shell_there_are_whole_evaluations(tmp_path):
    with pytest.raises(InputError, match=r"line 12: \[stages\] is for stopwise run"):
        load_study(written(tmp_path))


def test_the_example_in_stages_runs(tmp_path):
    for name in ("tune_epochs.toml", "train_epochs.py"):
        shutil.copy(ROOT / "examples" / name, tmp_path)
    end, study, _ = driven(tmp_path / "tune_epochs.toml")
    assert end.why == "verdict"
    assert study.best.value < 0.42
    assert len(study.history) < len(study.curves)  # some were left


def test_values_of_runs_that_failed_are_on_record(tmp_path):
    written(tmp_path, rest="[failures]\nstop_after = 1\n" + trouble("crash"))
    command = [sys.executable, "-m", "stopwise.tools.cli", "run", "tune.toml"]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 3
    assert "Failed trials are not tried again" in done.stdout
    assert "No value is on record" not in done.stdout
