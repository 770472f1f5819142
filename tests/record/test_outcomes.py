# SPDX-License-Identifier: Apache-2.0
"""Outcomes are values, and journals bring them back."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

import stopwise as sw
from stopwise.record.outcomes import (
    OUTCOMES,
    Completed,
    Failed,
    Infeasible,
    Pruned,
    outcome_as_json,
    outcome_from_json,
)

LINE = {"x": sw.Real(0, 1)}
EXAMPLES = [
    Completed(1.5),
    Completed(-2.0, "odd"),
    Failed("out of memory"),
    Failed(),
    Pruned("at 3"),
    Infeasible(2.5, "too toxic"),
]


def test_there_is_an_example_of_every_outcome():
    assert {type(outcome) for outcome in EXAMPLES} == set(OUTCOMES.values())


@pytest.mark.parametrize("outcome", EXAMPLES, ids=repr)
def test_an_outcome_is_written_and_read(outcome):
    assert outcome_from_json(outcome_as_json(outcome)) == outcome


@pytest.mark.parametrize("outcome", EXAMPLES, ids=repr)
def test_a_journal_brings_an_outcome_back(outcome, tmp_path):
    broken = {"toxicity": 9.0} if isinstance(outcome, Infeasible) else {}
    limits = dict.fromkeys(broken, (None, 3.0))
    study = sw.Study(LINE, lam=0.1, journal=tmp_path / "run.jsonl", limits=limits)
    study.tell(study.ask(), outcome, outcomes=broken)
    study.close()
    assert sw.Study.load(tmp_path / "run.jsonl").history[0].outcome == outcome


@dataclass(frozen=True)
class TimedOut:
    """An outcome with fields of its own, one of them named as a journal's lines name theirs."""

    message: str = ""
    seconds: float = 0.0
    value: ClassVar[None] = None
    is_breakdown: ClassVar[bool] = True


def test_fields_of_an_outcome_do_not_meet_those_of_a_line(tmp_path, monkeypatch):
    monkeypatch.setitem(OUTCOMES, "timed-out", TimedOut)
    path = tmp_path / "study.jsonl"
    study = sw.Study({"x": sw.Real(0, 1)}, lam=1.0, journal=path)
    study.tell(study.ask(), TimedOut("too slow", 3600.0))
    study.close()
    assert sw.Study.load(path).history[0].outcome == TimedOut("too slow", 3600.0)


def test_version_0_1_said_pruned_in_the_message():
    line = {"value": None, "message": "pruned at step 7"}
    assert outcome_from_json(line) == Pruned("pruned at step 7")
    assert outcome_from_json({"value": None, "message": "died"}) == Failed("died")
