# SPDX-License-Identifier: Apache-2.0
"""Nothing already paid for is ever lost."""

import errno
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import stopwise as sw
from stopwise.errors import InputError, InputTypeError, JournalError
from stopwise.record.journal import ResumeWarning
from stopwise.record.journal import file as file_module
from tests.support import journalled
from tests.support.repository import ROOT
from tests.support.sealing import edited, sealed_again

LINE = {"x": sw.Real(0.0, 1.0)}


def bowl(params):
    return (params["x"] - 0.3) ** 2


def grown(study, steps):
    for _ in range(steps):
        trial = study.ask()
        study.tell(trial, bowl(trial.params))
        study.should_stop()
    return study


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def resumed(path, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return sw.Study.resume(path, **given)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


# ------------------------------------------------------------------------------- the format


def test_a_journal_is_lines_of_strict_json_with_a_header(path):
    study = grown(sw.Study(LINE, lam=0.01, watch=["prb", "srgap-med"], journal=path), 6)
    strict = re.compile(r"\b(NaN|Infinity)\b")
    assert not strict.search(path.read_text(encoding="utf-8"))
    header, *events = lines_of(path)
    assert (header["journal"], header["schema"]) == ("stopwise", 2)
    assert header["version"] == sw.__version__
    assert header["space"]["parameters"]["x"] == {
        "type": "real",
        "low": 0.0,
        "high": 1.0,
        "log": False,
    }
    assert header["options"]["lam"] == 0.01
    assert header["options"]["seed"] == 0
    kinds = [event["event"] for event in events]
    assert (kinds.count("ask"), kinds.count("tell")) == (6, 6)
    assert kinds.count("verdict") >= 6
    asked = [e for e in events if e["event"] == "ask"]
    assert all(e["seconds"] > 0 and e["at"] > 0 for e in asked)
    objective = asked[-1]["fitted"]["objective"]
    assert objective.keys() == {"components", "weights", "trust"}
    assert {"lengthscales", "outputscale", "noise", "mean"} <= objective["components"][0].keys()
    assert study.history[-1].value == events[-3]["value"]


def test_a_line_is_on_disk_before_the_call_returns(path, monkeypatch):
    synced = []
    real = os.fsync
    monkeypatch.setattr(file_module.os, "fsync", lambda fd: (synced.append(fd), real(fd))[1])
    study = sw.Study(LINE, lam=0.01, journal=path)
    before = len(synced)
    trial = study.ask()
    assert lines_of(path)[-1]["event"] == "ask"
    study.tell(trial, 1.0)
    assert lines_of(path)[-1]["event"] == "tell"
    assert len(synced) >= before + 2


def test_asking_twice_writes_nothing_twice(path):
    study = grown(sw.Study(LINE, lam=0.01, journal=path), 5)
    size = path.stat().st_size
    study.should_stop()
    study.result()
    study.explain()
    assert path.stat().st_size == size


def test_the_documented_format_is_the_one_written():
    text = (ROOT / "docs" / "reference" / "journal.md").read_text(encoding="utf-8")
    events = {
        "design",
        "lambda",
        "signals",
        "ask",
        "ask again",
        "tell",
        "amend",
        "verdict",
        "drop",
        "resume",
    }
    assert events <= set(re.findall(r"`\"?([a-z ]+)\"?`", text))


# ------------------------------------------------------------------------------- resuming


@pytest.mark.parametrize("seed", range(2))
def test_a_resumed_study_goes_on_bit_for_bit(path, seed):
    whole = journalled.go_on(
        sw.Study(journalled.SPACE, **{**journalled.OPTIONS, "seed": seed, "watch": ["ucb-lcb"]})
    )
    study = sw.Study(
        journalled.SPACE,
        **{**journalled.OPTIONS, "seed": seed, "watch": ["ucb-lcb"]},
        journal=path,
    )
    done = 0
    while len(study.history) < journalled.TRIALS and not study.should_stop().stop:
        trial = study.ask()
        if done % 3 == 1:  # asked, and never answered by this process
            study.close()
            study = resumed(path)
            again = study.ask()
            assert (again, again.expected_cost) == (trial, trial.expected_cost)
        study.tell(trial, *journalled.objective(trial.params))
        if done % 3 == 2:
            study.close()
            study = resumed(path)
        done += 1
    assert journalled.essence(study) == journalled.essence(whole)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A journal that nobody has interrupted: its bytes, and the essence of its study."""
    path = tmp_path_factory.mktemp("recorded") / "run.jsonl"
    options = {**journalled.OPTIONS, "watch": ["ucb-lcb"]}
    whole = journalled.go_on(sw.Study(journalled.SPACE, journal=path, **options))
    essence = journalled.essence(whole)
    whole.close()
    return path.read_bytes(), essence


@pytest.mark.parametrize("part", range(6))
def test_a_journal_cut_anywhere_is_repaired_and_goes_on_bit_for_bit(path, recorded, part):
    content, essence = recorded
    first = content.index(b"\n") + 1
    at = random.Random(part).randrange(first, len(content))  # noqa: S311
    path.write_bytes(content[:at])
    torn = at - (content[:at].rindex(b"\n") + 1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study = sw.Study.resume(path)
    told = [str(w.message) for w in caught if w.category is ResumeWarning]
    assert len(told) == (torn > 0)
    assert all(f"{torn} bytes" in message for message in told)
    assert study.notes == tuple(told)
    assert journalled.essence(journalled.go_on(study)) == essence


def test_a_last_line_of_rubbish_counts_as_torn(path):
    grown(sw.Study(LINE, lam=0.01, journal=path), 3).close()
    with path.open("ab") as file:
        file.write(b"\0" * 100 + b"\n")
    with pytest.warns(ResumeWarning, match="101 bytes"):
        study = sw.Study.resume(path)
    assert len(study.history) == 3
    lines_of(path)


def test_killed_at_random_moments_nothing_is_lost(tmp_path):
    assert kills(tmp_path, 5) >= 5


@pytest.mark.slow
def test_killed_at_200_random_moments_nothing_is_lost(tmp_path):
    assert kills(tmp_path, 200) >= 200


def kills(folder, wanted):
    script = Path(journalled.__file__)
    done = subprocess.run(
        [sys.executable, script, folder, str(wanted), "7"],
        check=True,
        capture_output=True,
        text=True,
    )
    told = json.loads(done.stdout)
    assert (told["lost"], told["differing"]) == (0, 0), told
    return told["kills"]


def test_unanswered_trials_come_again_oldest_first(path):
    study = sw.Study(LINE, lam=0.01, journal=path)
    trials = [study.ask() for _ in range(3)]
    study.tell(trials[1], 0.5)
    study.close()
    study = resumed(path)
    assert study.pending == (trials[0], trials[2])
    verdict = study.should_stop()
    assert not verdict.stop
    assert "trial 0, 2" in verdict.reason
    assert study.ask() == trials[0]
    assert study.ask() == trials[2]
    assert study.ask().number == 3


def test_a_trial_told_before_it_is_handed_out_again_is_answered(path):
    study = sw.Study(LINE, lam=0.01, journal=path)
    trial = study.ask()
    study.close()
    study = resumed(path)
    study.tell(trial, 0.5)
    assert study.ask().number == 1


def test_a_dropped_trial_is_gone_for_good(path):
    study = sw.Study(LINE, lam=0.01, journal=path)
    first, second = study.ask(), study.ask()
    study.drop(first)
    assert study.pending == (second,)
    with pytest.raises(InputError, match="trial 0 was given up already; pending are \\[1\\]"):
        study.drop(first)
    with pytest.raises(InputError, match="trial 0 was given up"):
        study.tell(first, 1.0)
    study.close()
    study = resumed(path)
    assert study.pending == (second,)
    study.drop(second)
    assert study.ask().number == 2


def test_a_design_with_dropped_trials_is_filled_up():
    study = sw.Study(LINE, lam=0.01)
    study.drop(study.ask())
    while study.should_stop().rule == "initial":
        trial = study.ask()
        study.tell(trial, bowl(trial.params))
    assert len(study.history) == 4


def test_a_budget_settles_lambda_once_and_for_all(path):
    whole = grown(sw.Study(LINE, budget=14.0), 11)
    study = grown(sw.Study(LINE, budget=14.0, journal=path), 7)
    study.close()
    study = grown(resumed(path), 4)
    assert study.acquisition == whole.acquisition
    assert study.history == whole.history


def test_two_at_once_after_a_resume_are_the_same_two(path):
    whole = grown(sw.Study(LINE, lam=1e-6), 6)
    expected = [whole.ask(), whole.ask(), whole.ask()]
    study = grown(sw.Study(LINE, lam=1e-6, journal=path), 6)
    first = study.ask()
    study.close()
    study = resumed(path)
    assert [study.ask(), study.ask(), study.ask()] == expected
    assert first == expected[0]


def test_a_table_and_its_costs_survive(path):
    rows = [{"x": i, "kind": k} for i in range(20) for k in ("a", "b")]
    rows.append(rows[0])
    costs = np.linspace(1.0, 2.0, len(rows))
    study = grown(sw.Study(sw.Candidates(rows), lam=1e-3, cost=costs, journal=path), 0)
    whole = sw.Study(sw.Candidates(rows), lam=1e-3, cost=costs)
    for _ in range(9):
        for each in (study, whole):
            trial = each.ask()
            each.tell(trial, float(trial.params["x"]) + (trial.params["kind"] == "a"))
        study.close()
        study = resumed(path)
    assert study.history == whole.history
    assert study.should_stop() == whole.should_stop()


def test_a_run_that_ended_on_its_budget_goes_on_when_there_is_more(path):
    options = {"lam": 1e-9, "journal": path}
    poor = sw.minimize(bowl, LINE, budget=6, **options)
    assert (len(poor.history), poor.verdict.rule) == (6, "budget")
    with pytest.warns(ResumeWarning, match=r"budget is now 9; it was 6"):
        richer = sw.minimize(bowl, LINE, budget=9, **options)
    assert (len(richer.history), richer.verdict.rule) == (9, "budget")
    with pytest.warns(ResumeWarning, match="budget is now None"):
        free = sw.Study.resume(path, budget=None)
    assert not free.should_stop().stop
    free.close()
    again = resumed(path)  # what was forgotten stays forgotten
    assert again.traces == free.traces


def test_minimize_called_again_goes_on(path):
    calls = []

    def objective(params):
        calls.append(params)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return bowl(params)

    with pytest.raises(KeyboardInterrupt):
        sw.minimize(objective, LINE, lam=1e-4, journal=path)
    result = sw.minimize(objective, LINE, lam=1e-4, journal=path)
    assert result.history == sw.minimize(bowl, LINE, lam=1e-4).history
    assert calls[6] == calls[7]
    before = len(calls)
    assert sw.minimize(objective, LINE, lam=1e-4, journal=path).verdict == result.verdict
    assert len(calls) == before


# ------------------------------------------------------------------------------- what may change


def test_lam_and_rules_may_change_and_it_says_so(path):
    grown(sw.Study(LINE, lam=0.01, journal=path), 5).close()
    with pytest.warns(ResumeWarning, match=r"lam is now 0\.001; it was 0\.01"):
        study = sw.Study.resume(path, lam=0.001, stopping=["pbgi", "convergence"])
    assert [rule.name for rule in study.rules] == ["pbgi", "convergence"]
    assert study.acquisition == sw.acquisition.PBGI(0.001)
    study.close()
    study = resumed(path)  # and so it stays
    assert study.acquisition == sw.acquisition.PBGI(0.001)
    assert len(study.rules) == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"space": {"x": sw.Real(0.0, 2.0)}}, r"'x' was .*'high': 1\.0.* is now .*'high': 2\.0"),
        ({"space": {"y": sw.Real(0.0, 1.0)}}, "'x' was .* is now None; 'y' was None"),
        ({"direction": "maximize"}, "direction was 'minimize' and is now 'maximize'"),
        ({"seed": 1}, "seed was 0 and is now 1"),
        ({"cost": "seconds"}, "cost was None and is now 'seconds'"),
        ({"lamb": 1}, r"'lamb' is no option of a study \(did you mean 'lam'\?\)"),
    ],
)
def test_another_study_is_refused_and_the_file_left_alone(path, given, said):
    grown(sw.Study(LINE, lam=0.01, journal=path), 3).close()
    content = path.read_bytes()
    with pytest.raises((InputError, InputTypeError), match=said) as caught:
        sw.Study.resume(path, **given)
    assert "lamb" in given or "lam, budget, acquisition, stopping, watch, max_trials" in str(
        caught.value
    )
    assert path.read_bytes() == content
    resumed(path, space=LINE, lam=0.01)  # and nothing holds it


class OwnRule:
    name = "own"
    signal_scale = "linear"
    key = "own"

    def signal(self, snapshot):
        return snapshot.signal(1.0)

    def verdict(self, trace):  # noqa: ARG002
        return sw.Verdict.not_yet("own", "never")


def double(params):
    return 1.0 + params["x"]


def test_what_a_file_cannot_hold_is_handed_in_again(path):
    first = sw.Study(
        LINE, lam=0.01, cost=double, stopping=["pbgi", OwnRule()], watch=[], journal=path
    )
    grown(first, 5).close()
    with pytest.raises(InputError, match=r"cost .*double, which a file cannot.*cost=\.\.\."):
        sw.Study.resume(path)
    with pytest.raises(InputError, match=r"stopping .*OwnRule.*stopping=\.\.\."):
        sw.Study.resume(path, cost=double)
    study = resumed(path, cost=double, stopping=["pbgi", OwnRule()])
    whole = grown(sw.Study(LINE, lam=0.01, cost=double, stopping=["pbgi", OwnRule()]), 7)
    assert grown(study, 2).history == whole.history
    study.close()
    looked = sw.Study.load(path)
    assert "double is not at hand" in looked.notes[0]
    assert [rule.name for rule in looked.rules] == ["pbgi"]


def test_choices_that_json_cannot_hold_are_handed_in_again(path):
    space = {"f": sw.Categorical([len, (1, 2), "max", float("inf")]), "x": sw.Real(0, 1)}
    study = sw.Study(space, lam=1e-6, journal=path)
    trials = []
    for _ in range(8):
        trials.append(study.ask())
        study.tell(trials[-1], trials[-1].params["x"])
    study.close()
    with pytest.raises(InputError, match="choices of f are objects"):
        sw.Study.resume(path)
    study = resumed(path, space=space)
    assert [dict(o.params) for o in study.history] == [t.params for t in trials]
    study.close()
    assert str(sw.Study.load(path).history[0].params["f"])


def test_numbers_of_numpy_are_numbers(path):
    rows = [{"a": np.float32(0.1 * i), "b": np.int64(i)} for i in range(9)]
    study = sw.Study(sw.Candidates(rows), lam=1e-6, seed=np.int64(3), journal=path)
    trial = study.ask()
    study.tell(trial, np.float64(1.0))
    study.close()
    assert resumed(path).history[0].params == trial.params


# ------------------------------------------------------------------------------- what goes wrong


def test_two_writers_are_one_too_many(path):
    study = grown(sw.Study(LINE, lam=0.01, journal=path), 2)
    code = f"import stopwise as sw; sw.Study.resume({str(path)!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert "JournalInUseError" in done.stderr
    assert "written by another study" in done.stderr
    grown(study, 1)  # undisturbed
    study.close()
    resumed(path)


def test_a_fork_neither_holds_the_lock_nor_writes(path):
    study = grown(sw.Study(LINE, lam=0.01, journal=path), 1)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            study.ask()
        except JournalError:
            os.write(write, b"refused")
        time.sleep(30)
        os._exit(0)
    assert os.read(read, 7) == b"refused"
    study.close()
    resumed(path)  # although the child lives
    os.kill(child, 9)
    os.waitpid(child, 0)


def test_a_path_that_exists_is_never_overwritten(path):
    path.write_text("precious", encoding="utf-8")
    with pytest.raises(JournalError, match=r"exists already: go on with it by Study\.resume"):
        sw.Study(LINE, lam=0.01, journal=path)
    assert path.read_text(encoding="utf-8") == "precious"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b'{"a": 1}\n', b"\x80\x81\n", b"[1]\n"])
def test_a_file_that_is_no_journal_is_left_alone(path, content):
    path.write_bytes(content)
    for opened in (sw.Study.resume, sw.Study.load):
        with pytest.raises(JournalError, match="is no journal of stopwise"):
            opened(path)
    assert path.read_bytes() == content


def test_a_journal_of_a_newer_version_is_left_alone(path):
    sw.Study(LINE, lam=0.01, journal=path).close()
    edited(path, '"schema": 2', '"schema": 3')
    newer = path.read_bytes()
    for opened in (sw.Study.resume, sw.Study.load):
        with pytest.raises(JournalError, match=r"line 1 of .*schema 3.*reads schema 1 and 2"):
            opened(path)
    assert path.read_bytes() == newer


def test_a_version_that_differs_is_said(path):
    sw.Study(LINE, lam=0.01, journal=path).close()
    edited(path, f'"{sw.__version__}"', '"0.0.1"')
    with pytest.warns(ResumeWarning, match=r"begun by stopwise 0\.0\.1"):
        sw.Study.resume(path)


@pytest.mark.parametrize("damage", ["not json\n", '{"event": "tell"}\n', '{"event": "what"}\n'])
def test_damage_in_the_middle_is_an_error_that_names_the_line(path, damage):
    grown(sw.Study(LINE, lam=0.01, journal=path), 3).close()
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines[:4], damage, *lines[4:]]), encoding="utf-8")
    content = path.read_bytes()
    with pytest.raises(JournalError, match="line 5 of"):
        sw.Study.resume(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"value": 1.0', '"value": "a"'),
        ('"params": {"x": 0.25}, "value"', '"params": {"x": 7}, "value"'),
        ('"params": {"x": 0.25}, "value"', '"params": {"z": 0.25}, "value"'),
    ],
)
def test_a_line_that_cannot_be_is_named(path, old, new):
    study = sw.Study(LINE, lam=0.01, journal=path)
    study.tell({"x": 0.25}, 1.0)
    study.tell({"x": 0.75}, 2.0)
    study.close()
    edited(path, old, new)
    for opened in (sw.Study.resume, sw.Study.load):
        with pytest.raises(JournalError, match=r"line 2 of .* is not understood"):
            opened(path)


def with_lengthscales(path, given):
    """A journal of a plain study whose last choice had these length scales; its line number."""
    grown(sw.Study(LINE, lam=1e-6, surrogate="plain", journal=path), 5).close()
    lines = lines_of(path)
    number = max(i for i, line in enumerate(lines) if line.get("fitted"))
    lines[number]["fitted"]["objective"]["lengthscales"] = given
    path.write_bytes(sealed_again(lines))
    return number + 1


@pytest.mark.parametrize("given", [0.3, [[0.3]], [-0.3], ["long"], None, {}], ids=repr)
def test_length_scales_that_cannot_be_are_named(path, given):
    number = with_lengthscales(path, given)
    with pytest.raises(JournalError, match=f"line {number} of .*length scales must be"):
        sw.Study.resume(path)


@pytest.mark.parametrize("given", [[], [0.3, 0.5]], ids=["too few", "too many"])
def test_length_scales_of_another_space_are_refused_when_they_are_used(path, given):
    with_lengthscales(path, given)
    study = resumed(path)
    with pytest.raises(InputError, match=f"{len(given)} length scales for 1 parameters"):
        study.should_stop()


@pytest.mark.parametrize("edit", [{"value": 9.0}, {"cost": 9.0}])
def test_a_trial_that_is_told_twice_in_two_ways_is_named(path, edit):
    grown(sw.Study(LINE, lam=0.01, journal=path), 2).close()
    lines = lines_of(path)
    [first, *_] = [i for i, line in enumerate(lines) if line.get("event") == "tell"]
    lines.insert(first + 1, {**lines[first], **edit})
    path.write_bytes(sealed_again(lines))
    with pytest.raises(JournalError, match=f"line {first + 2} of .* told before"):
        sw.Study.resume(path)


def test_events_that_version_0_1_wrote_twice_when_it_was_interrupted_happen_once(path):
    study = sw.Study(LINE, lam=1e-4, watch=["ucb-lcb"], journal=path)
    study.tell({"x": 0.5}, 0.25)  # data from elsewhere
    study.drop(study.ask())
    grown(study, 6)
    study.ask()
    study.close()
    study = resumed(path)
    study.ask()
    study.close()
    expected = resumed(path)
    twice = [line for line in lines_of(path) for _ in range(1 if "journal" in line else 2)]
    path.write_bytes(sealed_again(twice))
    expected.close()
    again = resumed(path)
    assert again.history == expected.history
    assert again._context.state == expected._context.state


def test_no_file_and_no_folder(path):
    with pytest.raises(JournalError, match="there is no journal at"):
        sw.Study.resume(path)
    with pytest.raises(JournalError, match="No such file or directory"):
        sw.Study(LINE, lam=0.01, journal=path.parent / "nowhere" / "run.jsonl")


FULL = """
import resource, signal, sys
import stopwise as sw
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = sys.argv[1]
study = sw.Study({"x": sw.Real(0, 1)}, lam=1e-6, journal=path)
trial = study.ask()
size = open(path, "rb").seek(0, 2)
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, resource.RLIM_INFINITY))
try:
    study.tell(trial, 1.0)
