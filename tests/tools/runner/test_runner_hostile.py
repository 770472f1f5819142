# SPDX-License-Identifier: Apache-2.0
"""Programs that print or make what they should not: the run goes on, nothing else is touched."""

import json
import os
import signal
import sys
import time

import pytest

import stopwise as sw
from stopwise.errors import InputError
from stopwise.tools.runner import description, keep_copy, load, open_study, run_trials
from stopwise.tools.runner.config_changes import changes, kept_copy
from stopwise.tools.runner.process import start
from stopwise.tools.runner.program_result import read_result
from tests.support.processes import is_gone, parent_of, written
from tests.support.programs import TIDYING, ended, with_child

TOML = """
timeout = {timeout}
max_trials = 2
command = ["{{python}}", "-c", {code}]
budget = 99
[parameters]
x = {{ type = "real", low = 0, high = 1 }}
[failures]
stop_after = 5
{rest}
"""
IN_FOLDER = '[value]\nfile = "{trial_folder}/r.json"'


@pytest.fixture
def configured(tmp_path):
    def make(code, *, timeout=60, rest=""):
        path = tmp_path / "tune.toml"
        code = json.dumps(code.replace("{", "{{").replace("}", "}}"))
        path.write_text(TOML.format(code=code, timeout=timeout, rest=rest), encoding="utf-8")
        return load(path)

    return make


def result(config):
    running = start(config, 0, {"x": 0.5})
    return read_result(config, running, ended(running))


BESIDE = '[value]\nfile = "r.json"'
FOLDER = "import os, shutil, sys; f = os.environ['STOPWISE_TRIAL_FOLDER']; "
LEFT = {
    "brackets": ("print('[' * 100_000)", "", "nested too deeply"),
    "braces": ("print('{\"a\":' * 100_000)", "", "nested too deeply"),
    "digits": ("print('1' * 100_000)", "", "is not JSON"),
    "long keys": ("print('{\"' + 'k' * 90_000 + '\": 1}')", "", "no key 'value'"),
    "folder": (FOLDER + "os.mkdir(f + '/r.json')", IN_FOLDER, "Is a directory"),
    "pipe": (FOLDER + "os.mkfifo(f + '/r.json')", IN_FOLDER, "it is not a regular file"),
    "link": (FOLDER + "os.symlink('/dev/zero', f + '/r.json')", IN_FOLDER, "is not followed"),
    "device": ("import os; os.symlink('/dev/zero', 'r.json')", BESIDE, "not a regular file"),
    "loop": ("import os; os.symlink('r.json', 'r.json')", BESIDE, "without writing"),
    "100 GB": ("open('r.json', 'wb').truncate(10**11)", BESIDE, "is not JSON"),
    "stdout is a pipe": (
        FOLDER + "print(1, flush=True); os.remove(f + '/stdout'); os.mkfifo(f + '/stdout')",
        *("", "nothing was printed"),
    ),
    "no folder": (FOLDER + "print(1, flush=True); shutil.rmtree(f)", "", "nothing was printed"),
    "stderr is a device": (
        FOLDER + "os.remove(f + '/stderr'); os.symlink('/dev/zero', f + '/stderr'); sys.exit(3)",
        *("", "exit code 3"),
    ),
}


@pytest.mark.parametrize("what", LEFT)
def test_whatever_a_program_leaves_is_a_failed_trial(configured, what):
    code, rest, says = LEFT[what]
    begin = time.monotonic()
    answer = result(configured(code, rest=rest))
    assert time.monotonic() - begin < 20
    assert answer.value is None
    assert says in answer.message
    assert len(answer.message) < 1000


def test_a_result_outside_the_trials_may_be_a_link(configured, tmp_path):
    code = "import os; open('real.json', 'w').write('2'); os.symlink('real.json', 'r.json')"
    assert result(configured(code, rest='[value]\nfile = "r.json"')).value == 2.0


def test_a_run_of_such_programs_goes_on(configured):
    config = configured("print('[' * 100_000)")
    study = open_study(config)
    lines = []
    end = run_trials(config, study, lambda _, line: lines.append(line))
    assert len(study.history) == 2
    assert end.why == "verdict"
    study.close()
    assert sw.Study.load(config.journal).history[1].message.startswith("the last line of stdout")


