# SPDX-License-Identifier: Apache-2.0
"""Laws of what f is worth: against their definition, and the properties of every law."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from stopwise.core.beliefs.laws import (
    Bounded,
    Chance,
    Doubted,
    LogWarped,
    Mixture,
    Normal,
    Shifted,
    SoftWarped,
    Valued,
    valued,
)
from stopwise.core.beliefs.laws._anchored import Anchored
from stopwise.core.beliefs.utilities import Custom, Linear, Piecewise, Sigmoid, Threshold
from tests.support.laws import ei, normal, one
from tests.support.strategies import magnitudes, reals

DRAWS = 400_000


LOSSES = {
    "sigmoid": Sigmoid(at=-0.5, width=0.3, height=20.0).loss(1.0),
    "good enough": Threshold(at=-1.0, slope=3.0).loss(1.0),
    "hinge": Threshold(at=0.5, slope=3.0).loss(-1.0),
    "piecewise": Piecewise([(-2.0, 10.0), (-1.0, 8.0), (0.0, 8.0), (1.0, 0.0)]).loss(1.0),
    "linear": Linear(5.0).loss(1.0),
    "custom": Custom(np.arctan, lambda v: 1.0 / (1.0 + v * v)).loss(-1.0),
    "unbounded": Custom(lambda v: -np.sinh(v), lambda v: -np.cosh(v)).loss(1.0),
}
LAWS = {
    "normal": normal(-0.3, 0.8),
    "mixture": Mixture(
        np.array([0.5, 0.3, 0.2]),
        [normal(0.0, 1.0), SoftWarped(normal(-1.0, 0.4), -0.5, 0.7), normal(1.0, 0.1)],
    ),
    "bounded": Bounded(normal(-0.5, 1.0), low=-1.2, high=0.8),
    "log-warped": LogWarped(normal(-0.2, 0.7), low=-1.5),
    "certain": normal(-0.4, 0.0),
    "chance": Chance(normal(-0.3, 0.8), np.log([0.3])),
    "doubted": Doubted(normal(-0.3, 0.8), level=-0.2, trust=0.25),
}


def draws_of(law, rng):
    """Draws of f; infinite where nothing comes."""
    if isinstance(law, Chance):
        comes = rng.random(DRAWS) < np.exp(law.log_chance[0])
        return np.where(comes, draws_of(law.law, rng), np.inf)
    if isinstance(law, Doubted):
        f, believed = draws_of(law.law, rng), rng.random(DRAWS) < law.trust
        return np.where(believed, f, np.maximum(f, law.level))
    if isinstance(law, Mixture):
        which = rng.choice(len(law.laws), DRAWS, p=law.weights)
        return np.choose(which, [draws_of(part, rng) for part in law.laws])
    everywhere = np.ones((DRAWS, 1), dtype=bool)
    return law.at(everywhere).quantile(rng.standard_normal(DRAWS)).value


@pytest.mark.parametrize("of_loss", LOSSES)
@pytest.mark.parametrize("of_law", LAWS)
def test_improvements_are_those_of_draws(of_law, of_loss):
    law, loss, rng = LAWS[of_law], LOSSES[of_loss], np.random.default_rng(7)
    f = draws_of(law, rng)
    lost = np.where(np.isinf(f), np.inf, loss(np.where(np.isinf(f), 0.0, f)))
    for y in (-1.1, -0.3, 0.9):
        level = float(loss(one(y))[0])
        gains = np.maximum(level - lost, 0.0)
        error = gains.std() / math.sqrt(DRAWS)
        got = ei(valued(law, loss), level)
        assert got == pytest.approx(gains.mean(), abs=4.5 * error + 1e-12)
        share = valued(law, loss).cdf(level).value[0]
        assert share == pytest.approx((lost <= level).mean(), abs=4.5 * 0.5 / math.sqrt(DRAWS))


@pytest.mark.parametrize(
    ("width", "mean", "z"),
    [(1.0, 0.0, 0.5), (0.02, 1.0, -2.0), (30.0, -3.0, -9.0), (0.2, 2.0, 6.0)],
)
def test_a_sigmoid_of_a_normal_to_twelve_digits(width, mean, z):
    law = Valued(normal(mean, 1.0), Sigmoid(at=0.0, width=width, height=2.0).loss(1.0))
    top = mean + z

    def integrand(y):
        slope = 2 / width / (mpmath.exp(y / width / 2) + mpmath.exp(-y / width / 2)) ** 2
        return mpmath.ncdf(y - mean) * slope

    with mpmath.workdps(25):
        ends = sorted({y for y in (*range(-15, 8), *np.linspace(-30, 30, 13) * width) if y < top})
        want = mpmath.quad(integrand, [*ends, top])
        log_ei = law.loss.log_integral(law.law, one(-np.inf), one(top)).value[0]
        assert log_ei == pytest.approx(float(mpmath.log(want)), abs=1e-12, rel=1e-12)


@pytest.mark.parametrize("std", [1e-3, 0.1, 1.0, 100.0])
def test_improvements_far_below_all_that_is_expected_stay_precise(std):
    """By a fine rule of its own, in logs; a tail of 100 deviations is an ordinary number."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    for mean, z in ((-30.0, -100.0), (5.0, -30.0), (30.0, -8.0), (100.0, 2.0)):
        top = mean + z * std
        steps = np.geomspace(1e-4, 1.0, 40)
        far = mean - std * np.geomspace(1.0, 3e3, 80)
        even = [mean + std * np.arange(-60, 60, 0.5), np.arange(-60, 60, 0.5)]
        ends = np.unique(np.concatenate([*even, [top], top - std * steps, top - steps, far]))
        ends = ends[ends <= top]
        low, high = ends[:-1, None], ends[1:, None]
        y = low + 0.5 * (high - low) * (nodes + 1.0)
        logs = np.asarray(normal(mean, std).log_cdf(y)) - np.logaddexp(0, y) - np.logaddexp(0, -y)
        logs = logs + np.log(0.5 * (high - low) * weights)
        want = logs.max() + math.log(np.exp(logs - logs.max()).sum())
        loss = Sigmoid(at=0.0, width=1.0).loss(1.0)
        got = loss.log_integral(normal(mean, std), one(-np.inf), one(top)).value[0]
        assert got == pytest.approx(want, abs=1e-12, rel=1e-12)


