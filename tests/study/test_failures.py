# SPDX-License-Identifier: Apache-2.0
"""Evaluations that fail: recorded, paid for, avoided, and never taken for results."""

import math
import re

import numpy as np
import pytest

import stopwise as sw
from stopwise.acquisition import ACQUISITIONS, LogEIPC
from stopwise.record.outcomes import Failed, Pruned
from stopwise.stopping import RULES, FixedTrials
from stopwise.study.budget import expected_range
from stopwise.study.choosing import with_pending_believed
from tests.support.problems import branin
from tests.support.small_studies import LINE, bowl, rows, run, valley

TABLE = sw.Candidates(rows(30))


def raises(params):
    message = f"no luck at {params['x']:.3f}"
    raise ArithmeticError(message)


# -------------------------------------------------------------------------------- the record

OUTCOMES = {
    "raise": (raises, r"ArithmeticError: no luck at 0\.\d\d\d"),
    "nan": (lambda _: math.nan, "the value was nan"),
    "inf": (lambda _: math.inf, "the value was inf"),
    "-inf": (lambda _: -math.inf, "the value was -inf"),
    "numpy": (lambda _: np.float32("nan"), r"the value was np\.float32\(nan\)"),
    "None": (lambda _: None, r"the objective returned None \(is a return missing\?\)"),
}


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_failure_is_recorded_with_its_cost_and_message_and_the_study_goes_on(outcome):
    fails, message = OUTCOMES[outcome]

    def objective(params):
        return fails(params) if params["x"] < 0.4 else (params["x"] - 0.7) ** 2

    result = sw.minimize(
        objective, LINE, lam=1e-3, cost=lambda p: 2.0 + p["x"], max_trials=25, surrogate="plain"
    )
    failed = [o for o in result.history if o.failed]
    assert failed
    for o in failed:
        assert o.params["x"] < 0.4
        assert o.cost == 2.0 + o.params["x"]
        assert re.fullmatch(message, o.message)
    assert result.spent == sum(2.0 + o.params["x"] for o in result.history)
    assert result.history[-1].number > failed[0].number  # it went on
    assert abs(result.best.params["x"] - 0.7) < 0.05
    assert result.verdict.rule == "pbgi"


def test_costs_of_failures_are_learned_from_where_they_are_told():
    study = sw.Study(LINE, lam=1e-3, cost="reported")
    for i in range(8):
        study.tell({"x": i / 7}, None if i > 3 else 1.0 * i, cost=1.0 if i <= 3 else 50.0)
    study.should_stop()
    price = np.exp(study.snapshot().belief.log_price(np.array([[0.1], [0.9]])))
    assert price == pytest.approx([1.0, 50.0], rel=0.3)


def test_a_failure_without_a_cost_costs_nothing_and_teaches_no_price():
    study = sw.Study(LINE, lam=1e-3, cost="reported", n_initial=2)
    study.tell({"x": 0.1}, 1.0, cost=5.0)
    study.tell({"x": 0.2}, 2.0, cost=5.0)
    study.tell({"x": 0.3}, None)
    assert study.history[-1].cost == 0.0
    study.should_stop()
    price = np.exp(study.snapshot().belief.log_price(np.array([[0.3]])))
    assert price == pytest.approx([5.0], rel=0.1)


@pytest.mark.parametrize("before", [0, 5])
def test_ten_in_a_row_end_it_with_the_reason_and_nine_do_not(before):
    calls = []

    def objective(params):
        calls.append(params)
        return bowl(params) if len(calls) <= before else raises(params)

    result = sw.minimize(objective, LINE, lam=1e-9, n_initial=5)
    assert len(result.history) == before + 10
    assert (result.verdict.rule, result.verdict.stop) == ("failures", True)
    last = result.history[-1]
    assert result.verdict.reason == (
        f"the last 10 evaluations failed, the latest with {last.message!r}: stop"
    )
    assert (result.best is None) == (before == 0)


# ----------------------------------------------------------------- a third of the box that fails

LOWEST = 0.3978873577
NEAR = 0.1  # where values spread by 50
WHOLE = {"a": sw.Real(0.0, 1.0), "b": sw.Real(0.0, 1.0)}
REST = {"a": sw.Real(1 / 3, 1.0), "b": sw.Real(0.0, 1.0)}


