# SPDX-License-Identifier: Apache-2.0
"""Journals without flock, links and pwrite (as on Windows), as far as Linux can show it."""

import subprocess
import sys

import pytest

import stopwise as sw
from stopwise.errors import JournalError
from stopwise.record.journal import JournalInUseError, _creation, _lock
from stopwise.record.journal.file import LineFile
from stopwise.record.journal.reading import HEADER_START
from tests.trajectories.studies import lines_of

LINE = {"x": sw.Real(0, 1)}
pytest.importorskip("filelock")


@pytest.fixture
def elsewhere(monkeypatch):
    """A system as Windows is."""
    monkeypatch.setattr(_lock, "fcntl", None)
    monkeypatch.setattr(_creation, "_CAN_LINK", False)
    monkeypatch.delattr(_creation.os, "pwrite")


def told(path, trials=3):
    study = sw.Study(LINE, lam=0.01, journal=path)
    for _ in range(trials):
        trial = study.ask()
        study.tell(trial, trial.params["x"])
    return study


def test_a_study_is_written_and_resumed(elsewhere, tmp_path):
    there, here = tmp_path / "there.jsonl", tmp_path / "here.jsonl"
    told(there).close()
    with sw.Study.resume(there) as study:
        assert len(study.history) == 3
        study.tell(study.ask(), 0.2)
    assert len(sw.Study.load(there).history) == 4
    told(here).close()
    with pytest.raises(JournalError, match="exists already"):
        sw.Study(LINE, lam=0.01, journal=here)


def test_lines_are_those_of_any_system(elsewhere, tmp_path, monkeypatch):
    told(tmp_path / "a.jsonl").close()
    monkeypatch.undo()
    told(tmp_path / "b.jsonl").close()
    a, b = (lines_of(tmp_path / name) for name in ("a.jsonl", "b.jsonl"))
    assert a == b


def test_there_is_one_writer(elsewhere, tmp_path):
    study = told(tmp_path / "run.jsonl")
    with pytest.raises(JournalInUseError, match="is being written by another study"):
        LineFile.reopen(tmp_path / "run.jsonl")
    assert len(sw.Study.load(tmp_path / "run.jsonl").history) == 3  # others may read
    study.close()
    LineFile.reopen(tmp_path / "run.jsonl")[0].close()


def test_another_process_is_kept_out_and_let_in(elsewhere, tmp_path):
    path = tmp_path / "run.jsonl"
    study = told(path)
    script = (
        "import sys, stopwise as sw\n"
        "from stopwise.record.journal import _lock\n"
        "_lock.fcntl = None\n"
        "sw.Study.resume(sys.argv[1]).close()\n"
    )
    run = [sys.executable, "-c", script, str(path)]
    done = subprocess.run(run, check=False, capture_output=True, text=True)
    assert "JournalInUseError" in done.stderr
    study.close()
    done = subprocess.run(run, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_journal_that_was_begun_and_holds_nothing_is_begun_anew(elsewhere, tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_bytes(HEADER_START[:5])
    told(path).close()
    assert len(sw.Study.load(path).history) == 3


def test_an_error_while_creating_leaves_no_lock(elsewhere, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    path = tmp_path / "run.jsonl"
    with monkeypatch.context() as patch:
        patch.setattr(_creation, "_pwrite", full)
        with pytest.raises(JournalError, match="No space left"):
            sw.Study(LINE, lam=0.01, journal=path)
    told(path).close()
    assert not _lock._BESIDE


def test_a_shell_hears_of_commands():
    error = _lock._in_use(_creation.Path("a/run.jsonl"))
    assert "Study.load" in str(error)
    assert "stopwise report" in error.in_shell
