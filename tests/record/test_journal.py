# SPDX-License-Identifier: Apache-2.0
"""Nothing already paid for is ever lost: a study that ended anyhow goes on from its journal."""

import json
import random
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import stopwise as sw
from stopwise.errors import InputError
from stopwise.record.journal import ResumeWarning
from tests.support import journalled
from tests.support.resuming import grown, journal_lines, resumed
from tests.support.small_studies import LINE, bowl


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
    journal_lines(path)


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
