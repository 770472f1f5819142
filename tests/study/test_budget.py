# SPDX-License-Identifier: Apache-2.0
"""A budget: what it makes of lambda, what it lets be started, and what was spent."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stopwise as sw
from stopwise.acquisition import ACQUISITIONS, PBGID
from stopwise.core.beliefs.prices import LearnedCost, expected_cost
from stopwise.core.space import Finite
from stopwise.errors import InputError
from stopwise.stopping import PBGI
from stopwise.study.budget import expected_range, lam_for_budget, most_payable
from tests.support.dense import DenseGP

LINE = {"x": sw.Real(0.0, 1.0)}
MIXED = {"x": sw.Real(0.0, 1.0), "n": sw.Integer(1, 5), "c": sw.Categorical(["a", "b"])}
TABLE = sw.Candidates([{"x": i / 30} for i in range(31)], {"x": sw.Real(0.0, 1.0)})
GRID = sw.Candidates([{"x": i / 200} for i in range(201)], {"x": sw.Real(0.0, 1.0)})
SPACES = {"table": TABLE, "box": LINE, "mixed": MIXED}


def wavy(params):
    return math.sin(9.0 * params["x"]) + params["x"] + 0.1 * params.get("n", 0)


def run(study, objective=wavy, **told):
    """To the end, asking each time; gives the verdicts."""
    while not study.should_stop().stop:
        trial = study.ask()
        study.tell(trial, objective(trial.params), **told)
    return study


# ------------------------------------------------------------------------------------- lambda


@given(st.floats(1e-6, 1e6), st.floats(1e-3, 1e6), st.floats(0.0, 1e6), st.floats(1e-3, 1e3))
def test_lambda_is_the_range_over_what_is_left_after_the_design(U, beyond, C, unit):
    lam = lam_for_budget(U, C + beyond, C)
    assert lam == U / ((C + beyond) - C)
    assert lam_for_budget(unit * U, C + beyond, C) == pytest.approx(unit * lam)
    assert lam_for_budget(U, unit * (C + beyond), unit * C) == pytest.approx(lam / unit, rel=1e-5)


def test_lambda_of_the_papers_example():
    assert lam_for_budget(50, 11_000, 1_000) == 0.005


@pytest.mark.parametrize(
    ("U", "B", "C", "message"),
    [
        (1.0, 5.0, 5.0, r"the budget of 5 does not exceed the 5 that the initial design costs"),
        (1.0, 4.0, 5.0, r"Give a larger budget, or a smaller or cheaper initial design \(n_init"),
        (0.0, 5.0, 1.0, r"lam_for_budget\(U=0\): nothing can be gained"),
        (-1.0, 5.0, 1.0, r"lam_for_budget\(U=-1\.0\): give a finite number that is not negative"),
        (math.nan, 5.0, 1.0, r"lam_for_budget\(U=nan\)"),
        (1.0, math.inf, 1.0, r"lam_for_budget\(B=inf\)"),
        (1.0, 5.0, -1.0, r"lam_for_budget\(C=-1\.0\)"),
    ],
)
def test_what_makes_no_lambda_is_refused_with_what_to_do(U, B, C, message):
    with pytest.raises(InputError, match=message):
        lam_for_budget(U, B, C)


# ---------------------------------------------------------------------------- the expected range


@pytest.mark.parametrize("noise", [None, 0.04], ids=["exact", "noisy"])
@pytest.mark.parametrize("n", [4, 8])
def test_the_expected_range_is_that_of_many_joint_draws(n, noise):
    """U against 20,000 draws on the grid, from dense formulas, within both errors."""
    study = sw.Study(GRID, lam=0.1, noise=noise, prior="gamma", surrogate="plain")
    for i in np.linspace(0, 200, n).round():
        study.tell({"x": i / 200}, wavy({"x": i / 200}))
    study.should_stop()
    now = study.snapshot()
    found = expected_range(now, 4096)
    posterior = now.belief.objective
    dense = DenseGP(now.X, now.y, posterior.hyper)
    points = np.vstack([now.domain.points, now.X[now.incumbent]])
    values, vectors = np.linalg.eigh(dense.covariance(points, points))
    factor = vectors * np.sqrt(np.maximum(values, 0.0))
    normal = np.random.default_rng(0).standard_normal((20_000, len(points)))
    draws = dense.mean(points) + normal @ factor.T
    top = now.best if noise is None else draws[:, -1]
    drawn = top - draws.min(axis=1)
    error = math.hypot(found.error, drawn.std() / math.sqrt(20_000))
    assert abs(found.value - drawn.mean()) < 4 * error + 1e-3 * drawn.mean()
    # The error that it states is that of its own draws.
    assert found.error == pytest.approx(drawn.std() / math.sqrt(4096), rel=0.1)


def test_on_a_box_the_range_is_that_of_a_fine_grid():
    box, grid = sw.Study(LINE, lam=0.1), sw.Study(GRID, lam=0.1)
    for study in (box, grid):
        for i in (0, 40, 90, 150, 200):
            study.tell({"x": i / 200}, wavy({"x": i / 200}))
        study.should_stop()
    on_box, on_grid = (expected_range(study.snapshot(), 2048) for study in (box, grid))
    error = math.hypot(on_box.error, on_grid.error)
    assert abs(on_box.value - on_grid.value) < 4 * error + 0.01 * on_grid.value


def test_the_range_is_that_of_the_moment_asked_about():
    study = sw.Study(GRID, lam=0.1)
    for i in np.random.default_rng(0).permutation(np.arange(0, 201, 10)):
        study.tell({"x": i / 200}, wavy({"x": i / 200}))
    study.should_stop()
    early, late = (expected_range(study.snapshot().prefix(k)).value for k in (4, 21))
    assert early > 0.02
    assert 0.0 <= late < 0.3 * early


# ------------------------------------------------------------------------ what a budget alone does


def test_by_a_budget_alone_it_is_pbgi_d_from_the_right_lambda_on():
    study = sw.Study(TABLE, budget=14.0, cost=lambda p: 0.5 + p["x"], n_initial=4)
    assert study.rules == []
    assert study.acquisition is None
    for _ in range(4):
        study.tell(study.ask(), 0.0 + len(study.history))
    assert study.acquisition is None  # the whole design first
    study.ask()
    C = sum(0.5 + o.params["x"] for o in study.history)
    U = expected_range(study.snapshot().prefix(4)).value
    assert isinstance(study.acquisition, PBGID)
    assert study.acquisition.lam0 == pytest.approx(U / (14.0 - C), rel=1e-12)


def test_with_more_running_than_the_design_has_points_it_is_settled_after_the_design():
    study = sw.Study(TABLE, budget=25.0, n_initial=4)
    trials = [study.ask() for _ in range(6)]
    study.tell(trials[0], wavy(trials[0].params))
    study.ask()  # a choice, from one value
    assert study.acquisition is None
    for trial in trials[1:4]:
        study.tell(trial, wavy(trial.params))
    study.ask()
    U = expected_range(study.snapshot().prefix(4)).value
    assert study.acquisition.lam0 == pytest.approx(U / (25.0 - 4.0), rel=1e-12)


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
def test_any_other_acquisition_is_kept_and_only_money_ends_it(acquisition):
    needs_lam = acquisition == "eic"
    options = {"lam": 1e-3, "stopping": PBGI(1e-300)} if needs_lam else {}
    study = run(sw.Study(TABLE, budget=9.5, acquisition=acquisition, **options))
    assert study.should_stop().rule == "budget"
    assert len(study.history) == 9


def test_nothing_affordable_left_is_a_verdict_with_its_sentence():
    study = run(sw.Study(TABLE, budget=8.5))
    verdict = study.should_stop()
    assert (verdict.stop, verdict.rule, verdict.value, verdict.threshold) == (
        True, "budget", 1.0, 0.5,
    )  # fmt: skip
    assert verdict.reason == (
        "8 of the budget of 8.5 are spent and 0.5 are left, where the cheapest remaining"
        " evaluation is expected to cost 1; with more money, at the lam of"
        f" {study.acquisition.lam0 / 2:.4g} (that of the budget was halved), going on would not be"
        " worth its price: stop"
    )
    before = study.history
    with pytest.raises(
        InputError, match=r"nothing left to ask: 8 .* 0 pending and 0\.5 may still"
    ):
        study.ask()
    assert study.history == before


def test_while_money_is_left_it_says_how_much():
    study = sw.Study(TABLE, budget=20.0)
    for _ in range(5):
        trial = study.ask()
        study.tell(trial, wavy(trial.params))
    verdict = study.should_stop()
    assert (verdict.stop, verdict.rule) == (False, "budget")
    assert verdict.reason == (
        f"15 of 20 are left, and at the lam of {study.acquisition.lam0:.4g} that the budget has"
        " set the next evaluation is worth its price: go on"
    )


@pytest.mark.parametrize(("B", "n"), [(30.0, 10), (29.9, 9), (31.0, 10), (33.0, 11)])
def test_a_budget_that_is_met_exactly_is_used_up(B, n):
    """exp(log 3) is more than 3: what is known is not to be taken from its logarithm."""
    for space in (TABLE, LINE):
        study = run(sw.Study(space, budget=B, cost=lambda _: 3.0, surrogate="plain"))
        assert len(study.history) == n
        assert study.spent == 3.0 * n


def test_a_budget_that_is_missed_by_the_last_bit_is_missed():
    """Costs whose logarithm makes them look cheaper than they are."""
    rng = np.random.default_rng(0)
    costs = [c for c in rng.uniform(20.0, 30.0, 200) if np.exp(np.log(c)) < c][:5]
    options = {"acquisition": "lcb", "n_initial": 1, "start_from": [{"x": 0.2}]}
    for c in costs:
        price = {"cost": lambda p, c=c: 1.0 if p["x"] == 0 else c}  # one can always be paid
        exact = sw.Study(TABLE, budget=2.0 * c, **price, **options)
        missed = sw.Study(TABLE, budget=math.nextafter(2.0 * c, 0.0), **price, **options)
        for study in (exact, missed):
            study.tell(study.ask(), 1.0)
        assert exact.ask().params["x"] > 0
        assert missed.ask().params["x"] == 0


def test_ten_tenths_are_one():
    study = run(sw.Study(TABLE, budget=1.0, cost=lambda _: 0.1))
    assert len(study.history) == 10
    assert study.spent <= 1.0


@given(st.floats(1e-3, 1e6), st.floats(0.0, 1.0))
def test_the_most_that_can_be_paid_is_the_most(B, share):
    committed = share * B
    most = most_payable(B, committed)
    assert committed + most <= B
    if most > 0:
        assert committed + math.nextafter(most + 0.5 * math.ulp(B), math.inf) >= B


def test_a_budget_too_small_for_the_design_is_an_error_that_teaches():
    for budget in (2.0, 1.5):
        with pytest.raises(InputError) as error:
            sw.minimize(wavy, LINE, budget=budget)
        assert str(error.value) == (
            f"the budget of {budget:g} does not exceed the 2 that the initial design costs, so"
            " there is nothing left to choose with. Give a larger budget, or a smaller or cheaper"
            " initial design (n_initial, start_from)."
        )
    assert len(sw.minimize(wavy, LINE, budget=4.5).history) == 4


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "much", True])
def test_what_is_no_budget_is_refused(bad):
    with pytest.raises(sw.errors.StopwiseError, match=r"budget|cost"):
        sw.Study(LINE, budget=bad)


def test_what_was_paid_elsewhere_is_charged_only_if_asked_for():
    def left(**told):
        study = sw.Study(TABLE, budget=10.0)
        for x in range(5):
            study.tell({"x": x / 30}, 1.0 * x, **told)
        return study.spent, len(run(study).history)

    assert left() == (0.0, 15)
    assert left(charge=True) == (5.0, 10)


# ------------------------------------------------------------------------------ never too much

PRICES = {
    "flat": lambda scale: lambda _: scale,
    "rising": lambda scale: lambda p: scale * (0.3 + p["x"] ** 2),
    "steep": lambda scale: lambda p: scale * math.exp(4.0 * p["x"] - 3.0),
    "jagged": lambda scale: lambda p: scale * (1.1 + math.sin(37.0 * p["x"] + 1.0)) / 3.0,
}


@settings(max_examples=25)
@given(
    space=st.sampled_from(sorted(SPACES)),
    kind=st.sampled_from(sorted(PRICES)),
    scale=st.floats(0.01, 100.0),
    plenty=st.floats(1.01, 3.0),
    acquisition=st.sampled_from(sorted(set(ACQUISITIONS) - {"eic"})),
    at_once=st.integers(1, 3),
    failing=st.sampled_from([None, 3, 5]),
    seed=st.integers(0, 999),
)
def test_no_more_is_ever_spent_than_there_is(
    *, space, kind, scale, plenty, acquisition, at_once, failing, seed
):
    """Known costs: exactly, whatever fails and however many run at once."""
    price = PRICES[kind](scale)
    options = {"cost": price, "n_initial": 3, "seed": seed, "acquisition": acquisition}
    design = sw.Study(SPACES[space], **options, lam=1.0, stopping="immediate")._design._missing()
    B = plenty * sum(map(price, design))
    study = sw.Study(SPACES[space], budget=B, **options, max_trials=12)
    told = []
    while True:
        while len(study.pending) < at_once and not study.should_stop().stop:
            trial = study.ask()
            running = [t.params for t in study.pending]
            assert sum(map(price, running), study.spent) <= B
        if not study.pending:
            break
        trial = study.pending[seed % len(study.pending)]
        failed = failing and trial.number % failing == 0
        study.tell(trial, None if failed else wavy(trial.params))
        told.append(price(trial.params))
    assert study.spent == sum(told) == sum(o.cost for o in study.history)
    assert study.spent <= B
    verdict = study.should_stop()
    if verdict.rule == "budget":  # it does not give up while something can be paid
        domain = study.domain
        if isinstance(domain, Finite):
            rest = [
                price(domain.params(i))
                for i in range(len(domain))
                if domain.params(i) not in [o.params for o in study.history]
            ]
            assert study.history.succeeded
            assert study.spent + min(rest, default=math.inf) > B
    else:
        assert verdict.rule in {"max-trials", "exhausted", "failures"}


def test_choices_are_made_among_what_is_affordable():
    """The best place is dear; when it is out of reach, it goes on with what is cheap."""

    def price(params):
        return 5.0 if 0.3 < params["x"] < 0.7 else 1.0

    study = run(
        sw.Study(GRID, budget=12.5, cost=price, n_initial=2, start_from=[{"x": 0}, {"x": 1}]),
        lambda p: (p["x"] - 0.5) ** 2,
    )
    costs = [o.cost for o in study.history]
    assert 5.0 in costs
    assert study.spent == sum(costs) == 12.0
    assert costs[-1] == 1.0  # too little was left for the best place


def test_failures_in_the_design_are_not_made_up_for_beyond_the_budget():
    def price(params):
        return 1.0 if params["x"] < 0.5 else 3.0

    for B in (8.1, 9.5, 11.0):  # the design costs 8
        for objective in (lambda _: None, lambda p: None if p["x"] < 0.5 else wavy(p)):
            study = sw.Study(TABLE, budget=B, cost=price, n_initial=4, seed=1)
            assert sum(map(price, study._design._missing())) == 8.0
            run(study, objective)
            assert study.spent <= B
            assert study.should_stop().rule in {"budget", "failures"}


def test_the_initial_design_honours_what_was_paid_more_than_known():
    """A cost told where it is known is what was spent; the rest of the design must fit it."""
    study = sw.Study(LINE, budget=6.0, n_initial=4)
    study.tell(study.ask(), 1.0, cost=4.5)
    assert not study.should_stop().stop
    study.tell(study.ask(), 2.0)
    verdict = study.should_stop()
    assert (verdict.rule, verdict.stop) == ("budget", True)
    assert study.spent == 5.5
    with pytest.raises(InputError, match="nothing left to ask"):
        study.ask()


# -------------------------------------------------------------------------------- learned costs


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("at_once", [1, 3])
def test_learned_costs_are_expected_to_be_affordable_at_each_start(space, at_once):
    def price(params):
        return 1.0 + 3.0 * params["x"]

    study = sw.Study(SPACES[space], budget=20.0, cost="reported", n_initial=4)
    while True:
        while len(study.pending) < at_once and not study.should_stop().stop:
            already = study.pending
            trial = study.ask()
            if not study.history:
                continue  # nothing is known of costs
            belief = study.snapshot().belief
            X = study.domain.encode([t.params for t in (*already, trial)])
            assert study.spent + expected_cost(belief.price, X).sum() <= 20.0 * (1 + 1e-12)
        if not study.pending:
            break
        trial = study.pending[0]
        study.tell(trial, wavy(trial.params), cost=price(trial.params))
    assert study.should_stop().rule == "budget"
    assert study.spent == sum(price(o.params) for o in study.history)
    assert study.spent < 20.0 + 1.5  # by what an expectation may be wrong
    assert study.spent > 20.0 - 4.0


def test_a_question_does_not_change_what_is_affordable():
    def history(*, curious):
        study = sw.Study(LINE, budget=12.0, cost="reported", noise="learn", seed=2)
        for _ in range(30):
            if curious:
                _ = study.best, study.should_stop()
            try:
                trial = study.ask()
            except InputError:
                break
            study.tell(trial, wavy(trial.params), cost=1.0 + 2.0 * trial.params["x"])
        return study.history

    assert history(curious=True) == history(curious=False)


def test_a_cost_model_of_ones_own_needs_no_cost_before_the_first_is_told():
    @dataclasses.dataclass(frozen=True)
    class Doubled:
        def price(self, domain, X, costs, start=None):
            return LearnedCost().price(domain, X, 2.0 * costs, start)

    study = run(sw.Study(TABLE, budget=9.5, cost=Doubled(), n_initial=2), wavy, cost=1.0)
    assert study.should_stop().rule == "budget"
    assert study.spent == 8.0  # another is expected to cost 2


def test_a_design_that_turns_out_too_dear_ends_with_the_verdict():
    study = sw.Study(LINE, budget=10.0, cost="reported", n_initial=6)
    run(study, wavy, cost=4.0)
    assert len(study.history) == 2
    assert study.should_stop().reason.startswith(
        "8 of the budget of 10 are spent and 2 are left, where the cheapest remaining evaluation"
        " is expected to cost 4"
    )
    assert study.best is not None


# ------------------------------------------------------------------------------ lam and a budget


def test_with_both_the_first_to_come_ends_it():
    def ended(lam, budget):
        study = run(sw.Study(TABLE, lam=lam, budget=budget))
        return study.should_stop().rule, len(study.history)

    alone = len(run(sw.Study(TABLE, lam=0.01)).history)
    assert ended(0.01, alone + 10.0) == ("pbgi", alone)
    assert ended(0.01, alone - 1.5) == ("budget", alone - 2)


def test_with_both_lambda_is_the_users():
    study = sw.Study(TABLE, lam=0.01, budget=20.0)
    assert study.rules == [PBGI(0.01)]
    assert study.acquisition == sw.acquisition.PBGI(0.01)


def test_within_the_budget_a_budget_changes_nothing():
    rich, free = (run(sw.Study(TABLE, lam=0.01, budget=B)) for B in (1e9, None))
    assert rich.history == free.history
    assert rich.traces == free.traces
