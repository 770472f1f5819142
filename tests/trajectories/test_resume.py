# SPDX-License-Identifier: Apache-2.0
"""Journals that version 0.1 wrote are read, and go on."""

import shutil
import warnings
from pathlib import Path

import pytest

import stopwise as sw
from stopwise.record.journal import ResumeWarning
from tests.trajectories.studies import STUDIES, lines_of

RECORDED = Path(__file__).parent / "0.1"
OWN = {
    "box",
    "finite",
    "budget",
    "budget-finite",
    "budget-lam",
    "pending-budget",
}  # cost= callable


@pytest.mark.parametrize("name", STUDIES)
def test_a_journal_of_0_1_resumes_and_goes_on(name, tmp_path):
    path = tmp_path / "run.jsonl"
    shutil.copy(RECORDED / f"{name}.jsonl", path)
    space, options, evaluate, trials, _ = STUDIES[name]
    handed = {"cost": options["cost"]} if name in OWN else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResumeWarning)
        study = sw.Study.resume(path, space=space, **handed)
    told = [line for line in lines_of(RECORDED / f"{name}.jsonl") if line.get("event") == "tell"]
    assert [o.value for o in study.history] == [line["value"] for line in told]
    assert [o.cost for o in study.history] == [line["cost"] for line in told]
    verdict = study.should_stop()
    assert verdict.reason
    if not verdict.stop:
        trial = study.ask()
        study.tell(trial, *evaluate(trial))
        assert len(study.history) == len(told) + 1 <= trials + 1
    study.close()


@pytest.mark.parametrize("name", ["mixed", "pending-mixed"])
def test_a_journal_of_0_1_that_was_cut_goes_on_as_the_whole_one_did(name, tmp_path):
    """Resumed in the middle, the next choice is the one that 0.1 made."""
    lines = (RECORDED / f"{name}.jsonl").read_text("utf-8").splitlines(keepends=True)
    events = lines_of(RECORDED / f"{name}.jsonl")
    asks = [at for at, line in enumerate(events) if line.get("event") == "ask"]
    chosen = [at for at in asks if events[at]["fitted"] is not None and not _running(events, at)]
    at = chosen[len(chosen) // 2]
    path = tmp_path / "run.jsonl"
    path.write_text("".join(lines[:at]), "utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResumeWarning)
        study = sw.Study.resume(path)
    params = study.ask().params
    for key, value in events[at]["params"].items():
        assert params[key] == (pytest.approx(value, rel=1e-4) if _is_real(value) else value)
    study.close()


def _running(events, at):
    asked = [line["trial"] for line in events[:at] if line.get("event") == "ask"]
    told = [line["trial"] for line in events[:at] if line.get("event") == "tell"]
    return set(asked) - set(told)


def _is_real(value):
    return isinstance(value, float)
