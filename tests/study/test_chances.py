# SPDX-License-Identifier: Apache-2.0
"""Failures that teach: gains count with the chance to succeed, and the paper's Lemma holds."""

import json
import math

import numpy as np
import pytest

import stopwise as sw
from stopwise.acquisition import LogEIPC
from stopwise.errors import InputError
from stopwise.study import successes
from tests.support.gradients import check_gradient
from tests.support.problems import branin
from tests.trajectories.studies import RECORDED

BOX = {"a": sw.Real(0.0, 1.0), "b": sw.Real(0.0, 1.0)}
TABLE = sw.Candidates([{"x": i, "y": (5 * i) % 7} for i in range(30)])


def third(params):
    """Branin, which fails on the left third."""
    x = np.array([[params["a"], params["b"]]])
    return None if params["a"] < 1 / 3 else float(branin(x)[0])


def valley(params):
    return None if params["x"] in (11, 12, 13, 20) else 0.1 * (params["x"] - 13) ** 2 + params["y"]


def run(study, objective, most=30):
    while len(study.history) < most and not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, objective(trial.params))
    return study


@pytest.mark.parametrize("acquisition", ["pbgi", "logeipc", "eic"])
@pytest.mark.parametrize(
    ("space", "objective", "lam"), [(BOX, third, 0.2), (TABLE, valley, 0.02)], ids=["box", "table"]
)
def test_whenever_it_goes_on_the_choice_is_worth_its_price(acquisition, space, objective, lam):
    study = sw.Study(space, lam=lam, acquisition=acquisition, surrogate="plain", seed=2)
    judged = 0
    while len(study.history) < 40 and not study.should_stop().stop:
        now = study.snapshot() if study.history.succeeded else None
        trial = study.ask()
        if len(study.promises) and study.promises[-1].trial == trial.number:
            x = study.domain.encode(trial.params)
            log_ei = now.law(x, from_incumbent=True).log_ei(now.best).value[0]
            assert log_ei >= math.log(lam) - 1e-9  # each evaluation costs 1
            assert study.promises[-1].promised == pytest.approx(math.exp(log_ei), rel=1e-9)
            judged += now.belief.success is not None
        study.tell(trial, objective(trial.params))
    assert judged >= 2
    assert study.should_stop().stop


def test_a_gain_counts_with_the_chance_to_succeed():
    study = run(sw.Study(BOX, lam=1e-3, surrogate="plain", n_initial=6, seed=1), third, 12)
    now = study.snapshot()
    X = np.random.default_rng(0).random((20, 2))
    law = now.law(X, from_incumbent=True)
    certain = now.belief.objective.law(X).log_ei(now.best).value
    np.testing.assert_allclose(
        law.log_ei(now.best).value, certain + now.belief.log_chance(X), rtol=1e-12
    )
    score = LogEIPC().bind(now)
    check_gradient(score, X)


def test_a_failed_point_is_believed_no_better_than_the_best():
    rng = np.random.default_rng(1)
    study = sw.Study(BOX, lam=1e-3, surrogate="plain", n_initial=4)
    values, failed = [], []
    for a, b in rng.random((14, 2)).tolist():
        value = None if a > 0.7 else math.cos(3 * a) + b
        study.tell({"a": a, "b": b}, value)
        if value is None:
            failed.append((a, b))
        else:
            values.append(value)
    believed = study.snapshot().belief.own
    expected = believed.prefix(len(values))
    lifted = 0
    for x in np.array(failed):
        mean = expected(x[None, :]).mean[0]
        lifted += mean < min(values)
        expected = expected.append(x, max(min(values), mean))
    assert 0 < lifted < len(failed)  # both cases are met
    X = rng.random((20, 2))
    np.testing.assert_allclose(believed(X).mean, expected(X).mean, rtol=1e-9)


def test_a_corner_that_fails_is_left_alone_after_a_few_failures():
    """The values grow better towards a corner in which every evaluation fails."""

    def corner(p):
        return (
            None if p["a"] + p["b"] > 1.3 else -p["a"] - 0.7 * p["b"] + 0.3 * math.sin(6 * p["a"])
        )

    study = run(sw.Study(BOX, lam=0.01, surrogate="plain", seed=0), corner, 40)
    assert study.should_stop().rule == "pbgi"
    assert sum(o.failed for o in study.history) <= 8
    assert "succeed with probability" in study.explain()


@pytest.mark.parametrize("surrogate", ["plain", "default"])
def test_without_failures_nothing_changes(surrogate, tmp_path):
    made = []
    for failures in ("chance", "median"):
        path = tmp_path / f"{failures}.jsonl"
        study = sw.Study(
            TABLE, lam=0.02, surrogate=surrogate, failures=failures, journal=path, n_initial=4
        )
        run(study, lambda p: 0.1 * (p["x"] - 13) ** 2 + p["y"], 8)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        lines[0]["options"].pop("failures")
        made.append([{k: v for k, v in line.items() if k not in _CLOCKS} for line in lines])
    assert made[0] == made[1]


_CLOCKS = ("at", "seconds", "check")


@pytest.mark.parametrize("noise", [None, "learn"])
def test_a_resumed_study_believes_the_same(noise, tmp_path):
    path = tmp_path / "run.jsonl"
    options = {"lam": 1e-3, "surrogate": "plain", "noise": noise, "seed": 3}
    study = run(sw.Study(TABLE, journal=path, **options), valley, 14)
    study.close()
    again = sw.Study.resume(path)
    X = study.domain.points
    np.testing.assert_array_equal(
        study.snapshot().belief.log_chance(X), again.snapshot().belief.log_chance(X)
    )
    assert study.should_stop() == again.should_stop()
    whole = sw.Study(TABLE, **options)
    run(whole, valley, 18)
    run(again, valley, 18)
    assert [o.params for o in whole.history] == [o.params for o in again.history]
    assert whole.promises == again.promises


def test_a_journal_that_does_not_say_takes_failures_for_ordinary_values():
    assert sw.Study.load(RECORDED / "mixed-failures.jsonl").options.failures == "median"
    assert sw.Study(TABLE, lam=1e-3).options.failures == "chance"


def test_hyper_parameters_of_the_classifier_are_chosen_on_a_schedule(monkeypatch):
    sizes, choose = [], successes.choose_hyperparameters

    def noted(X, succeeded, groups):
        sizes.append(len(X))
        return choose(X, succeeded, groups)

    monkeypatch.setattr(successes, "choose_hyperparameters", noted)
    study = sw.Study(BOX, lam=1e-3, surrogate="plain", n_initial=4)
    rng = np.random.default_rng(0)
    for n in range(1, 40):
        a, b = rng.random(2).tolist()
        study.tell({"a": a, "b": b}, None if a < 1 / 3 else b)
        if n > 27:
            study.snapshot()
    assert sizes == [28, 29, 30, 33, 36, 39]


def test_other_words_are_refused():
    with pytest.raises(InputError, match=r"failures='worst': give 'chance' .* or 'median'"):
        sw.Study(TABLE, lam=1.0, failures="worst")
