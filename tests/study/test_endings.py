# SPDX-License-Identifier: Apache-2.0
"""How a study ends without its rule: nothing is left, nothing varies, or a cap is reached."""

import math

import pytest

import stopwise as sw
from tests.support.small_studies import LINE, MIXED, bowl, rows, run, valley

ROWS = rows(20)
TABLE = sw.Candidates(ROWS)


def test_an_exhausted_domain_ends_it_with_the_reason():
    study = sw.Study(sw.Candidates(ROWS[:7]), lam=1e-300)
    while not study.should_stop().stop:
        run(study, valley, 1)
    verdict = study.should_stop()
    assert (verdict.rule, len(study.history)) == ("exhausted", 7)
    assert verdict.reason == "all 7 configurations have been asked for: stop"
    assert (verdict.value, verdict.threshold) == (7.0, 7.0)
    assert study.best.value == min(map(valley, ROWS[:7]))


@pytest.mark.parametrize(
    "space", [sw.Candidates(ROWS[:1]), {"a": sw.Categorical(["only"])}], ids=["row", "choice"]
)
def test_a_domain_of_one_point(space):
    result = sw.minimize(lambda _: 2.0, space, lam=1e-3)
    assert len(result.history) == 1
    assert result.verdict.reason == "the only configuration has been asked for: stop"
    assert result.best.value == 2.0


@pytest.mark.parametrize("value", [0.0, 3.0, -1e-5, 0.1 + 0.2, 12345.678])
@pytest.mark.parametrize("space", [LINE, MIXED, TABLE], ids=["box", "mixed", "table"])
def test_a_constant_objective_ends_with_the_initial_design(space, value):
    result = sw.minimize(lambda _: value, space, lam=1e-6)
    assert len(result.history) == 2 * (len(result.best.params) + 1)
    assert (result.verdict.rule, result.verdict.stop) == ("pbgi", True)
    assert result.best.value == value
    gain = math.exp(result.verdict.value)
    assert gain < 1e-9 * max(abs(value), 1.0)  # next to nothing, not merely little


def test_the_cap_counts_every_trial_that_was_asked_for():
    study = sw.Study(LINE, lam=1e-300, max_trials=6)
    study.tell({"x": 0.5}, 1.0)  # from elsewhere: not asked for
    for i in range(6):
        assert not study.should_stop().stop
        trial = study.ask()
        study.tell(trial, None if i == 2 else bowl(trial.params))
    verdict = study.should_stop()
    assert (verdict.stop, verdict.rule) == (True, "max-trials")
    assert verdict.reason == "6 of at most 6 trials: stop"
    assert (verdict.value, verdict.threshold) == (6, 6)


def test_the_cap_counts_what_is_running_and_the_design():
    study = sw.Study(LINE, lam=1e-300, max_trials=3)
    for _ in range(3):
        assert not study.should_stop().stop
        study.ask()
    assert study.should_stop().reason == (
        "3 of at most 3 trials: stop (for new trials; 3 still running)"
    )


def test_at_the_cap_the_rules_are_still_recorded():
    result = sw.minimize(bowl, LINE, lam=1e-300, max_trials=9, watch=["convergence"])
    assert result.verdict.rule == "max-trials"
    for trace in result.traces.values():
        assert [s.t for s in trace] == [0, 1, 2, 3, 4, 5, 6]