def evaluations_to_the_best(space, seed, *, failing):
    """How many it takes to come near the minimum, failed ones included; at most 60."""
    study = sw.Study(space, lam=1e-4, seed=seed, n_initial=6)
    for n in range(1, 61):
        trial = study.ask()
        x = trial.params["a"], trial.params["b"]
        failed = failing and x[0] < 1 / 3
        value = None if failed else float(branin(np.array([x]))[0])
        study.tell(trial, value)
        if value is not None and value < LOWEST + NEAR:
            return n
    return 61


def counts(space, seeds, *, failing=False):
    return np.array([evaluations_to_the_best(space, seed, failing=failing) for seed in seeds])


def test_where_a_third_of_the_box_fails_a_third_more_evaluations_are_enough():
    """Branin has a minimum in the left third, which fails, and two in the rest."""
    failing, excluded = counts(WHOLE, range(2), failing=True), counts(REST, range(2))
    assert failing.max() <= 60  # it is always found
    assert failing.mean() <= 4 / 3 * excluded.mean()


@pytest.mark.slow
def test_a_third_more_evaluations_are_enough_over_many_seeds():
    failing, excluded, ordinary = (
        counts(WHOLE, range(20), failing=True), counts(REST, range(20)), counts(WHOLE, range(20))
    )  # fmt: skip
    assert np.mean(failing <= 60) >= 0.9  # a search may miss it at any price, with failures or not
    assert failing.mean() <= 4 / 3 * min(excluded.mean(), ordinary.mean())


# --------------------------------------------------------------------- what is believed of them


@pytest.fixture(params=["chance", "median"])
def failed(request):
    """The same successes twice: with two failures beside them, and without."""
    made = []
    for _ in range(2):
        study = sw.Study(TABLE, lam=1e-3, n_initial=6, surrogate="plain", failures=request.param)
        for x in (0, 4, 9, 15, 20, 25):
            params = {"x": x, "y": (5 * x) % 7}
            study.tell(params, valley(params))
        made.append(study)
    for x in (13, 14):  # where the best would be
        made[0].tell({"x": x, "y": (5 * x) % 7}, None)
    return made


def test_a_failed_point_is_believed_to_be_no_better_than_the_best_or_ordinary(failed):
    """No better than the best where the chance is learned; else ordinary."""
    study, without = failed
    at = study.domain.encode([o.params for o in study.history if o.failed])
    values = [o.value for o in study.history.succeeded]
    now, hoped = study.snapshot().belief, without.snapshot().belief.objective.law(at)
    learned = study.options.failures == "chance"
    least = min(values) if learned else np.median(values)
    belief = now.objective.law(at)
    assert (belief.median >= least - 1e-6 * np.ptp(values)).all()
    assert (belief.median >= hoped.median - 1e-6 * np.ptp(values)).all()
    assert (belief.std < 1e-3 * hoped.std).all()
    assert hoped.median.min() < np.median(values)  # it was hoped to be good


def test_where_evaluations_fail_the_chance_to_succeed_is_low(failed):
    study, without = failed
    at = study.domain.encode([o.params for o in study.history])
    chances = np.exp(study.snapshot().belief.log_chance(at))
    if study.options.failures == "median":
        assert study.snapshot().belief.success is None
        assert (chances == 1.0).all()
    else:
        assert chances[-2:].max() < 0.5 < chances[:3].min()
    assert without.snapshot().belief.success is None


def test_what_is_near_a_failure_is_less_attractive(failed):
    study, without = failed
    near = study.domain.encode([{"x": x, "y": (5 * x) % 7} for x in (12, 16)])
    score = LogEIPC()
    assert (score.bind(study.snapshot())(near) < score.bind(without.snapshot())(near)).all()


def test_a_failure_is_no_observation_and_never_the_best(failed):
    study, without = failed
    for now in (study.snapshot(), with_pending_believed(study.snapshot())):
        assert (now.n, now.t) == (6, 0)
        np.testing.assert_array_equal(now.X, without.snapshot().X)
        np.testing.assert_array_equal(now.y, without.snapshot().y)
        assert (now.best, now.incumbent) == (without.snapshot().best, without.snapshot().incumbent)
    assert study.best == without.best


