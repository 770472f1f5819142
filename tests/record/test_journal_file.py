# SPDX-License-Identifier: Apache-2.0
"""The file of a journal: how it comes into being, and what happens if somebody takes it away."""

import copy
import os
import pickle
import re
import signal
import subprocess
import sys
import time

import pytest

import stopwise as sw
from stopwise.errors import InputError, JournalError
from stopwise.record.journal import _creation, has_begun
from stopwise.record.journal import file as file_module
from stopwise.record.outcomes import Pruned

SPACE = {"x": sw.Real(0.0, 1.0)}


def begun(path, trials=2):
    study = sw.Study(SPACE, lam=1e-6, journal=path)
    for _ in range(trials):
        trial = study.ask()
        study.tell(trial, trial.params["x"])
    return study


# ------------------------------------------------------------------------------- creation


@pytest.fixture(params=["nameless", "hidden"])
def way(request, monkeypatch):
    if request.param == "hidden":
        monkeypatch.delattr(_creation.os, "O_TMPFILE", raising=False)
    return request.param


def test_a_journal_is_created_and_nothing_beside_it(path, way):
    begun(path).close()
    assert list(path.parent.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask()
    assert len(sw.Study.resume(path).history) == 2


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_path_that_exists_is_not_replaced(path, way):
    path.write_text("precious", encoding="utf-8")
    with pytest.raises(JournalError, match="exists already"):
        begun(path)
    assert path.read_text(encoding="utf-8") == "precious"
    assert list(path.parent.iterdir()) == [path]


def test_a_hidden_file_that_a_killed_process_left_is_used(path, monkeypatch):
    monkeypatch.delattr(_creation.os, "O_TMPFILE", raising=False)
    path.with_name(".run.jsonl.new").write_bytes(b"left over, and longer than a header" * 100)
    begun(path).close()
    assert list(path.parent.iterdir()) == [path]
    sw.Study.resume(path)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_creation_leaves_nothing(path, way, monkeypatch, error):
    def interrupted(descriptor):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(_creation.os, "fsync", interrupted)
        with pytest.raises(error):
            begun(path)
    assert list(path.parent.iterdir()) == []
    begun(path)


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"journal": "stopwise", "schema": 2, "vers', b"\0" * 50]
)
def test_a_file_without_a_whole_header_is_begun_anew(path, content):
    path.write_bytes(content)
    assert not has_begun(path)
    result = sw.minimize(lambda p: p["x"], SPACE, lam=0.01, journal=path)
    assert len(sw.Study.load(path).history) == len(result.history)
    assert list(path.parent.iterdir()) == [path]


KILLED = """
import sys
import stopwise as sw
for i in range(10_000):
    sw.Study({"x": sw.Real(0, 1)}, lam=0.01, journal=f"{sys.argv[1]}/{i}.jsonl").close()
    if i == 0:
        print(flush=True)  # everything is imported: from here on it may be killed
"""


def test_killed_during_creation_leaves_nothing_but_journals(tmp_path):
    for times in range(5):
        folder = tmp_path / str(times)
        folder.mkdir()
        child = subprocess.Popen([sys.executable, "-c", KILLED, folder], stdout=subprocess.PIPE)
        child.stdout.readline()
        time.sleep(0.05 + 0.013 * times)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        made = list(folder.iterdir())
        assert len(made) > 1
        for file in made:
            sw.Study.resume(file).close()


# ------------------------------------------------------------------------------- losing it


def deleted(path):
    path.unlink()


def replaced(path):
    path.rename(path.with_name("old.jsonl"))
    path.write_text("something else", encoding="utf-8")


def cut(path):
    os.truncate(path, 100)


def written_to(path):
    with path.open("a", encoding="utf-8") as file:
        file.write("a remark\n")


LOSSES = [deleted, replaced, cut, written_to]


@pytest.mark.parametrize("lose", LOSSES)
def test_a_lost_journal_is_noticed_and_can_be_saved(path, lose):
    study = begun(path)
    trial = study.ask()
    lose(path)
    before = study.history
    for _ in range(2):
        with pytest.raises(JournalError, match=r"while this study.*study\.move_journal\(path\)"):
            study.tell(trial, 0.5)
    assert (study.history, study.pending) == (before, (trial,))
    saved = path.with_name("saved.jsonl")
    assert study.move_journal(saved) == saved
    study.tell(trial, 0.5)
    study.close()
    again = sw.Study.resume(saved)
    assert again.history == study.history
    assert len(again.history) == 3


def test_after_a_resume_all_of_it_can_be_saved_too(path):
    begun(path).close()
    study = sw.Study.resume(path)
    trial = study.ask()
    path.unlink()
    study.move_journal(path)  # it is free again
    study.tell(trial, 0.5)
    study.close()
    assert sw.Study.resume(path).history == study.history


