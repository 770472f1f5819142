# SPDX-License-Identifier: Apache-2.0
"""Trials that run: never proposed again, never believed to be results, and asked about anew."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stopwise as sw
from stopwise.acquisition import ACQUISITIONS, LogEIPC
from stopwise.stopping import RULES
from stopwise.study.choosing import with_pending_believed
from tests.support.small_studies import LINE, rows, run, valley

MIXED = {"x": sw.Real(-1.0, 1.0), "n": sw.Integer(1, 4), "c": sw.Categorical(["a", "b"])}
TABLE = sw.Candidates(rows(30))
SPACES = {"table": TABLE, "box": LINE, "mixed": MIXED}
WORTH = "sup_log_ei_per_cost"


def hills(params):
    number = sum(v if not isinstance(v, str) else len(v) for v in params.values())
    return math.sin(3.0 * number) + 0.1 * number


def gaps(domain, params):
    """Distances between all pairs of configurations, in the unit cube."""
    X = domain.encode(params)
    return np.abs(X[:, None] - X[None]).max(axis=2)[np.triu_indices(len(X), 1)]


# --------------------------------------------------------------------------- nothing twice


@settings(max_examples=20)
@given(
    st.sampled_from(sorted(SPACES)),
    st.sampled_from(sorted(ACQUISITIONS)),
    st.sampled_from([None, "learn"]),
    st.lists(st.tuples(st.booleans(), st.integers(0, 9)), min_size=8, max_size=16),
    st.integers(0, 99),
)
def test_in_whatever_order_trials_are_asked_and_told_none_is_proposed_twice(
    space, acquisition, noise, moves, seed
):
    study = sw.Study(
        SPACES[space], lam=1e-6, acquisition=acquisition, noise=noise, n_initial=3, seed=seed
    )
    asked = []
    for more, which in moves:
        if more or not study.pending:
            asked.append(study.ask().params)
        else:
            trial = study.pending[which % len(study.pending)]
            study.tell(trial, None if which == 9 else hills(trial.params))
    assert gaps(study.domain, asked).min(initial=1.0) > 1e-6
    assert len(asked) == len(study.history) + len(study.pending)


@pytest.mark.parametrize("acquisition", ["pbgi", "logeipc", "ts"])
def test_more_may_run_than_the_design_has_points(acquisition):
    study = sw.Study(LINE, lam=1e-6, acquisition=acquisition)
    trials = [study.ask() for _ in range(9)]
    study.tell(trials[3], 1.0)
    trials += [study.ask() for _ in range(3)]  # one result, eleven running
    assert gaps(study.domain, [t.params for t in trials]).min() > 1e-6
    assert study.should_stop().reason == "initial design, 1 of 4"


def test_what_runs_makes_its_neighbourhood_less_attractive():
    """A choice believes what runs to come out at its mean, so it learns nothing there again."""
    study = sw.Study(LINE, lam=1e-6, acquisition="logeipc", n_initial=4)
    for x in (0.0, 0.3, 0.7, 1.0):
        study.tell({"x": x}, (x - 0.5) ** 2)
    first, second = study.ask(), study.ask()
    assert gaps(study.domain, [first.params, second.params]).min() > 0.01


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
@pytest.mark.parametrize("space", SPACES)
def test_trials_that_run_at_the_same_time_are_distinct(space, acquisition):
    study = sw.Study(SPACES[space], lam=1e-6, acquisition=acquisition, n_initial=4)
    run(study, hills, 5)
    trials = study.ask(5)
    assert gaps(study.domain, [t.params for t in (*trials, *study.history)]).min() > 1e-6
    assert [t.number for t in study.pending] == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
def test_trials_that_run_keep_others_at_a_distance(acquisition):
    study = sw.Study(LINE, lam=1e-3, acquisition=acquisition)
    run(study, lambda p: math.sin(9 * p["x"]), 4)
    assert not study.should_stop()
    for _ in range(3):  # not just beside each other, where nothing new is to be learned
        study.ask()
    points = sorted(t.params["x"] for t in (*study.pending, *study.history))
    assert np.diff(points).min() > 1e-3


# ------------------------------------------------------- believed values are not observations


@pytest.fixture
def beside():
    """The same data twice: with three trials running beside them, and without."""
    watch = [name for name in RULES if name not in {"fixed", "pbgi"}]
    made = []
    for _ in range(2):
        study = sw.Study(TABLE, lam=0.1, acquisition="logeipc", watch=watch)
        for x in range(12):
            study.tell({"x": x, "y": (5 * x) % 7}, 0.1 * x**2 - 3.0 * x)
        made.append(study)
    for _ in range(3):
        made[0].ask()
    return made


def test_a_believed_value_is_never_the_best(beside):
    running, alone = beside
    believed = with_pending_believed(running.snapshot())
    medians = believed.belief.objective.law(believed.pending).median
    assert medians.min() < running.best.value  # it would be, if it counted
    assert running.best == alone.best
    assert (believed.best, believed.n) == (alone.snapshot().best, 12)


def test_with_noise_too_a_believed_value_is_never_the_best():
    study = sw.Study(TABLE, lam=1e-6, noise="learn", surrogate="plain")
    for x in range(10):
        study.tell({"x": x, "y": (5 * x) % 7}, -1.0 * x + 0.01 * math.sin(40 * x))
    before = study.best
    for _ in range(3):
        study.ask()
    assert study.best == before
    believed = with_pending_believed(study.snapshot())
    assert believed.incumbent == study.snapshot().incumbent
    assert believed.best == pytest.approx(study.snapshot().best, rel=1e-9)


def test_believed_values_are_in_no_rules_data(beside):
    running, alone = beside
    for study in beside:
        study.should_stop()
    # What a rule sees of the objective is the same.
    now = running.snapshot().law(running.domain.points)
    then = alone.snapshot().law(alone.domain.points)
    np.testing.assert_allclose((now.median, now.std), (then.median, then.std), rtol=1e-12)
    assert len(running.snapshot().belief.objective) == 12
    # So every signal is, to the last bit, but for those that leave out what runs.
    assert set(running.traces) == set(alone.traces)
    for key in running.traces:
        if key != WORTH:
            assert running.traces[key] == alone.traces[key], key


def test_the_worth_of_what_remains_is_that_of_the_same_data_without_what_runs(beside):
    running, alone = beside
    alone.should_stop()
    scores = LogEIPC().bind(alone.snapshot())(alone.domain.points)
    pending = alone.domain.index_of(running.domain.encode([t.params for t in running.pending]))
    assert pending[0] == np.argmax(scores)  # the best is running
    scores[pending] = -np.inf
    assert running.should_stop().value == pytest.approx(scores.max(), rel=1e-9)
    assert alone.should_stop().value > scores.max() + 1e-6


# ---------------------------------------------------------------------- what should_stop answers


def two_left():
    """Three known rows, one that is promising, and one that is too dear as things stand."""
    study = sw.Study(
        {"n": sw.Integer(0, 4)},
        lam=0.0025,
        cost=lambda params: 50.0 if params["n"] == 4 else 1.0,
        n_initial=3,
    )
    for n, value in ((0, 4.0), (1, 3.0), (2, 2.0)):
        study.tell({"n": n}, value)
    return study


def test_it_answers_for_new_trials_and_says_so():
    study = two_left()
    hopeful = study.should_stop()
    assert not hopeful.stop
    assert "running" not in hopeful.reason
    assert study.ask().params == {"n": 3}
    sober = study.should_stop()  # n = 3 runs, and n = 4 is not worth its price
    assert sober.stop
    assert sober.value < hopeful.value
    assert sober.reason.endswith(": stop (for new trials; 1 still running)")
    assert study.should_stop() == sober


def test_the_reason_says_how_many_are_running():
    study = run(sw.Study(TABLE, lam=1e9), valley, 7)
    assert "running" not in study.should_stop().reason
    study.ask()
    study.ask()
    verdict = study.should_stop()
    assert verdict.stop
    assert verdict.reason.endswith(": stop (for new trials; 2 still running)")
    study.tell(study.pending[0], 0.0)
    assert study.should_stop().reason.endswith("(for new trials; 1 still running)")


def test_a_stop_is_provisional_and_asked_again_at_each_tell():
    study = two_left()
    trial = study.ask()
    assert study.should_stop().stop
    study.tell(trial, 1.0)  # the line goes on, and n = 4 is worth even its price
    assert not study.should_stop().stop
    poor = two_left()
    poor.tell(poor.ask(), 2.0)
    assert poor.should_stop().stop
    assert "running" not in poor.should_stop().reason


def test_there_is_one_record_per_number_of_observations_whoever_asks_when():
    def recorded(*, asked):
        study = sw.Study(TABLE, lam=1e-9, acquisition="pbgi-d", seed=1)
        run(study, hills, 7)
        for _ in range(4):
            trials = []
            for _ in range(3):
                trials.append(study.ask())
                if asked:
                    study.should_stop()
            for trial in reversed(trials):
                study.tell(trial, hills(trial.params))
        study.should_stop()
        return study

    curious, silent = recorded(asked=True), recorded(asked=False)
    assert curious.history == silent.history  # a question changes nothing
    assert curious.traces == silent.traces
    ns = [signal.n for signal in curious.traces[WORTH]]
    assert ns == sorted(set(ns))


def test_explain_and_verdict_speak_of_the_same_candidate():
    study = two_left()
    study.ask()
    assert "candidate is n = 4: it is" in study.explain()
    gain = study.should_stop().reason.split("expected to gain ")[1].split(" ")[0]
    assert f"it is expected to gain {gain} " in study.explain()