def test_where_a_warped_quantile_is_infinite_nothing_is_lost():
    """Strongly warped, f may be beyond all numbers; what is below counts all the same."""
    law = SoftWarped(normal(0.0, 5.0), knee=0.3, tau=0.01)
    assert np.isposinf(law.quantile(8.5).value[0])
    loss = Sigmoid(at=0.0, width=0.2).loss(1.0)
    same = normal(0.0, 5.0)  # up to the knee
    got, want = (loss.log_integral(f, one(-np.inf), one(0.2)).value[0] for f in (law, same))
    assert got == pytest.approx(want, rel=1e-12)
    whole = math.exp(loss.log_integral(law, one(-np.inf), one(np.inf)).value[0])
    assert math.exp(got) < whole < ndtr(0.3)


def test_slopes_are_numbers_where_a_panel_has_next_to_nothing():
    """A bound far beyond a narrow sigmoid: halves without any mass are resolved first."""
    law = Bounded(normal(-0.0606, 0.9556), -1.0, 2.0)
    loss = Sigmoid(at=-1.3978, width=0.00322, height=0.0384).loss(1.0)
    value, slopes = loss.log_integral(law, one(-np.inf), one(np.inf))
    assert value[0] == pytest.approx(-128.56, abs=0.1)
    h = 1e-6
    moved = [Bounded(normal(-0.0606 + s * h, 0.9556), -1.0, 2.0) for s in (1.0, -1.0)]
    up, down = (loss.log_integral(each, one(-np.inf), one(np.inf)).value[0] for each in moved)
    assert slopes[0][0] == pytest.approx((up - down) / (2 * h), rel=1e-6)
    assert np.isfinite(slopes[1][0])


