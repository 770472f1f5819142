# SPDX-License-Identifier: Apache-2.0
"""Minimise and maximise in one call: what is called, timed, reported and survived."""

import math
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stopwise as sw
from stopwise.core.beliefs.prices import KnownCost, LearnedCost
from stopwise.errors import InputError, InputTypeError
from stopwise.record.journal import ResumeWarning
from stopwise.stopping import FixedTrials
from stopwise.study import loop
from tests.support.small_studies import LINE, bowl, rows

MIXED = {"x": sw.Real(-2.0, 2.0), "n": sw.Integer(1, 9), "act": sw.Categorical(["relu", "tanh"])}
TABLE = sw.Candidates(rows(20))


def uneven(params):
    return math.sin(3 * params["x"]) + 0.1 * params["n"] + 0.3 * (params["act"] == "tanh")


# ------------------------------------------------------------------------------------ mirrored


@settings(max_examples=6)
@given(
    st.sampled_from(["pbgi", "logeipc", "lcb", "ts", "pbgi-d", "eic"]),
    st.sampled_from([None, 0.01, "learn"]),
    st.sampled_from(["plain", "default"]),
    st.integers(0, 99),
)
def test_maximising_is_minimising_upside_down_bit_for_bit(acquisition, noise, surrogate, seed):
    options = {
        "lam": 0.02, "cost": lambda p: 1.0 + p["n"], "acquisition": acquisition, "noise": noise,
        "surrogate": surrogate, "seed": seed, "stopping": FixedTrials(2),
        "watch": ["pbgi", "ucb-lcb", "srgap-med"],
    }  # fmt: skip
    down = sw.minimize(uneven, MIXED, **options)
    up = sw.maximize(lambda params: -uneven(params), MIXED, **options)
    assert [o.params for o in up.history] == [o.params for o in down.history]
    assert [o.value for o in up.history] == [-o.value for o in down.history]
    assert up.traces == down.traces
    assert up.verdict == down.verdict
    assert up.spent == down.spent
    assert (up.best.params, up.best.number) == (down.best.params, down.best.number)
    assert up.best.value == -down.best.value


def test_maximising_finds_the_largest_and_says_so_in_positive_words():
    result = sw.maximize(lambda p: 5 - (p["x"] - 0.7) ** 2, LINE, lam=1e-3)
    assert result.best.value == max(o.value for o in result.history)
    assert abs(result.best.params["x"] - 0.7) < 0.05
    assert "expected to gain -" not in result.verdict.reason


def test_minimize_and_maximize_take_no_direction():
    for function in (sw.minimize, sw.maximize):
        with pytest.raises(TypeError, match="direction"):
            function(bowl, LINE, lam=0.1, direction="maximize")


# --------------------------------------------------------------------------------- what is called


def test_the_objective_gets_one_dict_of_its_own():
    seen = []

    def objective(params):
        assert type(params) is dict
        seen.append(dict(params))
        params.clear()  # nobody else's
        return bowl(seen[-1])

    result = sw.minimize(objective, LINE, lam=0.1, start_from=[{"x": 0.5}])
    assert [o.params for o in result.history] == seen
    assert seen[0] == {"x": 0.5}


def test_nothing_is_evaluated_once_it_says_stop():
    calls = []
    result = sw.minimize(
        lambda p: calls.append(p) or bowl(p), LINE, lam=1e6, stopping="immediate", n_initial=5
    )
    assert len(calls) == len(result.history) == 5
    assert result.verdict.stop
    assert result.spent == 5.0


def test_options_are_those_of_a_study():
    with pytest.raises(TypeError, match="'lamda' is no option of minimize"):
        sw.minimize(bowl, LINE, lamda=0.1)
    with pytest.raises(InputError, match=r"needs lam\."):
        sw.minimize(bowl, LINE)


