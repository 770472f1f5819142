# SPDX-License-Identifier: Apache-2.0
"""Damage to a journal is found: no damaged file gives another history unnoticed."""

import json
import re
import shutil

import pytest

import stopwise as sw
from stopwise.errors import JournalError
from tests.support.damaged import KINDS, begun, damage, resumed
from tests.support.repository import ROOT
from tests.support.resuming import quietly_resumed
from tests.trajectories.studies import RECORDED

FOUND = {"error that names the line", "torn end repaired"}


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_found(tmp_path, kind):
    assert set(damage(tmp_path, kind, 60, seed=1)) <= FOUND | {"the same study"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_found_a_thousand_times(tmp_path, kind):
    seen = damage(tmp_path, kind, 1000, seed=2)
    assert set(seen) <= FOUND | {"the same study"}
    assert seen["error that names the line"] >= 950


def test_a_flipped_bit_of_the_last_line_or_of_the_header_is_found(path, tmp_path):
    content = begun(path)
    first, last = content.index(b"\n") + 1, content.rindex(b"\n", 0, -1) + 1
    damaged = tmp_path / "damaged.jsonl"
    for at in (*range(0, first, 7), *range(last, len(content) - 1)):
        damaged.write_bytes(content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :])
        with pytest.raises(
            JournalError, match=r"line 1\b|first line" if at < first else r"line \d"
        ):
            sw.Study.load(damaged)


def test_a_last_line_that_lacks_only_its_newline_is_kept(path):
    content = begun(path)
    whole, _ = resumed(path)
    for end in (b"", b"\x0b"):
        path.write_bytes(content[:-1] + end)
        assert resumed(path) == (whole, False)
        lines = path.read_bytes().splitlines(keepends=True)
        assert b"".join(lines[: content.count(b"\n")]) == content


def test_the_last_whole_line_cannot_be_missed(path):
    """A file without its last lines is a file that was not written further (docs/reference)."""
    content = begun(path)
    path.write_bytes(content[: content.rindex(b"\n", 0, -1) + 1])
    _, torn = resumed(path)
    assert not torn


def test_the_documented_way_to_check_the_seals(path, monkeypatch):
    begun(path)
    text = (ROOT / "docs" / "reference" / "journal.md").read_text("utf-8")
    [recipe] = [
        code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "blake2b" in code
    ]
    monkeypatch.chdir(path.parent)
    exec(recipe, {})  # noqa: S102  our own
    path.write_bytes(path.read_bytes().replace(b'"trial": 3', b'"trial": 4', 1))
    with pytest.raises(AssertionError):
        exec(recipe, {})  # noqa: S102


# --------------------------------------------------------------------- journals of version 0.1


def test_a_journal_of_0_1_is_sealed_from_its_first_resume_on(path):
    shutil.copy(RECORDED / "mixed-eic.jsonl", path)
    old = path.read_bytes()
    quietly_resumed(path).close()
    content = path.read_bytes()
    assert content.startswith(old)
    [line] = content[len(old) :].splitlines()
    assert json.loads(line)["event"] == "resume"
    quietly_resumed(path).close()
    for at in range(10, len(old), 997):  # damage to what 0.1 wrote is found from now on
        damaged = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        path.write_bytes(damaged)
        with pytest.raises(JournalError, match=r"line \d+ of|first line"):
            quietly_resumed(path)
        assert path.read_bytes() == damaged


def test_a_line_without_a_seal_after_sealed_ones_is_refused(path):
    begun(path)
    unsealed = json.dumps({"event": "lambda", "lam0": 0.5}).encode() + b"\n"
    path.write_bytes(path.read_bytes() + unsealed)
    with pytest.raises(JournalError, match="If the machine crashed while this last line"):
        sw.Study.resume(path)


@pytest.mark.parametrize("key", ["space", "options", "version"])
def test_a_header_of_0_1_that_lacks_something_is_named(path, key):
    header, *others = (RECORDED / "mixed-eic.jsonl").read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join([header.replace(f'"{key}"', '"nix"'), *others]), encoding="utf-8")
    with pytest.raises(JournalError, match=r"line 1 of .* is not understood"):
        quietly_resumed(path)