@pytest.mark.parametrize("lose", LOSSES)
def test_minimize_saves_what_was_evaluated(path, lose):
    calls = []

    def objective(params):
        calls.append(params["x"])
        if len(calls) == 6:
            lose(path)
        return (params["x"] - 0.3) ** 2

    with pytest.raises(JournalError, match="trial 5 too, was saved: go on with") as caught:
        sw.minimize(objective, SPACE, lam=1e-5, journal=path)
    saved = path.with_name("run-moved.jsonl")
    assert str(saved) in str(caught.value)
    result = sw.minimize(objective, SPACE, lam=1e-5, journal=saved)
    assert [o.params["x"] for o in result.history] == calls  # nothing was evaluated twice


def test_minimize_saves_a_journal_that_is_missed_when_it_asks(path):
    def price(params):
        if path.exists() and len(sw.Study.load(path).history) == 3:
            path.unlink()
        return 1.0

    with pytest.raises(JournalError, match="Everything was saved"):
        sw.minimize(lambda p: p["x"], SPACE, lam=1e-5, cost=price, journal=path)
    saved = path.with_name("run-moved.jsonl")
    assert len(sw.Study.load(saved).history) == 3


def test_where_no_copy_can_be_written_the_error_holds_the_value(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()

    def objective(params):
        (folder / "run.jsonl").unlink()
        folder.rmdir()
        return 0.123

    with pytest.raises(JournalError, match=r"trial 0, .* gave 0\.123 .*No copy could be written"):
        sw.minimize(objective, SPACE, lam=1e-5, journal=folder / "run.jsonl")


def test_a_study_without_a_journal_has_none_to_move():
    with pytest.raises(InputError, match="has no journal"):
        sw.Study(SPACE, lam=0.1).move_journal("somewhere.jsonl")


# ------------------------------------------------------------------------------- copies and texts


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])  # noqa: S301
def test_a_copy_of_a_study_does_not_write(path, copied):
    study = begun(path)
    twin = copied(study)
    assert twin.history == study.history
    with pytest.raises(JournalError, match="is closed"):
        twin.ask()
    del twin
    study.ask()
    plain = sw.Study(SPACE, lam=0.1)
    assert copied(plain).ask() == plain.ask()


class SpeechlessError(Exception):
    def __str__(self):
        raise RuntimeError("no words")


ERRORS = [
    ValueError("lone surrogate \ud800, \udcff and a pair \ud83d\ude00"),
    ValueError("NUL \0, bell \a, escape \x1b[31m, \u2028, \x85, \x7f"),
    ValueError(b"\xff\xfe"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    KeyError("\udc80"),
    OSError(2, "no such file", "caf\udce9"),
    SpeechlessError(),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_whatever_an_objective_raises_is_written(path, error):
    def objective(params):
        if params["x"] > 0.5:
            raise error
        return params["x"]

    result = sw.minimize(objective, SPACE, lam=0.01, journal=path)
    failed = [o for o in result.history if o.failed]
    assert failed
    assert all(type(error).__name__ in o.message for o in failed)
    assert sw.Study.load(path).history == result.history
    assert not any(re.search("[\ud800-\udfff]", o.message) for o in failed)


@pytest.mark.parametrize("told", [{"message": "\ud800"}, {"value": Pruned("\ud800")}])
def test_a_message_that_is_told_is_written(path, told):
    study = sw.Study(SPACE, lam=0.01, journal=path)
    study.tell({"x": 0.5}, **{"value": None, **told})
    study.close()
    assert sw.Study.resume(path).history == study.history
    assert study.history[0].message == "\\ud800"


def test_choices_with_lone_surrogates_survive(path):
    space = {"file": sw.Categorical(["caf\udce9", "plain"])}
    study = sw.Study(space, lam=1e-6, journal=path)
    for _ in range(2):
        trial = study.ask()
        study.tell(trial, 1.0)
    study.close()
    assert sw.Study.resume(path).history == study.history


def test_a_write_that_was_interrupted_is_completed_or_removed(path, monkeypatch):
    """Whatever part of a line is on disk when an interrupt arrives, and however often."""
    real = os.pwrite

    def torn(descriptor, data, position):
        real(descriptor, data[: len(data) // 2], position)
        raise KeyboardInterrupt

    study = begun(path)
    trial = study.ask()
    with monkeypatch.context() as patch:
        patch.setattr(file_module.os, "pwrite", torn)
        with pytest.raises(KeyboardInterrupt):
            study.tell(trial, 0.5)
        torn_bytes = path.read_bytes()
        with pytest.raises(KeyboardInterrupt):
            study.tell(trial, 0.5)
        assert path.read_bytes() == torn_bytes
    study.tell(trial, 0.5)
    assert len(study.history) == 3
    study.close()
    assert sw.Study.resume(path).history == study.history
