# SPDX-License-Identifier: Apache-2.0
"""The PBGI rule against its definition: expected gains summed up, and fair values by bisection."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from stopwise.acquisition.pbgi_d import WORTH
from stopwise.core.beliefs import Hyperparameters, condition
from stopwise.core.beliefs.prices import KnownCost, LearnedPrice
from stopwise.core.quantity import quantity
from stopwise.core.space import Integer, as_domain
from stopwise.core.traces import Signal, Trace
from stopwise.stopping import (
    PBGI,
    LogEIPCMedian,
    Smoothed,
)
from tests.support.dense import DenseGP
from tests.support.rules import KINDS, verdict_of
from tests.support.textbook import (
    COSTS,
    LINE,
    SQUARE,
    TABLE,
    Textbook,
    free,
    positive_part,
    priced_table,
    study,
)

LAM = 0.3


def costs_of(points):
    return COSTS[TABLE.index_of(points)]


@KINDS
def test_the_signal_is_the_largest_log_gain_per_cost(noise):
    for seed in range(4):
        snapshot = priced_table(noise=noise, seed=seed, pending=TABLE.points[[0]])
        points = free(snapshot)
        gains = positive_part(*Textbook(snapshot).lead(points))
        ratios = gains / costs_of(points)
        best = int(np.argmax(ratios))
        signal = PBGI(LAM).signal(snapshot)
        assert signal.value == pytest.approx(math.log(ratios[best]), abs=1e-6)
        assert signal.facts["gain"] == pytest.approx(gains[best], rel=1e-6)
        assert signal.facts["cost"] == pytest.approx(costs_of(points)[best], rel=1e-12)
        assert signal.facts["cost_spread"] == 0.0
        assert signal.facts["spread"] == 0.0  # of a supremum that is exact
        assert (signal.t, signal.n) == (snapshot.t, snapshot.n)


@KINDS
def test_it_stops_exactly_when_no_gain_exceeds_lambda_times_its_cost(noise):
    snapshot = priced_table(noise=noise)
    points = free(snapshot)
    gains = positive_part(*Textbook(snapshot).lead(points))
    for lam in np.geomspace(1e-3, 10.0, 9):
        rule = PBGI(lam)
        verdict = verdict_of(rule, rule.signal(snapshot))
        assert verdict.stop == np.all(gains <= lam * costs_of(points))
        assert (verdict.rule, verdict.threshold) == ("pbgi", math.log(lam))


@KINDS
def test_it_stops_exactly_when_the_best_value_is_below_every_fair_value(noise):
    # Eq. 6 of Xie et al. 2026, the fair values found by bisection of the expected gain.
    snapshot = priced_table(noise=noise)
    book, points = Textbook(snapshot), free(snapshot)
    _, stds = book.lead(points)
    means = book.mean(points)
    for lam in (0.05, 0.3, 2.0):
        low, high = means - 12.0 * stds, means + 12.0 * stds + lam * costs_of(points)
        for _ in range(40):
            middle = 0.5 * (low + high)
            short = positive_part(middle - means, stds) < lam * costs_of(points)
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        rule = PBGI(lam)
        assert verdict_of(rule, rule.signal(snapshot)).stop == (low.min() >= book.best)


def test_the_gain_is_what_joint_draws_gain_on_average():
    snapshot = priced_table()
    signal = PBGI(LAM).signal(snapshot)
    book, points = Textbook(snapshot), free(snapshot)
    draws = book.draws(points, np.random.default_rng(50), 100_000)
    gains = np.maximum(book.best - draws, 0.0)
    per_cost = gains.mean(axis=0) / costs_of(points)
    best = int(np.argmax(per_cost))
    sure = gains[:, best].std() / math.sqrt(len(gains))
    assert abs(signal.facts["gain"] - gains[:, best].mean()) < 5.0 * sure
    assert abs(math.exp(signal.value) - per_cost[best]) < 5.0 * sure / costs_of(points)[best]


def test_learned_costs_enter_by_their_expectation():
    X = TABLE.points[::3]
    log_paid = X.sum(axis=1) + 0.7 * np.random.default_rng(51).standard_normal(len(X))
    hyper = Hyperparameters([0.8, 0.8], 1.0, noise=0.7)
    snapshot = study()
    price = LearnedPrice(condition(X, log_paid, hyper, groups=TABLE.groups))
    snapshot = replace(snapshot, belief=replace(snapshot.belief, price=price))
    gp = DenseGP(X, log_paid, hyper)
    points = free(snapshot)
    std = np.sqrt(gp.std(points) ** 2 + hyper.noise * gp.scale**2)
    draws = np.random.default_rng(52).standard_normal((200_000, 1))
    bills = np.exp(gp.mean(points) + std * draws)
    expected, gains = bills.mean(axis=0), positive_part(*Textbook(snapshot).lead(points))
    best = int(np.argmax(gains / expected))
    sure = bills[:, best].std() / expected[best] / math.sqrt(len(draws))
    for rule in (PBGI(LAM), LogEIPCMedian()):
        signal = rule.signal(snapshot)
        assert abs(signal.value - math.log(gains[best] / expected[best])) < 5.0 * sure
        assert abs(signal.facts["cost"] / expected[best] - 1.0) < 5.0 * sure
        assert signal.facts["gain"] == pytest.approx(gains[best], rel=1e-6)
        assert signal.facts["cost_spread"] == pytest.approx(std[best], rel=1e-9)


@pytest.mark.parametrize("domain", [LINE, SQUARE], ids=["line", "square"])
def test_on_a_box_the_signal_is_that_of_a_fine_grid(domain):
    cost = KnownCost(lambda p: 1.0 + p["x"])
    snapshot = study(domain, 6, cost=cost)
    signal = PBGI(LAM).signal(snapshot)
    axis = np.linspace(0.0, 1.0, 2001 if domain is LINE else 61)
    grid = np.stack(np.meshgrid(*[axis] * domain.d), axis=-1).reshape(-1, domain.d)
    grid = grid[~snapshot.taken(grid)]
    mean, std = snapshot.belief.objective(grid)
    likely = (snapshot.best - mean) / np.maximum(std, 1e-12) > -3.0
    gains = positive_part(snapshot.best - mean[likely], std[likely])
    highest = np.log(gains / (1.0 + grid[likely, 0])).max()
    assert highest - 1e-7 <= signal.value <= highest + 0.01
    # The facts are of one and the same point.
    assert math.log(signal.facts["gain"] / signal.facts["cost"]) == pytest.approx(signal.value)
    assert signal.facts["spread"] >= 0.0


def test_the_signal_does_not_depend_on_lambda_and_is_shared():
    assert PBGI(0.1).key == PBGI(0.2).key == LogEIPCMedian().key == WORTH
    assert PBGI(0.1, "before").key != WORTH
    snapshot = priced_table()
    assert PBGI(0.1).signal(snapshot) == PBGI(9.0).signal(snapshot)
    assert PBGI(0.1).signal(snapshot) == LogEIPCMedian().signal(snapshot)


# ------------------------------------------------------------------------------- before the update


def test_before_the_update_means_the_old_belief_and_the_new_best_value():
    """Sup over x not in D_t of log EI_(t-1)(x; y*_t)/c(x), from data conditioned on naively."""
    for seed in range(6):
        snapshot = priced_table(seed=seed)
        now = snapshot.belief.objective
        old = condition(
            snapshot.X[:-1],
            snapshot.y[:-1],
            now.hyper,
            standardiser=now.standardiser,
            groups=now.groups,
            interpolate=True,
        )
        points = free(snapshot)
        mean, std = old(points)
        gains = positive_part(snapshot.y.min() - mean, std)
        signal = PBGI(LAM, update="before").signal(snapshot)
        ratios = gains / costs_of(points)
        best = int(np.argmax(ratios))
        assert signal.value == pytest.approx(math.log(ratios[best]), abs=1e-6)
        assert signal.facts["gain"] == pytest.approx(gains[best], rel=1e-6)
        assert signal.facts["cost"] == pytest.approx(costs_of(points)[best], rel=1e-12)
        # And by the textbook, which inverts the leading block of the same covariance.
        book = Textbook(snapshot, -1)
        again = positive_part(snapshot.y.min() - book.mean(points), book.std(points))
        np.testing.assert_allclose(gains, again, rtol=1e-5, atol=1e-9)


def test_before_and_after_the_update_are_different_rules():
    # A last value that comes as a surprise: the old belief does not know.
    X = LINE.encode([{"x": x} for x in (0.1, 0.9, 0.5)])
    snapshot = study(LINE, X=X, y=[1.0, 1.1, -1.0], initial=2)
    before, after = (PBGI(LAM, update).signal(snapshot).value for update in ("before", "after"))
    assert before < after - 0.5
    axis = np.linspace(0.0, 1.0, 2001)[:, None]
    book = Textbook(snapshot, 2)
    gains = positive_part(-1.0 - book.mean(axis), book.std(axis))
    assert before == pytest.approx(np.log(gains.max()), abs=1e-3)


def test_before_the_update_there_is_no_answer_in_the_initial_design():
    snapshot = study(n=8, initial=8)
    rule = PBGI(LAM, update="before")
    signal = rule.signal(snapshot)
    assert math.isnan(signal.value)
    verdict = verdict_of(rule, signal)
    assert not verdict.stop
    assert verdict.reason == "no evaluation after the initial design yet: go on"
    assert math.isfinite(PBGI(LAM).signal(snapshot).value)


# ---------------------------------------------------------------------------------------- in words


SENTENCE = re.compile(
    r"the best remaining candidate is expected to gain (\S+) and costs (\S+), worth (\S+)"
    r" at lam = (\S+): (stop|go on)"
)


def digits(text, value):
    """Whether a printed number is this one, to the digits that are printed."""
    return text == quantity(value) or float(text) == pytest.approx(value, rel=5e-4)


@KINDS
@pytest.mark.parametrize("lam", [1e-3, 0.3, 40.0])
def test_the_sentence_has_the_numbers_of_the_best_remaining_candidate(lam, noise):
    snapshot = priced_table(noise=noise)
    points = free(snapshot)
    gains = positive_part(*Textbook(snapshot).lead(points))
    best = int(np.argmax(gains / costs_of(points)))
    rule = PBGI(lam)
    verdict = verdict_of(rule, rule.signal(snapshot))
    gain, cost, worth, rate, answer = SENTENCE.fullmatch(verdict.reason).groups()
    assert digits(gain, gains[best])
    assert digits(cost, costs_of(points)[best])
    assert digits(worth, lam * costs_of(points)[best])
    assert digits(rate, lam)
    assert (answer == "stop") == (float(gain) <= float(worth)) == verdict.stop


def test_the_sentence_names_an_uncertain_cost():
    facts = {"gain": 0.5, "cost": 2.0, "cost_spread": 2.0, "spread": 0.0}
    sure = verdict_of(PBGI(1.0), Signal(1, 4, math.log(0.25), facts | {"cost_spread": 0.99}))
    assert "uncertain" not in sure.reason
    unsure = verdict_of(PBGI(1.0), Signal(1, 4, math.log(0.25), facts))
    assert unsure.reason.endswith("(the cost is uncertain by a factor of 7.389): stop")


def test_the_sentence_says_when_an_average_decided():
    facts = {"gain": 0.5, "cost": 2.0, "cost_spread": 0.0, "spread": 0.0}
    trace = Trace.of(tuple(Signal(t, t + 3, -float(t), facts) for t in range(3)))
    verdict = Smoothed(PBGI(1.0), 3).verdict(trace)
    assert (
        "averaged over recent steps the gain per cost is 0.3679, at most lam = 1: stop"
        in verdict.reason
    )
    assert verdict.value == -1.0
    dear = Smoothed(PBGI(0.25), 3).verdict(trace)
    assert dear.reason.endswith("the gain per cost is 0.3679, above lam = 0.25: go on")


def test_where_nothing_remains_nothing_can_be_gained():
    domain = as_domain({"k": Integer(0, 4)})
    snapshot = study(domain, X=domain.points[:4], pending=domain.points[4:], initial=2)
    for rule in (PBGI(1e-300), PBGI(1e-300, update="before")):
        signal = rule.signal(snapshot)
        assert signal.value == -math.inf
        verdict = verdict_of(rule, signal)
        assert verdict.stop
        assert verdict.reason == "no remaining candidate can gain anything: stop"


def test_an_average_over_the_time_when_something_remained_is_still_told_apart():
    left = Signal(0, 4, -1.0, {"gain": 0.5, "cost": 2.0, "cost_spread": 0.0, "spread": 0.0})
    none = Signal(1, 5, -math.inf, {"gain": 0.0, "cost": math.nan, "cost_spread": 0.0})
    rule = Smoothed(PBGI(1.0), 2, scale="linear")
    verdict = rule.verdict(Trace.of((left, none)))
    assert "nan" not in verdict.reason
    assert "no remaining candidate can gain anything" in verdict.reason
    assert verdict.value == pytest.approx(-1.0 - math.log(2.0))


def test_a_gain_too_small_for_a_number_is_told_as_none():
    facts = {"gain": 0.0, "cost": 2.0, "cost_spread": 0.0, "spread": 0.0}
    verdict = verdict_of(PBGI(1.0), Signal(1, 4, -2000.0, facts))
    assert verdict.reason.startswith("the best remaining candidate is expected to gain 0 and")
    assert verdict.stop
