# SPDX-License-Identifier: Apache-2.0
"""The lines of a journal: strict JSON, on disk before a call returns, and quick to read."""

import os
import re
import time

import numpy as np
import pytest

import stopwise as sw
from stopwise.errors import InputError
from stopwise.record.journal import file as file_module
from stopwise.record.journal._lines import _READERS
from tests.support.repository import ROOT
from tests.support.resuming import grown, journal_lines, resumed
from tests.support.sealing import sealed_again
from tests.support.small_studies import LINE


def test_a_journal_is_lines_of_strict_json_with_a_header(path):
    study = grown(sw.Study(LINE, lam=0.01, watch=["prb", "srgap-med"], journal=path), 6)
    strict = re.compile(r"\b(NaN|Infinity)\b")
    assert not strict.search(path.read_text(encoding="utf-8"))
    header, *events = journal_lines(path)
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
    assert journal_lines(path)[-1]["event"] == "ask"
    study.tell(trial, 1.0)
    assert journal_lines(path)[-1]["event"] == "tell"
    assert len(synced) >= before + 2


def test_asking_twice_writes_nothing_twice(path):
    study = grown(sw.Study(LINE, lam=0.01, journal=path), 5)
    size = path.stat().st_size
    study.should_stop()
    study.result()
    study.explain()
    assert path.stat().st_size == size


def test_every_event_that_is_read_is_documented():
    text = (ROOT / "docs" / "reference" / "journal.md").read_text(encoding="utf-8")
    assert set(_READERS) <= set(re.findall(r"`\"?([a-z ]+)\"?`", text))


def test_numbers_of_numpy_are_numbers(path):
    rows = [{"a": np.float32(0.1 * i), "b": np.int64(i)} for i in range(9)]
    study = sw.Study(sw.Candidates(rows), lam=1e-6, seed=np.int64(3), journal=path)
    trial = study.ask()
    study.tell(trial, np.float64(1.0))
    study.close()
    assert resumed(path).history[0].params == trial.params


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


def test_two_thousand_trials_load_in_seconds(path):
    grown(sw.Study(LINE, lam=1e-4, watch=["ucb-lcb"], journal=path), 5).close()
    lines = journal_lines(path)
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
    kinds = [line.get("event") for line in journal_lines(path)]
    assert "resume" not in kinds