def test_with_noise_too_what_is_believed_of_failures_is_not_reported():
    made = []
    for fails in (True, False):
        study = sw.Study(TABLE, lam=1e-3, n_initial=8, noise=0.5)
        for x in (3, 8, 11, 12, 14, 15, 20, 25):
            study.tell({"x": x, "y": (5 * x) % 7}, 0.1 * (x - 13) ** 2)
        if fails:
            study.tell({"x": 13, "y": 2}, None)
        made.append(study.best)
    assert made[0].params == made[1].params
    assert made[0].value == pytest.approx(made[1].value, rel=1e-9)
    assert made[0].std == pytest.approx(made[1].std, rel=1e-9)


def test_the_range_of_a_budget_or_a_guarantee_is_of_what_succeeds(failed):
    """Without the failures' values, and less where it is learned that the best place fails."""
    study, without = failed
    gain, hoped = study.guarantee().gain, without.guarantee().gain
    if study.options.failures == "chance":
        assert 0.0 < gain < 0.8 * hoped
    else:
        assert gain == pytest.approx(hoped, rel=1e-9)
    gains = [expected_range(s.snapshot().prefix(6)).value for s in failed]
    assert gains[0] == pytest.approx(gains[1], rel=1e-9)


def test_rules_that_count_values_do_not_count_failures(failed):
    study, without = failed
    for now in failed:
        now.record("gss", "convergence", "immediate")
    assert study.traces == without.traces


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
@pytest.mark.parametrize("noise", [None, "learn"])
def test_every_acquisition_goes_on_after_failures_and_repeats_none(acquisition, noise):
    study = sw.Study(TABLE, lam=1e-3, acquisition=acquisition, noise=noise, n_initial=4)
    asked = []
    for i in range(12):
        trial = study.ask()
        asked.append(trial.params["x"])
        study.tell(trial, None if i % 3 == 1 else valley(trial.params))
    assert len(set(asked)) == 12
    assert study.best.params["x"] not in {o.params["x"] for o in study.history if o.failed}


@pytest.mark.parametrize("rule", [name for name in RULES if name != "fixed"])
def test_every_rule_answers_beside_failures(rule):
    study = sw.Study(TABLE, lam=1e-3, stopping=rule, n_initial=4)
    for i in range(9):
        trial = study.ask()
        study.tell(trial, None if i % 3 == 1 else valley(trial.params))
        assert study.should_stop().reason
    assert study.should_stop().rule == rule


def test_failures_in_the_design_are_made_up_for():
    study = sw.Study(LINE, lam=1e-9, n_initial=4)
    for i in range(6):
        said = f"initial design, {max(i - 2, 0)} of 4"
        failed = f"; {min(i, 2)} failed, and others are tried instead" if i else ""
        assert study.should_stop().reason == said + failed
        trial = study.ask()
        study.tell(trial, None if i < 2 else bowl(trial.params))
    assert study.should_stop().rule == "pbgi"
    assert study.traces["sup_log_ei_per_cost"].current.t == 0


def test_where_all_candidates_fail_it_ends():
    result = sw.minimize(raises, {"x": sw.Integer(0, 3)}, lam=0.1)
    assert (result.verdict.rule, result.best, len(result.history)) == ("exhausted", None, 4)
    again = sw.minimize(raises, {"x": sw.Integer(0, 3)}, lam=0.1, noise="learn", replicates=True)
    assert (again.verdict.rule, again.best, len(again.history)) == ("exhausted", None, 4)


def test_a_cap_counts_failures():
    result = sw.minimize(
        lambda p: None if p["x"] % 2 else valley(p),
        TABLE,
        lam=1e-3,
        stopping=FixedTrials(50),
        max_trials=11,
    )
    assert len(result.history) == 11


# ---------------------------------------------------------------------- told one by one


@pytest.mark.parametrize(
    "reported", [None, math.nan, math.inf, -math.inf, np.nan, 10**400], ids=lambda v: str(v)[:9]
)
def test_a_failed_evaluation_is_recorded_with_its_cost_and_is_never_the_best(reported):
    study = sw.Study(LINE, lam=0.1, cost="reported")
    for i in range(5):
        study.tell(study.ask(), 1.0 + i, cost=1.0)
    study.should_stop()
    trial = study.ask()
    study.tell(trial, reported, cost=7.0, message="out of memory")
    last = study.history[-1]
    assert (last.value, last.failed, last.cost, last.message) == (None, True, 7.0, "out of memory")
    assert study.spent == 12.0
    assert study.best.value == 1.0
    assert len(study.history) == 6
    study.should_stop()
    assert study.snapshot().n == 5