def test_where_rounding_blurs_the_cdf_panels_are_not_halved_for_ever():
    law = Valued(normal(86.6, 3e-6), Sigmoid(at=90.0, width=2.0).loss(1.0))
    log_ei = law.log_ei(float(law.loss(one(-95.0))[0])).value[0]
    assert log_ei < -1e12


def test_many_points_are_integrated_in_blocks():
    loss = LOSSES["sigmoid"]
    means = np.linspace(-2.0, 2.0, 2600)
    law = Valued(Normal(means, np.full(2600, 0.5)), loss)
    value, slopes = law.log_ei(-5.0)
    alone = Valued(normal(means[700], 0.5), loss).log_ei(-5.0)
    assert value[700] == pytest.approx(alone.value[0], rel=1e-13)
    both = zip(slopes, alone.slopes, strict=True)
    assert all(slope[700] == pytest.approx(other[0], rel=1e-13) for slope, other in both)


def test_a_mixture_that_is_moved_or_clipped_is_one_of_parts_that_are():
    mixture, at = LAWS["mixture"], 0.3
    moved = Valued(Shifted(mixture, 0.4), Sigmoid(at, 0.3, 20.0).loss(1.0))
    stays = Valued(mixture, Sigmoid(at - 0.4, 0.3, 20.0).loss(1.0))
    both = zip(moved.log_ei(-8.0).slopes, stays.log_ei(-8.0).slopes, strict=True)
    assert all(a == pytest.approx(b, rel=1e-10) for a, b in both)
    assert ei(moved, -8.0) == pytest.approx(ei(stays, -8.0), rel=1e-12)
    loss = LOSSES["sigmoid"]
    parts = [Bounded(Shifted(part, 0.1), -1.2, 0.8) for part in mixture.laws]
    clipped = Valued(Bounded(Shifted(mixture, 0.1), -1.2, 0.8), loss)
    wanted = sum(
        w * ei(Valued(part, loss), -8.0) for w, part in zip(mixture.weights, parts, strict=True)
    )
    assert ei(clipped, -8.0) == pytest.approx(wanted, rel=1e-12)


@given(reals(-6.0, 4.0), reals(-6.0, 4.0), magnitudes(-2, 1))
def test_an_improvement_from_a_known_one_is_that_computed_anew(known, asked, width):
    """However far the levels are apart: where the difference cancels, it is integrated anew."""
    law = Valued(LAWS["mixture"], Sigmoid(-0.5, width, 20.0).loss(1.0))
    at, level = (law.loss(one(y)) for y in (known, asked))
    got = Anchored(law, at, law.log_ei(at)).log_ei(level)
    want = law.log_ei(level)
    assert got.value[0] == pytest.approx(want.value[0], abs=1e-9, rel=1e-10)
    for one_slope, other in zip(got.slopes, want.slopes, strict=True):
        assert one_slope[0] == pytest.approx(other[0], abs=1e-7, rel=1e-7)


@st.composite
def losses(draw):
    kind = draw(st.sampled_from(["sigmoid", "threshold", "piecewise", "linear"]))
    at, scale = draw(reals(-2.0, 2.0)), draw(magnitudes(-2, 1))
    if kind == "sigmoid":
        return Sigmoid(at, scale, draw(magnitudes(-2, 3))).loss(1.0)
    if kind == "threshold":
        return Threshold(at, scale, draw(st.sampled_from(["above", "below"]))).loss(1.0)
    if kind == "linear":
        return Linear(scale).loss(1.0)
    steps = draw(st.lists(st.sampled_from([0.0, 0.5, 3.0]), min_size=1, max_size=4))
    worths = np.concatenate([[0.0], np.cumsum([*steps, 1.0])])
    points = [(at - 0.7 * i, worth) for i, worth in enumerate(worths)]
    return Piecewise(points).loss(1.0)


