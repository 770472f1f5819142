# SPDX-License-Identifier: Apache-2.0
"""Each acquisition's score against its definition, over a table, a line and a square.

Expected gains are sums over a fine grid of the textbook's normal distribution, or averages over
joint draws. Seeds are fixed; with others a right program would fail with probability 1e-5 or so,
where a test is statistical.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import stats

import stopwise as sw
from stopwise.acquisition import (
    ACQUISITIONS,
    EIC,
    LCB,
    PBGI,
    PBGID,
    LogEIPC,
    Partials,
    PointwiseScore,
    ThompsonSampling,
    make_acquisition,
)
from stopwise.acquisition.improvement import ImprovementBy
from stopwise.acquisition.lcb import LowerBound, confidence_beta
from stopwise.acquisition.pbgi_d import WORTH
from stopwise.core.beliefs import Hyperparameters, Normal, condition
from stopwise.core.beliefs.prices import KnownCost, LearnedPrice
from stopwise.core.space import Categorical, Integer, as_domain
from stopwise.core.traces import Signal, Trace
from stopwise.errors import InputError, InputTypeError
from tests.support.dense import DenseGP
from tests.support.textbook import (
    LINE,
    SQUARE,
    TABLE,
    Textbook,
    costs_of,
    free,
    positive_part,
    priced_table,
    study,
)

LAM = 0.3
NOISY = 0.05
KINDS = pytest.mark.parametrize("noise", [None, NOISY], ids=["exact", "noisy"])


def expected_gains(snapshot, points):
    return positive_part(*Textbook(snapshot).lead(points))


# ------------------------------------------------------------------- gain, price and fair value


@KINDS
def test_logeipc_is_the_log_of_expected_gain_over_price(noise):
    snapshot = priced_table(noise=noise)
    points = free(snapshot)
    wanted = np.log(expected_gains(snapshot, points)) - np.log(costs_of(points))
    np.testing.assert_allclose(LogEIPC().bind(snapshot)(points), wanted, atol=1e-6)


@KINDS
def test_the_gain_is_what_joint_draws_gain_on_average(noise):
    snapshot = study(noise=noise)
    book, points = Textbook(snapshot), free(snapshot)
    draws = book.draws(np.vstack([points, book.incumbent]), np.random.default_rng(20), 100_000)
    gains = np.maximum(draws[:, -1:] - draws[:, :-1], 0.0)
    sure = gains.std(axis=0) / math.sqrt(len(gains))
    found = np.exp(LogEIPC().bind(snapshot)(points))
    assert np.all(np.abs(found - gains.mean(axis=0)) < 5.0 * sure + 1e-5)


def test_with_noise_the_best_point_is_the_one_of_the_lowest_mean_and_gains_nothing_on_itself():
    # The lowest value by far is the noisiest luck: its neighbours say otherwise.
    X = TABLE.points[[0, 1, 5, 6, 22, 23, 27, 28]]
    y = [0.9, 1.1, 1.0, -0.4, 0.3, 0.2, 0.1, 0.25]
    snapshot = study(X=X, y=y, noise=0.6)
    book = Textbook(snapshot)
    assert snapshot.incumbent != np.argmin(y)
    np.testing.assert_array_equal(snapshot.X[snapshot.incumbent], book.incumbent)
    assert snapshot.best == pytest.approx(book.best, abs=1e-9)
    again = LogEIPC().bind(replace(snapshot, replicates=True))
    assert np.exp(again(book.incumbent[None, :]))[0] < 1e-6
    assert np.isfinite(again(X)).sum() >= len(X) - 1  # the others may be tried again


@KINDS
def test_pbgi_is_the_value_at_which_the_expected_gain_is_the_price(noise):
    snapshot = priced_table(noise=noise)
    book, points = Textbook(snapshot), free(snapshot)
    fair = -PBGI(LAM).bind(snapshot)(points)
    _, std = book.lead(points)
    gains = positive_part(fair - book.mean(points), std)
    np.testing.assert_allclose(gains, LAM * costs_of(points), rtol=1e-6)


@KINDS
def test_a_fair_value_is_below_the_best_where_the_gain_is_above_the_price(noise):
    snapshot = priced_table(noise=noise)
    points = free(snapshot)
    for lam in (1e-3, 0.03, 0.3, 3.0):
        worth = -PBGI(lam).bind(snapshot)(points) < snapshot.best
        np.testing.assert_array_equal(
            worth, LogEIPC().bind(snapshot)(points) > math.log(lam), strict=True
        )
        np.testing.assert_array_equal(worth, EIC(lam).bind(snapshot)(points) > 0.0)


@KINDS
def test_eic_is_expected_gain_less_price(noise):
    snapshot = priced_table(noise=noise)
    points = free(snapshot)
    wanted = expected_gains(snapshot, points) - LAM * costs_of(points)
    np.testing.assert_allclose(EIC(LAM).bind(snapshot)(points), wanted, atol=1e-7)


@pytest.mark.parametrize("std", [0.0, 1e-200])  # of the second, log EI has infinite slopes
def test_where_nothing_can_be_gained_eic_is_minus_the_price_and_does_not_lean(std):
    value, slopes, d_log_price = EIC(LAM)(
        Normal(np.array([5.0]), np.array([std])), np.array([0.0]), 1.0
    )
    assert [float(a[0]) for a in (value, *slopes, d_log_price)] == [-LAM, 0.0, 0.0, -LAM]


# --------------------------------------------------------------------------- uncertain prices


def test_learned_prices_enter_by_their_mean_or_by_the_mean_of_their_inverses():
    X = LINE.sobol(12, np.random.default_rng(21))
    log_paid = 1.0 + X[:, 0] + 0.6 * np.random.default_rng(22).standard_normal(12)
    hyper = Hyperparameters([0.5], 1.0, noise=0.6)
    price = LearnedPrice(condition(X, log_paid, hyper))
    snapshot = study(LINE, X=np.array([[0.1], [0.5], [0.9]]), hyper=Hyperparameters([0.2], 1.3))
    snapshot = replace(snapshot, belief=replace(snapshot.belief, price=price))
    points = np.array([[0.0], [0.25], [0.35], [0.7], [0.8]])
    # The textbook's predictive distribution of ln c: the next bill has noise of its own.
    gp = DenseGP(X, log_paid, hyper)
    std = np.sqrt(gp.std(points) ** 2 + hyper.noise * gp.scale**2)
    assert std.min() > 0.3
    bills = gp.mean(points) + std * np.random.default_rng(23).standard_normal((200_000, 5))
    log_gain = np.log(expected_gains(snapshot, points))
    for cost, power in (("exp", 1.0), ("inv", -1.0)):
        moments = np.exp(power * bills)
        sure = moments.std(axis=0) / moments.mean(axis=0) / math.sqrt(len(bills))
        wanted = log_gain - power * np.log(moments.mean(axis=0))
        found = LogEIPC(cost).bind(snapshot)(points)
        assert np.all(np.abs(found - wanted) < 5.0 * sure)
    # The others are priced by the mean of the bill.
    price_paid = np.exp(log_gain - LogEIPC("exp").bind(snapshot)(points))
    eic = np.exp(log_gain) - EIC(LAM).bind(snapshot)(points)
    np.testing.assert_allclose(eic, LAM * price_paid, rtol=1e-7)
    fair = -PBGI(LAM).bind(snapshot)(points)
    book = Textbook(snapshot)
    gains = positive_part(fair - book.mean(points), book.std(points))
    np.testing.assert_allclose(gains, LAM * price_paid, rtol=1e-6)


# ----------------------------------------------------------------------- confidence bounds


def mixed_table():
    """Two parameters in four columns: a number and a choice of three."""
    return as_domain({"k": Integer(0, 9), "shape": Categorical(["plain", "bent", "odd"])})


def test_beta_counts_all_observations_and_parameters_not_columns():
    domain = mixed_table()
    assert (domain.d, domain.width) == (2, 4)
    snapshot = study(domain, 7, initial=3)
    beta = 0.4 * math.log(2 * 7**2 * math.pi**2 / 0.6)
    assert confidence_beta(2, 7) == pytest.approx(beta, rel=1e-14)
    assert confidence_beta(2, 7, scale=1.0) == pytest.approx(5 * beta, rel=1e-14)
    book, points = Textbook(snapshot), free(snapshot)
    wanted = book.mean(points) - math.sqrt(beta) * book.std(points)
    np.testing.assert_allclose(-LCB().bind(snapshot)(points), wanted, rtol=1e-8)
    assert np.all(LCB().bind(snapshot)(snapshot.X) == -np.inf)


def test_a_lower_bound_over_all_of_the_space_knows_what_was_observed_exactly():
    snapshot = study()
    everywhere = -LowerBound(4.0, exclude=False).bind(snapshot)(TABLE.points)
    book = Textbook(snapshot)
    wanted = book.mean(TABLE.points) - 2.0 * book.std(TABLE.points)
    np.testing.assert_allclose(everywhere, wanted, rtol=1e-8)
    rows = TABLE.index_of(snapshot.X)
    np.testing.assert_array_equal(everywhere[rows], snapshot.y)


@KINDS
def test_the_chance_to_be_better_by_a_margin(noise):
    snapshot = study(noise=noise)
    lead, std = Textbook(snapshot).lead(TABLE.points)
    found = stats.norm.cdf(ImprovementBy(0.5).bind(snapshot)(TABLE.points))
    certain = std < 1e-6
    wanted = stats.norm.cdf((lead - 0.5) / np.where(certain, 1.0, std))
    np.testing.assert_allclose(found[~certain], wanted[~certain], atol=1e-7)
    assert certain.any()
    np.testing.assert_array_equal(found[certain], 0.0)


# ---------------------------------------------------------------------------------- PBGI-D


def recorded(*values, first=0):
    return Trace.of(tuple(Signal(t, t + 4, v) for t, v in enumerate(values, start=first)))


def test_lambda_is_halved_at_most_once_per_evaluation_exactly_when_nothing_is_worth_it():
    #                 lambda before:   0.8   0.8   0.8   0.4   0.2   0.2   0.1
    gains_per_cost = [2.0, 0.9, 0.8, 0.3999, 0.21, 1e-9, 0.1]
    halved = [False, False, True, True, False, True, True]  # a tie halves
    policy = PBGID(0.8)
    lam = 0.8
    for n in range(len(gains_per_cost) + 1):
        trace = recorded(*np.log(gains_per_cost[:n]))
        assert policy.lam(trace) == lam
        if n < len(halved):
            lam = lam / 2.0 if halved[n] else lam


def test_lambda_does_not_read_the_initial_design_nor_what_has_no_answer():
    assert PBGID(0.8).lam(recorded(-9.0, -9.0, first=-2)) == 0.8
    assert PBGID(0.8).lam(recorded(math.nan, math.nan)) == 0.8
    assert PBGID(0.8).lam(recorded(-math.inf)) == 0.4
    assert PBGID(0.8).lam(Trace()) == 0.8


def test_pbgi_d_scores_as_pbgi_at_the_lambda_of_the_trace():
    trace = recorded(-9.0, -9.0)
    snapshot = priced_table(traces={WORTH: trace, "other": recorded(-9.0)})
    points = free(snapshot)
    np.testing.assert_array_equal(
        PBGID(LAM).bind(snapshot)(points), PBGI(LAM / 4.0).bind(snapshot)(points)
    )


# ------------------------------------------------------------------------ what all have in common

ALL = {
    "pbgi": PBGI(LAM),
    "pbgi-d": PBGID(LAM),
    "logeipc": LogEIPC(),
    "logeipc-inv": LogEIPC("inv"),
    "eic": EIC(LAM),
    "lcb": LCB(),
    "ts": ThompsonSampling(),
}
EACH = pytest.mark.parametrize("acquisition", ALL.values(), ids=ALL)


def test_the_table_lists_them_all():
    assert set(ACQUISITIONS) == set(ALL)
    for name, acquisition in ALL.items():
        assert make_acquisition(name, LAM) == acquisition
        assert make_acquisition(acquisition, None) is acquisition


@EACH
def test_what_is_evaluated_pending_or_failed_is_left_out(acquisition):
    failed = TABLE.points[[11, 12]]
    snapshot = priced_table(pending=TABLE.points[[0, 39]], failed=failed, traces={})
    known = np.vstack([snapshot.X, snapshot.pending, failed])
    values = acquisition.bind(snapshot)(TABLE.points)
    out = np.zeros(len(TABLE), dtype=bool)
    out[TABLE.index_of(known)] = True
    np.testing.assert_array_equal(np.isneginf(values), out)
    assert snapshot.sup(acquisition).value == values.max()


@EACH
def test_on_a_box_what_lies_within_a_millionth_is_left_out(acquisition):
    snapshot = study(SQUARE, 6, pending=np.array([[0.3, 0.4]]))
    known = np.vstack([snapshot.X, snapshot.pending])
    score = acquisition.bind(snapshot)
    assert np.all(score(known + np.array([0.9e-6, -0.9e-6])) == -np.inf)
    assert np.all(np.isfinite(score(known + np.array([2e-6, 0.0]))))


@EACH
def test_the_supremum_on_a_line_is_that_of_a_fine_grid(acquisition):
    snapshot = study(LINE, 6, cost=KnownCost(lambda p: 1.0 + p["x"]))
    found = snapshot.sup(acquisition)
    score = acquisition.bind(snapshot)
    assert found.value == pytest.approx(score(found.x[None, :])[0], rel=1e-9)
    grid = np.linspace(0.0, 1.0, 4001)[:, None]
    highest = score(grid).max()
    assert found.value >= highest - 1e-9 * abs(highest)
    assert found.value <= highest + 1e-4
    assert snapshot.sup(acquisition) is found  # and it is computed once


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_supremum_does_not_depend_on_the_unit_of_the_objective(scale):
    here = study(SQUARE, 6)
    there = study(SQUARE, 6, y=scale * here.y)
    for one, other in (
        (LCB(), LCB()),
        (PBGI(LAM), PBGI(scale * LAM)),
        (EIC(LAM), EIC(scale * LAM)),
        (ThompsonSampling(), ThompsonSampling()),
    ):
        assert there.sup(other).value / scale == pytest.approx(here.sup(one).value, rel=1e-6)
    assert there.sup(LogEIPC()).value - math.log(scale) == pytest.approx(
        here.sup(LogEIPC()).value, abs=1e-6
    )


def test_the_choice_of_pbgi_is_worth_its_price_whenever_any_point_is():
    for seed in range(10):
        snapshot = study(SQUARE, 8, seed=seed, cost=KnownCost(lambda p: 1.0 + 3.0 * p["z"]))
        gain_per_cost = snapshot.sup(LogEIPC()).value
        for lam in (math.exp(gain_per_cost) * f for f in (0.5, 0.999999, 1.000001)):
            for acquisition in (PBGI(lam), EIC(lam)):
                chosen = snapshot.sup(acquisition).x
                worth = LogEIPC().bind(snapshot)(chosen[None, :])[0] > math.log(lam)
                assert worth == (gain_per_cost > math.log(lam))


def test_where_everything_is_taken_nothing_is_proposed():
    domain = as_domain({"k": Integer(0, 4)})
    snapshot = study(domain, X=domain.points[:3], pending=domain.points[3:], initial=1)
    for acquisition in ALL.values():
        assert snapshot.sup(acquisition).x is None
        assert snapshot.sup(acquisition).value == -math.inf


def test_a_formula_of_a_mean_and_a_deviation_is_told_what_other_laws_have():
    @dataclass(frozen=True)
    class OfNormal:
        def __call__(self, law, log_price, best):  # noqa: ARG002
            ones = np.ones_like(law.mean)
            return Partials(law.std - law.mean, (-ones, ones), 0.0 * log_price)

        def bind(self, snapshot):
            return PointwiseScore(self, snapshot)

    study = sw.Study({"x": sw.Real(0.0, 1.0)}, lam=0.1, acquisition=OfNormal(), n_initial=4)
    for x, value in ((0.1, 3.0), (0.4, 1.0), (0.7, 2.0), (0.9, 50.0)):
        study.tell({"x": x}, value)
    with pytest.raises(InputError, match=r"gives 2 slopes, but a Mixture law has 6 parameters"):
        study.ask()


@pytest.mark.parametrize("name", ["pbgi", "logeipc", "eic", "lcb"])
def test_a_score_tells_the_search_its_scales_and_its_unit(name):
    snapshot = study(LINE, hyper=Hyperparameters([0.17], 1.3))
    score = make_acquisition(name, LAM).bind(snapshot)
    np.testing.assert_allclose(score.scales, [0.17])
    assert score.unit == (1.0 if name == "logeipc" else snapshot.belief.objective.unit)


# ------------------------------------------------------------------------ parameters that teach


@pytest.mark.parametrize("make", [PBGI, PBGID, EIC])
@pytest.mark.parametrize("lam", [0.0, -1.0, math.nan, math.inf, True, "0.1", None])
def test_lambda_must_be_a_positive_number(make, lam):
    with pytest.raises(InputError, match=r"lam must be a positive number, got .*exchange_rate"):
        make(lam)


def test_pricing_is_by_exp_or_inv():
    with pytest.raises(InputError, match=r"LogEIPC\(cost='log'\): give 'exp' .* or 'inv'"):
        LogEIPC("log")


def test_a_name_must_be_known_and_lambda_given():
    with pytest.raises(
        InputError, match=r"no acquisition 'ei' \(did you mean 'eic'\?\): give one of pbgi, "
    ):
        make_acquisition("ei", 0.1)
    with pytest.raises(InputError, match=r"'pbgi' needs lam\. .*exchange_rate"):
        make_acquisition("pbgi", None)
    with pytest.raises(InputTypeError, match="an object with bind, an instance"):
        make_acquisition(PBGI, 0.1)
    assert make_acquisition("lcb", None) == LCB()
