# SPDX-License-Identifier: Apache-2.0
"""Every step of the recorded studies: what was asked, believed, signalled and answered."""

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stopwise.study.options import unwritten
from tests.trajectories.studies import ANEW, PINNED, RECORDED, STUDIES, lines_of

HERE = Path(__file__).parent
CLOSE = 1e-6  # no hash: a libm of another version may move last bits
NEW = {"ask": ("promised",), "tell": ("delivered",)}  # keys that 0.1 did not write, by event


def differences(new, old, where):
    """Where two pieces of JSON differ by more than rounding."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        return [d for k in old for d in differences(new[k], old[k], f"{where}.{k}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(new, old, strict=True))
        return [d for i, (a, b) in pairs for d in differences(a, b, f"{where}[{i}]")]
    both = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (old, new))
    if both and math.isclose(new, old, rel_tol=CLOSE, abs_tol=1e-9):
        return []
    return [] if new == old else [f"{where}: {old!r} became {new!r}"]


def as_of_0_1(line):
    """A line without what 0.1 did not write."""
    new = NEW.get(line.get("event"), ())
    return {key: value for key, value in line.items() if key not in new}


LOTS = [list(STUDIES)[i::4] for i in range(4)]  # each runs in one process


@pytest.mark.parametrize("names", LOTS, ids=" ".join)
def test_every_step_is_as_it_was(names, tmp_path):
    command = [sys.executable, str(HERE / "studies.py"), str(tmp_path), *names]
    subprocess.run(command, check=True, env={**os.environ, **PINNED}, capture_output=True)
    for name in names:
        check(name, tmp_path)


def check(name, tmp_path):
    """The study went as it was recorded."""
    anew = ANEW / f"{name}.jsonl"
    recorded = anew if anew.exists() else RECORDED / f"{name}.jsonl"
    new, old = lines_of(tmp_path / f"{name}.jsonl"), lines_of(recorded)
    later = new[0]["options"].keys() - old[0]["options"].keys()
    assert {name: new[0]["options"].pop(name) for name in later} == {
        name: unwritten()[name] for name in later
    }
    for number, (a, b) in enumerate(zip(new, old, strict=False), start=1):
        where = f"{name}, line {number}, {b.get('event', 'header')}"
        assert differences(as_of_0_1(a), as_of_0_1(b), where) == []
    assert len(new) == len(old), name