@st.composite
def worths(draw):
    """The law of a loss of a normal or a mixture, clipped or not."""
    parts = [
        normal(draw(reals(-3.0, 3.0)), draw(st.one_of(magnitudes(-2, 1), st.just(0.0))))
        for _ in range(draw(st.integers(1, 2)))
    ]
    law = parts[0] if len(parts) == 1 else Mixture(np.array([0.4, 0.6]), parts)
    law = Bounded(law, -1.0, 2.0) if draw(st.booleans()) else law
    return Valued(law, draw(losses()))


def levels(law, y):
    return float(law.loss(one(y))[0])


@given(worths(), reals(-3.0, 3.0), magnitudes(-3, 0))
def test_improvement_is_convex_in_what_is_lost_and_its_slope_is_the_cdf(law, y, share):
    level = levels(law, y)
    span = law.loss(one(3.0))[0] - law.loss(one(-3.0))[0]
    step = share * max(span, 0.1)
    below, here, above = (ei(law, level + s) for s in (-step, 0.0, step))
    rounding = 1e-9 * above
    assert below <= here + rounding
    assert here <= above + rounding
    assert above - here >= here - below - rounding
    low, high = law.cdf(level).value[0], law.cdf(level + step).value[0]
    assert low * step <= above - here + rounding + 1e-9 * step
    assert above - here <= high * step + rounding + 1e-9 * step


@given(worths(), magnitudes(-6, 2))
def test_the_fair_value_is_the_root(law, price):
    fair = law.fair_value(price)
    assert np.isfinite(np.array([fair.value, *fair.slopes, fair.d_log_price])).all()
    level = fair.value[0]
    nearby = 1e-9 * (1.0 + abs(level))
    assert ei(law, level - nearby) <= price * (1 + 1e-9)
    assert ei(law, level + nearby) >= price * (1 - 1e-9)
    assert law.fair_value(2.0 * price).value[0] >= level


@given(worths(), st.sampled_from([-2.0, -0.5, 0.0, 1.5]))
def test_quantiles_and_probabilities_agree(law, z):
    value = law.quantile(z).value[0]
    nearby = 1e-7 * (1.0 + abs(value))
    assert law.cdf(value + nearby).value[0] >= ndtr(z) - 1e-9
    assert law.cdf(value - nearby).value[0] <= ndtr(z) + 1e-9
    if z == 0.0:
        assert law.median[0] == pytest.approx(value, abs=nearby)


@settings(max_examples=30)
@given(magnitudes(-1, 1), reals(-2.0, 2.0), magnitudes(-1, 0), reals(-2.0, 2.0))
def test_a_straight_line_changes_the_unit_and_nothing_else(slope, mean, std, level):
    plain = normal(mean, std)
    law = Valued(plain, Linear(slope).loss(1.0))
    assert law.log_ei(slope * level).value[0] == pytest.approx(
        plain.log_ei(level).value[0] + math.log(slope), abs=1e-9
    )
    fair, of_plain = law.fair_value(slope * 0.3), plain.fair_value(0.3)
    assert fair.value[0] == pytest.approx(slope * of_plain.value[0], abs=1e-9 * (1 + slope))
    for got, want in zip(fair.slopes, of_plain.slopes, strict=True):
        assert got[0] == pytest.approx(slope * want[0], abs=1e-9 * slope)


