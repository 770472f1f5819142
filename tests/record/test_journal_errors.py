# SPDX-License-Identifier: Apache-2.0
"""Journals that cannot be written, read or understood: an error says so, and changes nothing."""

import errno
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import stopwise as sw
from stopwise.errors import InputError, JournalError
from stopwise.record.journal import ResumeWarning
from stopwise.record.journal import file as file_module
from tests.support.resuming import grown, journal_lines, resumed
from tests.support.sealing import edited, sealed_again
from tests.support.small_studies import LINE


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
    lines = journal_lines(path)
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
    lines = journal_lines(path)
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
    twice = [line for line in journal_lines(path) for _ in range(1 if "journal" in line else 2)]
    path.write_bytes(sealed_again(twice))
    expected.close()
    again = resumed(path)
    assert again.history == expected.history
    assert again._context.state == expected._context.state


def test_a_missing_journal_or_folder_is_an_error_that_says_so(path):
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


def test_in_a_read_only_folder_a_journal_is_read_and_neither_begun_nor_resumed(tmp_path):
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
