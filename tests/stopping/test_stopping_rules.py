# SPDX-License-Identifier: Apache-2.0
"""Each rule's number and verdict against its definition, worked out by brute force or by hand."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from stopwise.acquisition.pbgi_d import WORTH
from stopwise.core.beliefs import Hyperparameters, condition
from stopwise.core.beliefs.prices import KnownCost, LearnedPrice
from stopwise.core.quantity import quantity
from stopwise.core.space import Candidates, Integer, Real, as_domain
from stopwise.core.traces import Signal, Trace
from stopwise.errors import InputError, InputTypeError
from stopwise.stopping import (
    GSS,
    PBGI,
    RULES,
    UCBLCB,
    After,
    Convergence,
    FixedTrials,
    Immediate,
    LogEIPCMedian,
    ProbabilisticRegretBound,
    Smoothed,
    SRGapMedian,
    StoppingRule,
    make_rule,
)
from tests.support.dense import DenseGP
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
NOISY = 0.05
KINDS = pytest.mark.parametrize("noise", [None, NOISY], ids=["exact", "noisy"])


def costs_of(points):
    return COSTS[TABLE.index_of(points)]


def verdict_of(rule, signal):
    return rule.verdict(Trace.of((signal,)))


# ------------------------------------------------------------------------ PBGI, after the update


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
    rule = PBGI(LAM)
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


# ----------------------------------------------------------------------- PBGI, before the update


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


# ------------------------------------------------------------------------------ PBGI, in words

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


# -------------------------------------------------------------------------------- LogEIPC-med


def record(values, first=0, facts=None):
    return Trace.of(
        tuple(Signal(t, t + 5, v, facts or {}) for t, v in enumerate(values, start=first))
    )


def test_the_median_is_of_t_from_1_to_i_and_the_rule_answers_from_i_plus_1_on():
    rule = LogEIPCMedian(eta=0.1, initial=4)
    #          t = 0   1     2     3     4
    values = [-9.0, 1.0, 3.0, 7.0, -2.0]  # median of t = 1..4 is 2
    threshold = 2.0 + math.log(0.1)
    for last in range(1, 6):
        verdict = rule.verdict(record(values[:last]))
        assert not verdict.stop
        assert verdict.reason == f"{last - 1} of 4 first values of gain per cost: go on"
    for value, stop in ((threshold + 1e-9, False), (threshold, True), (-20.0, True)):
        verdict = rule.verdict(record([*values, value]))
        assert verdict.stop == stop
        assert verdict.threshold == pytest.approx(threshold, rel=1e-15)
        assert verdict.value == value


def test_the_median_does_not_move_any_more():
    rule = LogEIPCMedian(eta=0.1, initial=3)
    values = [0.0, 1.0, 2.0, 3.0]
    for more in ([5.0], [5.0, -50.0], [5.0, -50.0, 9.0]):
        assert rule.verdict(record(values + more)).threshold == pytest.approx(2.0 + math.log(0.1))


def test_gaps_in_t_leave_a_median_of_what_was_recorded():
    rule = LogEIPCMedian(eta=0.1, initial=4)
    signals = tuple(Signal(t, t + 5, v) for t, v in [(0, 0.0), (2, 1.0), (3, 3.0), (9, -9.0)])
    assert rule.verdict(Trace.of(signals)).threshold == pytest.approx(2.0 + math.log(0.1))
    none = tuple(Signal(t, t + 5, v) for t, v in [(0, 0.0), (9, -9.0)])
    verdict = rule.verdict(Trace.of(none))
    assert not verdict.stop
    assert math.isnan(verdict.threshold)


def test_the_median_rule_speaks_of_gain_per_cost():
    verdict = LogEIPCMedian(0.5, 1).verdict(record([0.0, math.log(8.0), math.log(3.0)]))
    assert verdict.reason == (
        "the best remaining gain per cost is 3, and 0.5 of its median over the first 1"
        " evaluations is 4: stop"
    )


def test_its_signal_is_read_on_a_log_scale():
    assert PBGI(1.0).signal_scale == LogEIPCMedian().signal_scale == "log"
    others = [GSS(), Convergence(), Immediate(), FixedTrials(3), UCBLCB(), SRGapMedian()]
    assert {rule.signal_scale for rule in others} == {"linear"}
    assert ProbabilisticRegretBound().signal_scale == "linear"


# ------------------------------------------------------------------------------------ UCB-LCB


def their_gap(book, X, evaluated, n, d):
    """Makarova et al. 2022: min over D of UCB - min over X of LCB, beta scaled by 1/5."""
    root = math.sqrt(2.0 / 5.0 * math.log(d * n**2 * math.pi**2 / (6.0 * 0.1)))
    upper = np.min(book.mean(evaluated) + root * book.std(evaluated))
    lower = np.min(book.mean(X) - root * book.std(X))
    return upper - lower, upper, lower


@KINDS
def test_the_gap_on_a_table(noise):
    for seed in range(4):
        snapshot = study(noise=noise, seed=seed)
        signal = UCBLCB().signal(snapshot)
        found = (signal.value, signal.facts["upper"], signal.facts["lower"])
        wanted = their_gap(Textbook(snapshot), TABLE.points, snapshot.X, snapshot.n, 2)
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-8)


@KINDS
@pytest.mark.parametrize("domain", [LINE, SQUARE], ids=["line", "square"])
def test_the_gap_on_a_box_is_that_of_a_fine_grid(domain, noise):
    snapshot = study(domain, 7, noise=noise)
    axis = np.linspace(0.0, 1.0, 1001 if domain is LINE else 41)
    grid = np.stack(np.meshgrid(*[axis] * domain.d), axis=-1).reshape(-1, domain.d)
    signal = UCBLCB().signal(snapshot)
    gap, upper, lower = their_gap(Textbook(snapshot), grid, snapshot.X, 7, domain.d)
    assert signal.facts["upper"] == pytest.approx(upper, abs=1e-6)
    assert lower - 0.01 <= signal.facts["lower"] <= lower + 1e-9
    assert gap - 1e-6 <= signal.value <= gap + 0.01


def test_the_gap_is_never_negative():
    # One very good value among bad ones: no point elsewhere can be as low.
    X = TABLE.points[:39]
    y = np.append(np.zeros(38) + np.linspace(9.0, 10.0, 38), 0.0)
    assert UCBLCB().signal(study(X=X, y=y)).value >= 0.0


def test_on_a_box_the_evaluated_points_count_too():
    # A search that finds nothing must not make the gap negative or too small.
    snapshot = study(LINE, 5, noise=0.3)
    root = math.sqrt(0.4 * math.log(25 * math.pi**2 / 0.6))
    mean, std = snapshot.belief.objective(snapshot.X)
    signal = UCBLCB().signal(snapshot)
    assert signal.facts["lower"] <= np.min(mean - root * std)


def test_ucb_lcb_compares_with_theta():
    rule = UCBLCB(0.5)
    for value, stop in ((0.5, True), (0.50001, False), (0.0, True)):
        verdict = verdict_of(rule, Signal(3, 9, value))
        assert (verdict.stop, verdict.threshold) == (stop, 0.5)
    assert verdict.reason == (
        "the confidence bounds leave at most 0 to be gained; the tolerance is 0.5: stop"
    )
    assert UCBLCB(0.1).key == UCBLCB(0.2).key


# ---------------------------------------------------------------------------------------- GSS


def told(y, initial):
    """A study that was told these values, in this order."""
    X = np.arange(len(y), dtype=float)[:, None] / len(y)
    return study(LINE, X=X, y=y, initial=initial)


def test_gss_is_improvement_over_the_window_in_interquartile_ranges_of_all_values():
    y = [9.0, 5.0, 7.0, 4.0, 6.0, 8.0, 3.5]
    # Best after 7 is 3.5; before the last three, 4. Quartiles of all seven: 4.5 and 7.5.
    signal = GSS(window=3).signal(told(y, 2))
    assert signal.value == pytest.approx(0.5 / 3.0)
    assert (signal.facts["gain"], signal.facts["iqr"]) == (0.5, 3.0)
    low, high = (sorted(y)[1] + sorted(y)[2]) / 2.0, (sorted(y)[4] + sorted(y)[5]) / 2.0
    assert (low, high) == (4.5, 7.5)
    # Not of the best-so-far trace, whose quartiles are 4 and 5.
    assert signal.value != pytest.approx(0.5 / 1.0)


@pytest.mark.parametrize(("t", "answer"), [(2, False), (3, True), (4, True)])
def test_gss_needs_a_window_of_evaluations_after_the_design(t, answer):
    y = [9.0, 5.0, 7.0, 4.0, 6.0, 8.0]
    rule = GSS(window=3)
    signal = rule.signal(told(y, len(y) - t))
    assert math.isnan(signal.value) != answer
    if not answer:
        verdict = verdict_of(rule, signal)
        assert not verdict.stop
        assert verdict.reason == "fewer than 3 evaluations, or values without spread: go on"


def test_values_without_spread_give_gss_no_answer():
    rule = GSS(window=2)
    signal = rule.signal(told([1.0, 1.0, 1.0, 1.0, 1.0, 0.5], 2))  # its quartiles are both 1
    assert math.isnan(signal.value)
    assert not verdict_of(rule, signal).stop


def test_gss_compares_with_phi():
    for value, stop in ((0.0, True), (0.01, True), (0.0101, False)):
        verdict = verdict_of(GSS(), Signal(6, 9, value, {"gain": value * 2.0, "iqr": 2.0}))
        assert (verdict.stop, verdict.threshold) == (stop, 0.01)
    assert "gained 0.0202, which is 0.0101 of the interquartile range" in verdict.reason
    assert GSS(0.1, 5).key == GSS(0.2, 5).key != GSS(0.1, 6).key


def test_gss_over_whole_histories():
    rng = np.random.default_rng(53)
    for _ in range(20):
        y, w = rng.standard_normal(12), int(rng.integers(1, 5))
        for n in range(3 + w, 13):
            best = np.minimum.accumulate(y[:n])
            iqr = np.subtract(*np.percentile(y[:n], [75, 25]))
            rule = GSS(phi=0.2, window=w)
            wanted = best[n - 1 - w] - best[n - 1] <= 0.2 * iqr
            assert verdict_of(rule, rule.signal(told(y[:n], 3))).stop == wanted


# -------------------------------------------------------------------------------- Convergence


def test_convergence_counts_evaluations_without_improvement():
    #     initial | t =  1    2    3    4    5    6
    y = [5.0, 4.0, 6.0, 4.0, 3.0, 3.0, 7.0, 3.5]
    counts = [Convergence().signal(told(y[:n], 2)).value for n in range(2, 9)]
    assert counts == [0, 1, 2, 0, 1, 2, 3]  # a tie is no improvement
    for patience in (1, 2, 3):
        stops = [verdict_of(Convergence(patience), Signal(t, t, c)).stop
                 for t, c in enumerate(counts)]  # fmt: skip
        best = np.minimum.accumulate(y)
        wanted = [t >= patience and best[t + 1] == best[t + 1 - patience] for t in range(7)]
        assert stops == wanted


def test_convergence_does_not_count_within_the_initial_design():
    y = [1.0, 5.0, 6.0, 7.0, 8.0]  # the best came first
    assert [Convergence().signal(told(y[:n], 3)).value for n in (3, 4, 5)] == [0, 1, 2]


def test_convergence_speaks_of_its_patience():
    verdict = verdict_of(Convergence(4), Signal(9, 12, 3.0))
    assert verdict.reason == (
        "the best value has not changed over the last 3 evaluations; the patience is 4: go on"
    )
    assert Convergence(1).key == Convergence(2).key


# ---------------------------------------------------------------------- Immediate, FixedTrials


def test_immediate_stops_at_once():
    for initial in (8, 5):
        snapshot = study(n=8, initial=initial)
        verdict = verdict_of(Immediate(), Immediate().signal(snapshot))
        assert verdict.stop
        assert verdict.value == 8 - initial


def test_fixed_trials_counts_evaluations_after_the_design():
    for initial, stop in ((8, False), (6, False), (5, True), (4, True)):
        rule = FixedTrials(3)
        verdict = verdict_of(rule, rule.signal(study(n=8, initial=initial)))
        assert verdict.stop == stop
        assert verdict.reason.startswith(f"{8 - initial} of 3 evaluations after the initial")
    assert FixedTrials(3).key == Immediate().key == "evaluations"


# ------------------------------------------------------------------------ parameters that teach

POSITIVE = [
    (lambda v: LogEIPCMedian(eta=v), "LogEIPCMedian", "eta"),
    (lambda v: SRGapMedian(chi=v), "SRGapMedian", "chi"),
    (lambda v: UCBLCB(theta=v), "UCBLCB", "theta"),
    (lambda v: GSS(phi=v), "GSS", "phi"),
    (lambda v: ProbabilisticRegretBound(epsilon=v), "ProbabilisticRegretBound", "epsilon"),
    (lambda v: ProbabilisticRegretBound(delta=v), "ProbabilisticRegretBound", "delta"),
]
COUNTS = [
    (lambda v: LogEIPCMedian(initial=v), "LogEIPCMedian", "initial"),
    (lambda v: SRGapMedian(initial=v), "SRGapMedian", "initial"),
    (lambda v: GSS(window=v), "GSS", "window"),
    (Convergence, "Convergence", "patience"),
    (FixedTrials, "FixedTrials", "n"),
    (lambda v: After(Immediate(), v), "After", "trials"),
    (lambda v: Smoothed(Immediate(), v), "Smoothed", "window"),
]


@pytest.mark.parametrize(("make", "owner", "name"), POSITIVE, ids=[n for *_, n in POSITIVE])
def test_thresholds_are_positive_numbers(make, owner, name):
    for bad in (0.0, -1.0, math.nan, math.inf, True, "0.1", None):
        message = rf"{owner}\({name}={re.escape(repr(bad))}\): {name} must be a positive number"
        with pytest.raises(InputError, match=message):
            make(bad)
    assert make(np.float32(0.25)) == make(0.25)


@pytest.mark.parametrize(("make", "owner", "name"), COUNTS, ids=[f"{o}-{n}" for _, o, n in COUNTS])
def test_counts_are_whole_numbers_from_one_on(make, owner, name):
    for bad in (0, -1, 2.0, True, "3", None):
        message = rf"{owner}\({name}={re.escape(repr(bad))}\): {name} must be a whole number of"
        with pytest.raises(InputError, match=message):
            make(bad)
    assert make(np.int64(3)) == make(3)


@pytest.mark.parametrize("lam", [0.0, -1.0, math.nan, "0.1"])
def test_lambda_is_positive(lam):
    with pytest.raises(InputError, match=r"lam must be a positive number, got .*exchange_rate"):
        PBGI(lam)


def test_the_update_is_after_or_before():
    with pytest.raises(InputError, match=r"PBGI\(update='never'\): give 'after' .* or 'before'"):
        PBGI(1.0, update="never")


def test_rules_are_made_by_name():
    assert make_rule("pbgi", LAM) == PBGI(LAM)
    assert make_rule("ucb-lcb", None) == UCBLCB()
    mine = Convergence(9)
    assert make_rule(mine, None) is mine
    with pytest.raises(InputError, match=r"no stopping rule 'ei': give one of pbgi, logeipc-med"):
        make_rule("ei", LAM)
    with pytest.raises(InputError, match=r"'pbgi' needs lam\. .*exchange_rate"):
        make_rule("pbgi", None)
    with pytest.raises(InputError, match=r"'fixed' needs n: .* sw.stopping.FixedTrials\(n=\.\.\."):
        make_rule("fixed", LAM)
    with pytest.raises(InputTypeError, match="an object with signal and verdict"):
        make_rule(PBGI, LAM)


def test_the_table_has_every_rule_and_each_is_one():
    assert {
        "pbgi", "logeipc-med", "srgap-med", "ucb-lcb", "prb", "gss", "convergence", "immediate",
        "fixed",
    } <= set(RULES)  # fmt: skip
    for name in RULES:
        rule = FixedTrials(3) if name == "fixed" else make_rule(name, LAM)
        assert isinstance(rule, StoppingRule)
        assert rule.name == name
        assert hash(rule) == hash(replace(rule))


# ----------------------------------------------------------------------- candidates from a table


def test_rules_read_a_table_of_rows_as_they_read_a_grid():
    rows = [{"a": a, "b": b} for a in range(8) for b in range(5)]
    listed = as_domain(Candidates(rows, space={"a": Integer(0, 7), "b": Integer(0, 4)}))
    np.testing.assert_allclose(listed.points, TABLE.points)
    here, there = study(), study(listed)
    for rule in (PBGI(LAM), UCBLCB(), SRGapMedian(), ProbabilisticRegretBound()):
        assert rule.signal(here).value == pytest.approx(rule.signal(there).value)


def test_a_log_scale_changes_only_where_points_are():
    domain = as_domain({"x": Real(1e-3, 1.0, log=True)})
    encoded = domain.encode([{"x": 10.0**e} for e in (-3, -2, -1.2, -0.5)])
    log, plain = study(domain, X=encoded), study(LINE, X=encoded)
    assert PBGI(LAM).signal(log).value == pytest.approx(PBGI(LAM).signal(plain).value, abs=1e-6)