def test_ten_failures_in_a_row_end_it_with_the_latest_message():
    study = sw.Study(LINE, lam=1e-300)
    run(study, bowl, 5)
    for i in range(10):
        assert not study.should_stop().stop
        study.tell(study.ask(), None, message=f"crash {i}")
    verdict = study.should_stop()
    assert (verdict.stop, verdict.rule, verdict.value) == (True, "failures", 10.0)
    assert verdict.reason == "the last 10 evaluations failed, the latest with 'crash 9': stop"
    study.tell(study.ask(), 1.0)
    assert study.should_stop().rule == "pbgi"


def test_nine_failures_and_a_success_do_not_end_it():
    study = sw.Study(LINE, lam=1e-300)
    for i in range(30):
        trial = study.ask()
        study.tell(trial, bowl(trial.params) if i % 10 == 9 else None)
        assert not study.should_stop().stop


def test_ten_failures_end_it_before_anything_was_learned():
    study = sw.Study(LINE, lam=0.1)
    for _ in range(10):
        study.tell(study.ask(), math.nan)
    verdict = study.should_stop()
    assert (verdict.rule, study.best) == ("failures", None)
    assert study.result().best is None
    assert study.explain() == f"failures: {verdict.reason}."


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
def test_on_a_line_nothing_next_to_a_failure_is_tried_again(acquisition):
    study = run(sw.Study(LINE, lam=1e-9, acquisition=acquisition), lambda p: p["x"], 6)
    failed = []
    for _ in range(6):
        trial = study.ask()
        assert all(abs(trial.params["x"] - x) > 1e-6 for x in failed)
        study.tell(trial, None)
        failed.append(trial.params["x"])


def test_a_rule_does_not_wait_for_a_region_that_fails():
    def objective(params):
        return None if params["x"] < 0.35 else (params["x"] - 0.3) ** 2

    result = sw.minimize(objective, LINE, lam=1e-3, max_trials=60)
    assert result.verdict.rule == "pbgi"
    assert len(result.history) < 40
    assert 0.35 <= result.best.params["x"] < 0.4


def test_a_failure_is_known_to_the_next_verdict():
    study = sw.Study({"n": sw.Integer(0, 9)}, lam=0.05, n_initial=3)
    for n, value in ((0, 9.0), (1, 8.0), (2, 7.0)):
        study.tell({"n": n}, value)
    hopeful = study.should_stop()
    assert not hopeful.stop
    trial = study.ask()
    study.tell(trial, None)
    sober = study.should_stop()
    assert sober != hopeful
    assert sober.value < hopeful.value
    assert [s.n for s in study.traces["sup_log_ei_per_cost"]] == [3]
    assert study.should_stop() == sober


def test_a_failed_configuration_that_succeeds_after_all_counts():
    study = run(sw.Study(TABLE, lam=1e-9), valley, 6)
    trial = study.ask()
    study.tell(trial, None)
    study.should_stop()
    study.tell(trial.params, -50.0)
    assert study.best.value == -50.0
    study.should_stop()
    at = study.domain.encode(trial.params)
    assert study.snapshot().belief.objective.law(at).median == pytest.approx([-50.0], rel=1e-6)


def test_the_same_configuration_may_fail_twice_or_give_two_values():
    study = run(sw.Study(LINE, lam=1e-9), bowl, 5)
    for value in (None, None, 0.4, 0.5):
        study.tell({"x": 0.77}, value)
    study.should_stop()
    assert study.ask().params != {"x": 0.77}


def test_ten_breakdowns_end_a_study_and_ten_pruned_trials_do_not():
    for outcome, ends in ((Failed("no luck"), True), (Pruned("at step 3"), False)):
        study = sw.Study(LINE, lam=0.1, n_initial=20)
        for _ in range(10):
            study.tell(study.ask(), outcome)
        assert study.should_stop().stop == ends