except sw.errors.JournalError as error:
    assert "File too large" in str(error), error
else:
    raise SystemExit("the disk was not full")
assert open(path, "rb").seek(0, 2) == size and study.pending == (trial,) and not study.history
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
study.tell(trial, 1.0)  # told again once there is room: nothing is lost
"""


def test_a_full_disk_leaves_file_and_study_as_they_were(path):
    subprocess.run([sys.executable, "-c", FULL, path], check=True)
    assert len(resumed(path).history) == 1


def test_a_disk_that_fills_up_at_the_header_leaves_nothing_behind(path, monkeypatch):
    def full(descriptor, data, position):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(file_module.os, "pwrite", full)
    with pytest.raises(JournalError, match="No space left on device"):
        sw.Study(LINE, lam=0.01, journal=path)
    assert list(path.parent.iterdir()) == []


READ_ONLY = """
import os, sys
import stopwise as sw
sw.Study, sw.Real
if os.getuid() == 0:
    os.setuid(65534)  # root may write everywhere
for attempt in (lambda: sw.Study({"x": sw.Real(0, 1)}, lam=1, journal=sys.argv[1] + ".new"),
                lambda: sw.Study.resume(sys.argv[1])):
    try:
        attempt()
    except sw.errors.JournalError as error:
        assert "Permission denied" in str(error), error
    else:
        raise SystemExit("it was allowed")
