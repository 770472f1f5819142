# SPDX-License-Identifier: Apache-2.0
"""Promises: what a study expected of its choices, and what came of them."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stopwise as sw
from stopwise.core.beliefs.lowest_mean import expected_fall
from stopwise.record.history import Observation
from stopwise.record.outcomes import Completed, Pruned
from stopwise.study.choosing import with_pending_believed
from stopwise.study.external import ExternalStudy
from tests.support.resuming import quietly_resumed
from tests.support.sealing import sealed_again

LINE = {"x": sw.Real(0, 1)}
BOX = {"x": sw.Real(0, 1), "z": sw.Real(0, 1)}
TABLE = sw.Candidates([{"x": i / 24, "z": (7 * i % 25) / 24} for i in range(25)])
ACQUISITIONS = ["pbgi", "logeipc", "lcb", "ts", "eic"]


def wavy(params):
    return math.sin(7.0 * params["x"]) + 0.5 * (params.get("z", 0.3) - 0.3) ** 2


def wobble(number):
    return 0.1 * math.sin(12.9898 * (number + 1) * 78.233)


def going_on(study, trials, *, noise=0.0, sign=1.0):
    while len(study.history) < trials and not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, sign * (wavy(trial.params) + noise * wobble(trial.number)))
    return study


# ------------------------------------------------------------------- exact observations


@settings(max_examples=12, deadline=None)
@given(
    st.sampled_from([LINE, BOX, TABLE]),
    st.sampled_from(ACQUISITIONS),
    st.sampled_from([1.0, -1.0]),
    st.integers(0, 50),
)
def test_in_turn_the_gains_add_up_to_the_progress_after_the_design(space, name, sign, seed):
    direction = "minimize" if sign > 0 else "maximize"
    study = sw.Study(space, lam=1e-4, acquisition=name, direction=direction, seed=seed)
    first = going_on(study, study.n_initial, sign=sign).best.value
    going_on(study, study.n_initial + 5, sign=sign)
    promises = study.promises
    assert [p.trial for p in promises] == [o.number for o in study.history[study.n_initial :]]
    assert promises.delivered == pytest.approx(sign * (first - study.best.value), abs=1e-12)
    assert all(p.promised >= 0.0 and p.delivered >= 0.0 for p in promises)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_the_promise_is_the_expected_improvement_by_the_belief_that_chose(direction):
    sign = 1.0 if direction == "minimize" else -1.0
    study = going_on(sw.Study(BOX, lam=1e-3, surrogate="plain", direction=direction), 9, sign=sign)
    snapshot, trial = study.snapshot(), study.ask()
    law = snapshot.belief.objective.law(study.domain.encode([trial.params]))
    draws = law.mean + law.std * np.random.default_rng(0).standard_normal(200_000)
    gains = np.maximum(snapshot.best - draws, 0.0)
    promise = study.promises[-1]
    error = gains.std() / math.sqrt(len(gains))
    assert promise.promised == pytest.approx(gains.mean(), abs=4 * error)
    assert promise.promised > 10 * error
    assert (promise.trial, promise.delivered) == (trial.number, None)
    best = study.best.value
    study.tell(trial, best - sign * 0.125)
    assert study.promises[-1].delivered == pytest.approx(0.125)


def test_the_initial_design_promises_nothing():
    study = going_on(sw.Study(BOX, lam=1e-3, n_initial=5), 5)
    assert len(study.promises) == 0
    study.ask()
    assert len(study.promises) == 1


@pytest.mark.parametrize("told", [None, math.nan, Pruned("early")])
def test_a_failure_delivers_nothing(told):
    study = going_on(sw.Study(BOX, lam=1e-3), 7)
    study.tell(study.ask(), told)
    assert study.promises[-1].delivered == 0.0


def test_data_from_elsewhere_promise_nothing_and_raise_the_bar():
    study = going_on(sw.Study(BOX, lam=1e-3), 7)
    trial, best = study.ask(), study.best.value
    study.tell({"x": 0.111, "z": 0.222}, best - 1.0)
    study.tell(trial, best - 1.5)
    assert len(study.promises) == 2
    assert study.promises[-1].delivered == pytest.approx(0.5)


def test_side_by_side_the_credit_goes_in_the_order_of_telling():
    study = going_on(sw.Study(BOX, lam=1e-4), 6)
    before = study.snapshot()
    trials = [study.ask() for _ in range(3)]
    best = study.best.value
    for trial, value in zip(reversed(trials), (best - 1.0, best - 0.5, best - 3.0), strict=True):
        study.tell(trial, value)
    assert [p.delivered for p in study.promises] == pytest.approx([2.0, 0.0, 1.0])
    assert [p.trial for p in study.promises] == [t.number for t in trials]
    assert before.best == best
    assert study.promises[1].promised > 0.0


def test_a_pending_trial_is_believed_when_the_next_one_promises():
    study = going_on(sw.Study(LINE, lam=1e-5, surrogate="plain"), 6)
    study.ask()
    believed = with_pending_believed(study.snapshot())
    trial = study.ask()
    law = believed.belief.objective.law(study.domain.encode([trial.params]))
    wanted = math.exp(float(law.log_ei(believed.best).value[0]))
    assert study.promises[-1].promised == wanted


def test_a_trial_that_is_dropped_has_no_promise():
    study = going_on(sw.Study(BOX, lam=1e-3), 7)
    kept = study.promises
    study.drop(study.ask())
    assert study.promises == kept


# ------------------------------------------------------------------- noisy observations


def test_with_noise_the_promise_is_the_expected_fall_of_the_lowest_mean():
    study = going_on(
        sw.Study(BOX, lam=1e-4, surrogate="plain", noise=0.01, replicates=True), 9, noise=1.0
    )
    snapshot = study.snapshot()
    trial = study.ask()
    [x] = study.domain.encode([trial.params])
    assert study.promises[-1].promised == expected_fall(snapshot.belief.posterior, snapshot.X, x)
    value = study.best.value - 1.0
    before = snapshot.belief.posterior
    after = before.append(x, value)
    points = np.vstack([snapshot.X, x])
    wanted = before.law(snapshot.X).mean.min() - after.law(points).mean.min()
    study.tell(trial, value)
    assert study.promises[-1].delivered == pytest.approx(wanted, rel=1e-12)
    assert wanted > 0.0


def test_with_noise_a_disappointment_delivers_nothing_and_a_failure_neither():
    study = going_on(sw.Study(BOX, lam=1e-4, noise="learn"), 8, noise=1.0)
    study.tell(study.ask(), 9.0)
    study.tell(study.ask(), None)
    assert [p.delivered for p in study.promises[-2:]] == [0.0, 0.0]


def test_with_noise_side_by_side_what_was_told_meanwhile_counts_before():
    study = going_on(sw.Study(BOX, lam=1e-5, surrogate="plain", noise=0.01), 8, noise=1.0)
    posterior = study.snapshot().belief.posterior
    first, second = study.ask(), study.ask()
    X = study.snapshot().X
    [one], [two] = (study.domain.encode([t.params]) for t in (first, second))
    study.tell(second, -3.0)
    study.tell(first, -5.0)
    meanwhile = posterior.append(two, -3.0)
    evaluated = np.vstack([X, two])
    lows = [
        meanwhile.law(evaluated).mean.min(),
        meanwhile.append(one, -5.0).law(np.vstack([evaluated, one])).mean.min(),
    ]
    assert study.promises[-2].delivered == pytest.approx(lows[0] - lows[1], rel=1e-9)
    assert study.promises[-2].delivered > 0.0


def test_under_its_own_belief_a_noisy_study_keeps_its_promises_on_average():
    """Outcomes are drawn from the belief; the mean of what is delivered is what was promised."""
    study = going_on(sw.Study(BOX, lam=1e-5, surrogate="plain", noise=0.02), 9, noise=1.0)
    trial = study.ask()
    [x] = study.domain.encode([trial.params])
    law = study.snapshot().belief.posterior.law(x[None, :])
    spread = math.sqrt(float(law.std[0]) ** 2 + 0.02)
    observations = float(law.mean[0]) + spread * np.random.default_rng(2).standard_normal(1500)
    delivered = study._promising.delivered
    gains = [
        delivered(Observation(trial.number, trial.params, Completed(float(value)), 1.0))
        for value in observations
    ]
    error = np.std(gains) / math.sqrt(len(gains))
    assert study.promises[-1].promised == pytest.approx(np.mean(gains), abs=4 * error)


# -------------------------------------------------------------------------- journals


@pytest.mark.parametrize("noise", [None, "learn"])
@pytest.mark.parametrize("failures", [False, True])
def test_a_study_that_is_interrupted_has_the_same_promises_to_the_last_bit(
    tmp_path, noise, failures
):
    """Also of a trial that was pending, and of one that was told beside it."""

    def value(trial):
        if failures and trial.number % 5 == 2:
            return None
        return wavy(trial.params) + wobble(trial.number)

    def run(path, again):
        study = sw.Study(BOX, lam=1e-6, noise=noise, seed=3, journal=path)
        while len(study.history) < 12:
            study.should_stop()
            trials = [study.ask(), study.ask()]
            study.tell(trials[1], value(trials[1]))
            study = again(study)
            study.tell(trials[0], value(trials[0]))
        promises = study.promises
        study.close()
        assert sw.Study.load(path).promises == promises
        return promises

    def interrupted(study):
        before = study.promises
        study.close()
        study = quietly_resumed(tmp_path / "broken.jsonl")
        assert study.promises == before
        while len(study.pending) and study._context.state.unanswered:
            study.ask()
        return study

    whole = run(tmp_path / "whole.jsonl", lambda study: study)
    assert run(tmp_path / "broken.jsonl", interrupted) == whole
    assert len(whole) >= 5
    assert whole.promised > 0.0


def test_a_journal_from_before_promises_goes_on_with_new_ones(tmp_path):
    path = tmp_path / "run.jsonl"
    study = going_on(sw.Study(BOX, lam=1e-5, journal=path), 8)
    open_trial = study.ask()
    study.close()
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for key in ("promised", "delivered"):
        assert any(key in line for line in lines)
        lines = [{k: v for k, v in line.items() if k != key} for line in lines]
    path.write_bytes(sealed_again(lines))
    study = quietly_resumed(path)
    assert len(study.promises) == 0
    study.tell(study.ask(), wavy(open_trial.params))
    assert len(study.promises) == 0
    going_on(study, 11)
    assert len(study.promises) == 2
    study.close()


# ------------------------------------------------------------------- others choose


def test_choices_of_others_promise_nothing_and_ours_do():
    study = ExternalStudy(BOX, lam=1e-4)
    for i in range(9):
        trial = study.begin({"x": (i * 0.37) % 1, "z": (i * 0.61) % 1})
        study.tell(trial, wavy(trial.params))
    assert len(study.promises) == 0
    trial = study.ask()
    study.tell(dict(trial.params), wavy(trial.params))  # by its params, as Ax tells it
    [promise] = study.promises
    assert promise.trial == trial.number
    assert promise.delivered is not None