@pytest.mark.parametrize(
    "code",
    [
        "import sys; sys.exit('\\x1b]0;mine\\x07\\x9b31m\\u202e')",
        "print('\\x1b[2J\\x9b31m')",
        "import json; print(json.dumps({'\\x1b[2J\\x9b': 1}))",
    ],
)
def test_control_characters_of_a_program_are_escaped(configured, code):
    message = result(configured(code)).message
    assert message.isprintable()
    assert "\\x1b" in message


# ------------------------------------------------------------------ the folder of the trials


def test_planted_links_are_not_followed(configured, tmp_path):
    config = configured("print(1)")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    config.trials.mkdir()
    kept_copy(config).symlink_to(victim)
    (config.trials / "0000").symlink_to(elsewhere)
    (config.trials / "0000-2").symlink_to(tmp_path / "nowhere")
    assert changes(config) == []  # what the link leads to is not read
    keep_copy(config)
    assert result(config).value == 1.0
    assert victim.read_text() == "precious"
    assert list(elsewhere.iterdir()) == []
    assert not (tmp_path / "nowhere").exists()
    assert not kept_copy(config).is_symlink()
    assert kept_copy(config).read_bytes() == config.path.read_bytes()
    assert sorted(p.name for p in config.trials.iterdir()) == [
        "0000", "0000-2", "0000-3", "tune.toml",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["fifo", "deep"])
def test_a_copy_that_is_no_file_is_not_waited_for(configured, kind):
    config = configured("print(1)")
    config.trials.mkdir()
    if kind == "fifo":
        os.mkfifo(kept_copy(config))
    else:
        kept_copy(config).write_text("a = " + "[" * 100_000)
    assert changes(config) == []
    keep_copy(config)
    assert kept_copy(config).read_bytes() == config.path.read_bytes()


def test_a_journal_that_is_a_pipe_is_refused(configured):
    config = configured("print(1)")
    os.mkfifo(config.journal)
    with pytest.raises(InputError, match="is not a regular file"):
        open_study(config)


# ----------------------------------------------------------------------- small spaces


@pytest.mark.parametrize("choices", ["['a', 'b']", "['a', 'b', 'c']"])
def test_a_file_that_runs_is_accepted_by_the_check(tmp_path, choices):
    path = tmp_path / "tune.toml"
    path.write_text(
        'command = ["{python}", "-c", "print(1)", "--", "{a}"]\nbudget = 50\n[parameters]\n'
        f'a = {{ type = "categorical", choices = {choices} }}\n[cost]\nkind = "none"\n'
    )
    config = load(path)
    said = description(config)
    assert "The first trial would run: " in said
    assert f"The first {choices.count(',') + 1} trials" in said
    with_journal = open_study(config)
    assert run_trials(config, with_journal, lambda *_: None).why == "verdict"
    assert len(with_journal.history) == choices.count(",") + 1
    with_journal.close()


# ------------------------------------------------------- a supervisor that is killed


@pytest.mark.skipif(sys.platform != "linux", reason="needs PR_SET_PDEATHSIG and /proc")
@pytest.mark.parametrize("how", ["near", "away"])
@pytest.mark.parametrize("whom", ["guard", "supervisor", "group of the guard"])
def test_a_supervisor_that_is_killed_takes_everything_along(configured, tmp_path, how, whom):
    then = 'open("pid", "w").write(str(os.getpid()))\ntime.sleep(600)'
    config = configured(with_child(how, then))
    running = start(config, 0, {"x": 0.5})
    program = int(written(tmp_path / "pid"))
    grandchild = int(written(tmp_path / "grandchild"))
    if whom == "supervisor":
        os.kill(parent_of(program), signal.SIGKILL)
    elif whom == "guard":
        running.process.kill()
    else:
        os.killpg(running.process.pid, signal.SIGKILL)
    how_it_ended = ended(running)
    assert is_gone(program)
    assert is_gone(grandchild)
    assert how_it_ended.why == "lost"
    assert read_result(config, running, how_it_ended).value is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_reaches_the_program(configured, tmp_path, number):
    running = start(configured(TIDYING), 0, {"x": 0.5})
    written(tmp_path / "ready")
    running.process.send_signal(number)
    assert ended(running).why == "terminated"
    assert (tmp_path / "tidied").exists()