assert len(sw.Study.load(sys.argv[1]).history) == 1
"""


def test_a_read_only_folder(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    path = folder / "run.jsonl"
    grown(sw.Study(LINE, lam=0.01, journal=path), 1).close()
    content = path.read_bytes()
    path.chmod(0o444)
    folder.chmod(0o555)
    for above in folder.parents:
        if above.is_relative_to(tempfile.gettempdir()) and above != Path(tempfile.gettempdir()):
            above.chmod(0o755)
    subprocess.run([sys.executable, "-c", READ_ONLY, path], check=True)
    folder.chmod(0o755)
    assert path.read_bytes() == content


# ------------------------------------------------------------------------------- looking


def test_a_running_journal_can_be_looked_at_and_not_written(path):
    study = grown(sw.Study(LINE, lam=1e-4, journal=path), 6)
    trial = study.ask()
    content = path.read_bytes()
    looked = sw.Study.load(path)
    assert looked.history == study.history
    assert looked.traces == study.traces
    assert looked.pending == (trial,)
    assert looked.should_stop() == study.should_stop()
    assert looked.best == study.best
    for change in (looked.ask, lambda: looked.tell(trial, 1.0), lambda: looked.drop(trial)):
        with pytest.raises(InputError, match="loaded to be looked at"):
            change()
    assert path.read_bytes() != content  # the live study wrote its verdict, the other nothing
    kinds = [line.get("event") for line in lines_of(path)]
    assert "resume" not in kinds


def test_two_thousand_trials_load_in_seconds(path):
    grown(sw.Study(LINE, lam=1e-4, watch=["ucb-lcb"], journal=path), 5).close()
    lines = lines_of(path)
    last = {kind: next(x for x in reversed(lines) if x.get("event") == kind)
            for kind in ("ask", "tell", "signals", "verdict")}  # fmt: skip
    for i in range(5, 2_000):
        params = {"x": i / 2_000}
        signals = {k: {**s, "t": i - 3, "n": i + 1} for k, s in last["signals"]["signals"].items()}
        lines += [
            {**last["ask"], "trial": i, "params": params},
            {**last["tell"], "trial": i, "params": params},
            {**last["signals"], "signals": signals},
            last["verdict"],
        ]
    path.write_bytes(sealed_again(lines))
    began = time.process_time()
    study = sw.Study.load(path)
    took = time.process_time() - began
    assert len(study.history) == 2_000
    assert len(study.traces["ucb_lcb_gap"]) == 1_997
    assert took < 6  # seconds of CPU; about 0.5 on the machine it was written on


def test_a_journal_survives_values_of_every_kind(path):
    study = sw.Study(LINE, lam=0.01, journal=path)
    study.tell({"x": 1}, -0.0, 2)
    study.tell({"x": 0.25}, None, 1.5, message='exploded: \u2028 "é"\n')
    study.tell({"x": 0.5}, 1e-310, 1e300)
    study.close()
    again = resumed(path)
    assert again.history == study.history
    assert np.signbit(again.history[0].value)
    assert again.history[1].message == 'exploded: \u2028 "é"\n'


@pytest.mark.parametrize(
    "typo", [{"stopping": "pgbi"}, {"acquisition": "nix"}, {"watch": ["x"]}, {"stopping": 3}]
)
def test_options_that_are_refused_leave_the_journal_as_it_was(path, typo):
    grown(sw.Study(LINE, lam=0.01, journal=path), 3).close()
    content = path.read_bytes()
    with pytest.raises((InputError, TypeError)):
        sw.Study.resume(path, **typo)
    assert path.read_bytes() == content
    resumed(path).close()