@pytest.mark.parametrize("of_loss", LOSSES)
@pytest.mark.parametrize("of_law", ["normal", "mixture", "bounded"])
def test_slopes_are_differences(of_law, of_loss):
    """Of every answer in the means and deviations of normals, and in the price."""
    loss = LOSSES[of_loss]

    def law_at(move):
        first = Normal(one(-0.3 + move[0]), one(0.8 + move[1]))
        if of_law == "normal":
            return Valued(first, loss)
        if of_law == "bounded":
            return Valued(Bounded(first, -2.0, 3.0), loss)
        return Valued(Mixture(np.array([0.4, 0.6]), [first, normal(0.5, 0.5)]), loss)

    level, h = float(loss(one(0.37))[0]), 1e-6
    asked = {
        "log_ei": lambda law: law.log_ei(level),
        "between": lambda law: law.log_ei_between(float(loss(one(-0.71))[0]), level),
        "cdf": lambda law: law.cdf(level),
        "z": lambda law: law.z_score(level),
        "quantile": lambda law: law.quantile(0.63),
        "fair": lambda law: law.fair_value(0.4),
    }
    for name, ask in asked.items():
        slopes = ask(law_at((0.0, 0.0))).slopes
        for i, move in enumerate(((h, 0.0), (0.0, h))):
            up, down = (ask(law_at(np.array(move) * s)).value[0] for s in (1.0, -1.0))
            if not (np.isfinite(up) and np.isfinite(down)):
                continue  # beyond all losses a z-score is infinite
            difference = (up - down) / (2 * h)
            assert slopes[i][0] == pytest.approx(difference, abs=2e-6 * (1 + abs(up))), name
    up, down = (law_at((0, 0)).fair_value(0.4 * math.exp(s * h)).value[0] for s in (1.0, -1.0))
    d_log_price = law_at((0, 0)).fair_value(0.4).d_log_price[0]
    assert d_log_price == pytest.approx((up - down) / (2 * h), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("of_loss", ["sigmoid", "piecewise", "hinge"])
def test_beyond_all_that_can_be_lost_or_gained_answers_are_certain(of_loss):
    law = Valued(LAWS["normal"], LOSSES[of_loss])
    loss = law.loss
    above = loss.high + 2.0
    assert law.cdf(above).value[0] == 1.0
    assert law.log_cdf(above)[0] == 0.0
    assert law.log_survival(above)[0] == -np.inf
    assert law.z_score(above).value[0] == np.inf
    assert law.log_density(above)[0] == -np.inf
    assert ei(law, above) == pytest.approx(ei(law, loss.high) + 2.0)
    if np.isfinite(loss.low):
        below = loss.low - 0.1
        assert (law.cdf(below).value[0], law.log_survival(below)[0]) == (0.0, 0.0)
        assert (law.log_ei(below).value[0], law.z_score(below).value[0]) == (-np.inf, -np.inf)
    dear = 5.0 * (1.0 + ei(law, loss.high))
    assert law.fair_value(dear).value[0] == pytest.approx(loss.high + dear - ei(law, loss.high))
    assert law.fair_value(dear).value[0] > loss.high


def test_densities_are_the_slopes_of_the_cdf_and_moments_those_of_draws():
    law, rng = Valued(LAWS["normal"], LOSSES["sigmoid"]), np.random.default_rng(3)
    level, h = -7.0, 1e-5
    slope = (law.cdf(level + h).value[0] - law.cdf(level - h).value[0]) / (2 * h)
    assert math.exp(law.log_density(level)[0]) == pytest.approx(slope, rel=1e-6)
    below, above = law.log_cdf(level)[0], law.log_survival(level)[0]
    assert math.exp(below) + math.exp(above) == pytest.approx(1.0)
    lost = law.loss(draws_of(law.law, rng))
    assert law.mean[0] == pytest.approx(lost.mean(), abs=0.05)
    assert law.std[0] == pytest.approx(lost.std(), abs=0.05)


def test_what_is_known_is_known_by_its_value():
    law = Valued(Normal(np.zeros(3), np.ones(3)), LOSSES["piecewise"])
    known = law.known_at(np.array([1]), np.array([-1.5]))
    assert known.quantile(2.0).value[1] == law.loss(one(-1.5))[0]
    assert known.parameters[1].tolist() == [1.0, 0.0, 1.0]
