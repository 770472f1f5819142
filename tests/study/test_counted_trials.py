# SPDX-License-Identifier: Apache-2.0
"""Studies in which a number of trials alone decides: no price, no budget, no rule."""

from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from stopwise.acquisition import PBGI, LogEIPC
from stopwise.errors import InputError
from stopwise.record.journal import ResumeWarning
from stopwise.stopping.signals import GAIN_PER_COST

SPACE = {"x": sw.Real(0, 1), "y": sw.Real(0, 1)}


def bowl(params: dict[str, Any]) -> float:
    """Lowest, 0, at (0.3, 0.6)."""
    return float((params["x"] - 0.3) ** 2 + (params["y"] - 0.6) ** 2)


def run(study: sw.Study) -> list[sw.Verdict]:
    """Ask and tell until the study stops; the verdicts on the way."""
    verdicts = [study.should_stop()]
    while not verdicts[-1].stop:
        trial = study.ask()
        study.tell(trial, bowl(trial.params))
        verdicts.append(study.should_stop())
    return verdicts


def test_a_number_of_trials_alone_is_used_up_by_log_expected_improvement() -> None:
    study = sw.Study(SPACE, max_trials=12)
    verdicts = run(study)
    assert len(study.history) == 12
    assert isinstance(study.acquisition, LogEIPC)
    assert study.n_initial == 4  # a third of the trials
    assert study.best.value < 1e-3
    assert {verdict.rule for verdict in verdicts} == {"initial", "max-trials"}
    assert verdicts[-1].rule == "max-trials"


def test_verdicts_say_what_one_more_trial_would_bring() -> None:
    study = sw.Study(SPACE, max_trials=8, value_name="error", cost_unit="$")
    *_, before, last = run(study)
    gain = study.remaining().gain
    assert gain > 0
    said = "the best remaining candidate is expected to lower error by"
    assert before.reason.startswith(f"7 of 8 trials; {said}")
    assert last.reason.startswith(f"8 of at most 8 trials; {said}")
    assert "and costs $1" in last.reason
    trace = study.traces[GAIN_PER_COST.key]
    assert [signal.n for signal in trace.signals] == [3, 4, 5, 6, 7, 8]  # after the design of 3
    assert trace.current.facts["gain"] == pytest.approx(gain, rel=1e-9)
    assert "would go on for any lam below" in study.explain()


def test_a_table_that_is_used_up_says_so_before_the_count_does() -> None:
    rows = [{"x": x / 4} for x in range(5)]
    study = sw.Study(sw.Candidates(rows), max_trials=9, n_initial=2)
    while not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, trial.params["x"])
    assert study.should_stop().rule == "exhausted"


def test_a_named_acquisition_is_kept() -> None:
    assert run(sw.Study(SPACE, max_trials=6, acquisition="lcb"))[-1].rule == "max-trials"
    priced = sw.Study(SPACE, max_trials=6, stopping=[], lam=0.1)
    run(priced)
    assert priced.acquisition == PBGI(0.1)
    assert len(priced.history) == 6


@pytest.mark.parametrize("given", [{}, {"max_trials": 9, "stopping": ["pbgi", "gss"]}])
def test_a_rule_that_needs_a_price_is_still_refused_without_one(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"needs lam.*max_trials=\.\.\. alone"):
        sw.Study(SPACE, **given)


def test_a_study_that_nothing_would_end_is_refused() -> None:
    with pytest.raises(InputError, match="would never stop"):
        sw.Study(SPACE, stopping=[], lam=0.1)


def test_a_resumed_study_goes_on_and_may_be_given_a_price(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with sw.Study(SPACE, max_trials=6, journal=path) as study:
        run(study)
    with pytest.warns(ResumeWarning, match="max_trials is now 9"):
        longer = sw.Study.resume(path, max_trials=9)
    with longer:
        run(longer)
        assert len(longer.history) == 9
    alone = sw.Study(SPACE, max_trials=9, n_initial=3)
    run(alone)
    assert [o.params for o in longer.history] == [o.params for o in alone.history]
    with pytest.warns(ResumeWarning, match="lam is now 10|max_trials is now None"):
        priced = sw.Study.resume(path, lam=10.0, max_trials=None)
    with priced:
        assert priced.should_stop().rule == "pbgi"
