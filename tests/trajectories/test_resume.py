# SPDX-License-Identifier: Apache-2.0
"""Journals that version 0.1 wrote are read, and go on."""

import shutil

import pytest

from tests.support.resuming import quietly_resumed
from tests.trajectories.studies import RECORDED, STUDIES, lines_of


@pytest.mark.parametrize("name", STUDIES)
def test_a_journal_of_0_1_resumes_and_goes_on(name, tmp_path):
    path = tmp_path / "run.jsonl"
    shutil.copy(RECORDED / f"{name}.jsonl", path)
    space, options, evaluate, trials, _ = STUDIES[name]
    handed = {"cost": options["cost"]} if callable(options.get("cost")) else {}
    study = quietly_resumed(path, space=space, **handed)
    told = [line for line in lines_of(RECORDED / f"{name}.jsonl") if line.get("event") == "tell"]
    assert [o.value for o in study.history] == [line["value"] for line in told]
    assert [o.cost for o in study.history] == [line["cost"] for line in told]
    if not study.should_stop().stop:
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
    study = quietly_resumed(path)
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