# ----------------------------------------------------------------------------------- seconds


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves only when told to; the loop's and nobody else's."""
    hand = SimpleNamespace(now=1000.0)
    fake = SimpleNamespace(
        perf_counter=lambda: hand.now,
        get_clock_info=lambda _: SimpleNamespace(resolution=1e-9),
    )
    monkeypatch.setattr(loop, "time", fake)
    return hand


def test_seconds_are_those_of_the_objectives_own_body(clock, monkeypatch):
    for slow in ("ask", "tell", "should_stop", "result"):
        method = getattr(sw.Study, slow)

        def slowed(self, *args, method=method, **kwargs):
            clock.now += 500.0
            answer = method(self, *args, **kwargs)
            clock.now += 500.0
            return answer

        monkeypatch.setattr(sw.Study, slow, slowed)

    def objective(params):
        clock.now += 2.0 + params["x"]
        return bowl(params)

    result = sw.minimize(objective, LINE, lam=1e-3, cost="seconds", stopping=FixedTrials(3))
    assert clock.now > 1e4
    for o in result.history:
        assert o.cost == pytest.approx(2.0 + o.params["x"], rel=1e-9)
    assert result.spent == pytest.approx(sum(2.0 + o.params["x"] for o in result.history))


def test_seconds_of_an_evaluation_that_fails_are_counted(clock):
    def objective(params):
        clock.now += 3.0
        if params["x"] > 0.5:
            message = "too large"
            raise ValueError(message)
        return bowl(params)

    result = sw.minimize(objective, LINE, lam=1e-3, cost="seconds", stopping=FixedTrials(2))
    failed = [o for o in result.history if o.failed]
    assert failed
    assert all(o.cost == pytest.approx(3.0) for o in result.history)
    assert {o.message for o in failed} == {"ValueError: too large"}


def test_seconds_too_short_for_the_clock_are_its_resolution(clock):
    result = sw.minimize(bowl, LINE, lam=1e-3, cost="seconds", stopping="immediate")
    assert [o.cost for o in result.history] == [1e-9] * 2


def test_seconds_are_real_seconds():
    def objective(params):
        time.sleep(0.02)
        return bowl(params)

    result = sw.minimize(objective, LINE, lam=1e-3, cost="seconds", stopping="immediate")
    assert all(0.019 < o.cost < 1.0 for o in result.history)
    assert result.verdict.rule == "immediate"


# ----------------------------------------------------------------------------------- reported


def test_reported_costs_are_spent_and_learned():
    result = sw.minimize(
        lambda p: (uneven(p), 10.0 * p["n"]), MIXED, lam=1e-3, cost="reported", max_trials=14,
        surrogate="plain",
    )  # fmt: skip
    assert [o.cost for o in result.history] == [10.0 * o.params["n"] for o in result.history]
    assert [o.value for o in result.history] == [uneven(o.params) for o in result.history]
    last = result.history[-1].params["n"]
    assert last == 1  # it has learned what is cheap


@pytest.mark.parametrize("returned", [0.5, (0.5,), (0.5, 1.0, 2.0), [0.5, 1.0], "abc"])
def test_a_report_that_is_no_pair_is_refused(returned):
    with pytest.raises(InputTypeError) as error:
        sw.minimize(lambda _: returned, LINE, lam=0.1, cost="reported")
    assert str(error.value) == (
        f"with cost='reported' the objective returns (value, cost), got {returned!r}. Return both,"
        " or use cost='seconds' to have it timed."
    )


@pytest.mark.parametrize("cost", [None, "seconds"])
def test_a_pair_where_none_is_expected_is_refused_with_what_to_do(cost):
    with pytest.raises(InputTypeError, match=r"\(0\.5, 3\.0\) \(tuple\).*cost='reported'"):
        sw.minimize(lambda _: (0.5, 3.0), LINE, lam=0.1, cost=cost)


@pytest.mark.parametrize(
    "cost", [lambda _: 2.0, KnownCost(lambda _: 2.0)], ids=["callable", "model"]
)
def test_a_pair_where_the_cost_is_known_says_what_was_spent(cost):
    result = sw.minimize(lambda p: (bowl(p), 5.0), LINE, lam=0.1, cost=cost)
    assert {o.cost for o in result.history} == {5.0}
    assert "costs 2," in result.verdict.reason


def test_a_cost_model_that_learns_reads_pairs():
    result = sw.minimize(lambda p: (bowl(p), 3.0), LINE, lam=1e-3, cost=LearnedCost(prior="gamma"))
    assert {o.cost for o in result.history} == {3.0}
    with pytest.raises(InputError, match="a cost is missing"):
        sw.minimize(bowl, LINE, lam=1e-3, cost=LearnedCost())


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan])
def test_a_reported_cost_that_cannot_be_paid_is_refused(bad):
    with pytest.raises(InputError, match="a cost must be positive and finite"):
        sw.minimize(lambda p: (bowl(p), bad), LINE, lam=0.1, cost="reported")


def test_known_costs_need_no_report():
    column = [0.5 + 0.1 * i for i in range(20)]
    for cost in (lambda p: 0.5 + 0.1 * p["x"], column):
        result = sw.minimize(lambda p: p["y"], TABLE, lam=0.05, cost=cost)
        assert [o.cost for o in result.history] == [
            0.5 + 0.1 * o.params["x"] for o in result.history
        ]


# ------------------------------------------------------------------------------------ failures


def test_an_exception_is_a_failed_evaluation_with_its_message():
    def objective(params):
        if params["x"] < 0.5:
            message = "diverged"
            raise FloatingPointError(message)
        return bowl(params)

    result = sw.minimize(objective, LINE, lam=1e-3, max_trials=30)
    failed = [o for o in result.history if o.failed]
    assert failed
    assert {o.message for o in failed} == {"FloatingPointError: diverged"}
    assert result.best.params["x"] >= 0.5
    assert result.verdict.stop
    assert all(o.cost == 1.0 for o in failed)


def test_an_exception_where_costs_are_reported_has_none_to_report():
    def objective(params):
        if params["x"] < 0.5:
            raise ArithmeticError
        return bowl(params), 2.0

    result = sw.minimize(objective, LINE, lam=1e-3, cost="reported", max_trials=20)
    assert {o.cost for o in result.history if o.failed} == {0.0}
    assert result.spent == 2.0 * len(result.history.succeeded)


def test_none_where_costs_are_reported_is_a_failure_too():
    result = sw.minimize(
        lambda p: None if p["x"] < 0.5 else (bowl(p), 2.0),
        LINE, lam=1e-3, cost="reported", max_trials=20,
    )  # fmt: skip
    assert any(o.failed for o in result.history)
    assert result.best.params["x"] >= 0.5


def test_an_objective_that_always_fails_ends_with_the_reason():
    def objective(x, y):
        return x + y

    result = sw.minimize(objective, LINE, lam=1e-3)
    assert (len(result.history), result.best, result.verdict.rule) == (10, None, "failures")
    assert "TypeError" in result.verdict.reason
    assert "missing 1 required positional argument: 'y'" in result.verdict.reason


@pytest.mark.parametrize("objective", [3, None, {"x": 1.0}], ids=repr)
def test_what_cannot_be_called_is_refused_before_anything_is_tried(objective):
    with pytest.raises(InputTypeError, match=r"the objective is .*, which cannot be called: give"):
        sw.minimize(objective, LINE, lam=1e-3)


def test_an_interrupt_is_not_a_failure():
    def objective(params):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sw.minimize(objective, LINE, lam=1e-3)


def test_an_objective_that_never_succeeds_is_said():
    with pytest.warns(UserWarning, match="the first of 10 said: ZeroDivisionError") as caught:
        result = sw.minimize(lambda _: 1 / 0, {"x": sw.Real(0, 1)}, lam=0.01)
    assert result.best is None
    assert Path(caught[0].filename).name == "test_loop.py"


def test_a_cap_that_is_kept_from_the_journal_is_named(tmp_path, capsys):
    call = {"lam": 1e-9, "journal": tmp_path / "run.jsonl"}
    capped = sw.minimize(lambda p: p["x"], LINE, max_trials=2, **call)
    assert capped.verdict.reason == "2 of at most 2 trials: stop"
    again = sw.minimize(lambda p: p["x"], LINE, progress=True, **call)
    kept = "max_trials is left out here, so that of the journal holds: give another, or None"
    assert again.verdict.reason == f"2 of at most 2 trials: stop ({kept})"
    assert kept in capsys.readouterr().err
    with pytest.warns(ResumeWarning, match="max_trials is now 3; it was 2"):
        more = sw.minimize(lambda p: p["x"], LINE, max_trials=3, **call)
    assert more.verdict.reason == "3 of at most 3 trials: stop"


@pytest.mark.parametrize("optimize", [sw.minimize, sw.maximize])
def test_warnings_of_both_loops_name_the_line_that_called_them(optimize, tmp_path):
    def fails(params):
        raise ValueError(params)

    with pytest.warns(UserWarning, match="no evaluation has succeeded") as warned:
        optimize(fails, {"n": sw.Integer(1, 3)}, lam=0.1)
    assert warned[0].filename == __file__
    with pytest.warns(UserWarning, match="more is mostly better") as warned:
        sw.minimize(lambda p: p["n"], {"n": sw.Integer(1, 3)}, lam=0.1, value_name="accuracy")
    assert warned[0].filename == __file__
    call = {"space": {"n": sw.Integer(1, 9)}, "journal": tmp_path / "run.jsonl", "n_initial": 2}
    optimize(lambda p: p["n"], lam=0.1, max_trials=2, **call)
    with pytest.warns(ResumeWarning) as warned:
        optimize(lambda p: p["n"], lam=0.2, max_trials=2, **call)
    assert warned[0].filename == __file__
