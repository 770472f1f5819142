# SPDX-License-Identifier: Apache-2.0
"""Properties of all laws: EI is convex with the cdf as its slope, fair values are its roots."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from stopwise.core.beliefs.laws import Bounded, Chance, LogWarped, Mixture, Normal, SoftWarped
from tests.support.laws import ei, one
from tests.support.strategies import magnitudes, reals


@st.composite
def normals(draw):
    std = draw(st.one_of(magnitudes(-2, 1), st.just(0.0)))
    return Normal(one(draw(reals(-3.0, 3.0))), one(std))


@st.composite
def simple_laws(draw):
    """A normal, warped or not, clipped or not; of f or of a certain f."""
    normal, kind = draw(normals()), draw(st.sampled_from(["plain", "soft", "log"]))
    law = normal
    if kind == "soft":
        law = SoftWarped(normal, draw(reals(-2.0, 2.0)), draw(magnitudes(-1, 1)))
    elif kind == "log":
        law = LogWarped(Normal(normal.mean, np.minimum(normal.std, 3.0)), draw(reals(-3.0, 0.0)))
    bounds = draw(
        st.sampled_from([(-np.inf, np.inf), (-1.0, np.inf), (-np.inf, 1.5), (-0.5, 2.0)])
    )
    return law if bounds == (-np.inf, np.inf) else Bounded(law, *bounds)


@st.composite
def mixtures(draw):
    components = draw(st.lists(simple_laws(), min_size=1, max_size=4))
    weights = [draw(st.one_of(magnitudes(-8, 0), st.just(0.0))) for _ in components]
    assume(sum(weights) > 0.0)
    return Mixture(np.array(weights), components)


def laws():
    return st.one_of(simple_laws(), mixtures())


def chances():
    """Laws that count with a probability, down to 1e-200."""
    logs = st.one_of(reals(-460.0, 0.0), reals(-3.0, 0.0))
    return st.builds(lambda law, log_chance: Chance(law, one(log_chance)), laws(), logs)


@given(laws(), reals(-5.0, 5.0), magnitudes(-3, 0))
def test_improvement_is_increasing_and_convex_and_its_slope_is_the_cdf(law, level, step):
    below, here, above = (ei(law, level + s) for s in (-step, 0.0, step))
    rounding = 1e-13 * above
    assert below <= here + rounding
    assert here <= above + rounding
    assert above - here >= here - below - 4 * rounding
    low, high = law.cdf(level).value[0], law.cdf(level + step).value[0]
    assert low * step <= above - here + 4 * rounding
    assert above - here <= high * step + 4 * rounding


@given(laws(), reals(-5.0, 5.0), magnitudes(-9, 0))
def test_what_is_between_two_levels_is_the_difference(law, level, step):
    between = math.exp(law.log_ei_between(level, level + step).value[0])
    difference = ei(law, level + step) - ei(law, level)
    assert between == pytest.approx(difference, rel=1e-9, abs=1e-12 * ei(law, level + step))
    low, high = law.cdf(level).value[0], law.cdf(level + step).value[0]
    width = (level + step) - level
    assert low * width * (1 - 1e-9) <= between <= high * width * (1 + 1e-9)


@given(laws(), magnitudes(-12, 2))
def test_the_fair_value_is_the_root(law, price):
    fair = law.fair_value(price)
    level = fair.value[0]
    assert np.isfinite(np.array([fair.value, *fair.slopes, fair.d_log_price])).all()
    # The root is among the neighbours of a level; in warped units there are as many as these.
    nearby = 64.0 * np.spacing(abs(level))
    low, high = ei(law, level - nearby), ei(law, level + nearby)
    assert low <= price * (1 + 1e-11)
    assert high >= price * (1 - 1e-11)


@given(laws(), magnitudes(-12, 2), magnitudes(-6, 1))
def test_the_fair_value_rises_with_the_price(law, price, more):
    value, dearer = law.fair_value(price).value[0], law.fair_value(price * (1.0 + more)).value[0]
    assert dearer >= value - 1e-11 * (1.0 + abs(value))


@given(laws(), st.sampled_from([-3.0, -1.0, 0.0, 0.5, 2.0]))
def test_a_quantile_is_where_the_cdf_reaches_its_probability(law, z):
    (value,), slopes = law.quantile(z)
    p = 0.5 * math.erfc(-z / math.sqrt(2.0))
    nearby = 1e-9 * (1.0 + abs(value))
    assert law.cdf(value + nearby).value[0] >= p - 1e-12
    assert law.cdf(value - nearby).value[0] <= p + 1e-12
    assert np.isfinite(np.array(slopes)).all()


@given(mixtures(), reals(-5.0, 5.0), magnitudes(-9, 1))
def test_a_mixture_is_between_its_components(law, level, price):
    live = [c for w, c in zip(law.weights, law.laws, strict=True) if w > 0.0]
    for answer in (
        lambda c: c.log_ei(level).value[0],
        lambda c: c.cdf(level).value[0],
        lambda c: c.fair_value(price).value[0],
        lambda c: c.quantile(-1.0).value[0],
        lambda c: c.mean[0],
    ):
        answers, of_mixture = [answer(c) for c in live], answer(law)
        slack = 1e-11 * (1.0 + abs(of_mixture)) if np.isfinite(of_mixture) else 0.0
        assert min(answers) - slack <= of_mixture <= max(answers) + slack


@given(laws(), reals(-5.0, 5.0), magnitudes(-6, 2), st.integers(-20, 20))
def test_other_units_change_nothing_but_units(law, level, price, power):
    scale = 2.0**power
    moved = scaled(law, scale)
    assert ei(moved, scale * level) == pytest.approx(scale * ei(law, level), rel=1e-11, abs=1e-300)
    fair = law.fair_value(price).value[0]
    assert moved.fair_value(scale * price).value[0] == pytest.approx(
        scale * fair, rel=1e-9, abs=1e-10 * scale
    )


def scaled(law, scale):
    if isinstance(law, Mixture):
        return Mixture(law.weights, [scaled(c, scale) for c in law.laws])
    if isinstance(law, Bounded):
        return Bounded(scaled(law.law, scale), scale * law.low, scale * law.high)
    if isinstance(law, SoftWarped):
        return SoftWarped(scaled(law.normal, scale), scale * law.knee, scale * law.tau)
    if isinstance(law, LogWarped):
        normal = Normal(law.normal.mean + math.log(scale), law.normal.std)
        return LogWarped(normal, scale * law.low)
    return Normal(scale * law.mean, scale * law.std)


@given(chances(), reals(-5.0, 5.0), magnitudes(-3, 0))
def test_the_chance_is_a_factor_of_improvement_and_cdf(law, level, step):
    inner, log_chance = law.law, law.log_chance[0]
    for answer in ("log_ei", "log_cdf", "log_density"):
        got, base = getattr(law, answer)(level), getattr(inner, answer)(level)
        got, base = (x.value if answer == "log_ei" else x for x in (got, base))
        assert got[0] == pytest.approx(base[0] + log_chance, rel=1e-14)
    between = law.log_ei_between(level, level + step).value[0]
    assert between == pytest.approx(
        inner.log_ei_between(level, level + step).value[0] + log_chance, rel=1e-14
    )
    total = math.exp(law.log_cdf(level)[0]) + math.exp(law.log_survival(level)[0])
    assert total == pytest.approx(1.0, abs=1e-12)


@given(chances(), magnitudes(-12, 2))
@example(Chance(SoftWarped(Normal(one(2.5), one(0.0)), 0.0, 0.1), one(-1.0)), 1.0)
def test_the_fair_value_of_a_chance_is_where_the_gain_is_the_price(law, price):
    fair = law.fair_value(price)
    assert not np.isnan(np.array([fair.value, *fair.slopes, fair.d_log_price])).any()
    level = fair.value[0]
    # What the rounding of the level and of the parameters, up to 5, moves log EI by; behind a
    # knee a warp makes much of the last bit of a parameter.
    steepest = max(float(np.abs(slope).max()) for slope in fair.slopes)
    rounding = 8.0 * (np.spacing(5.0 + abs(level)) + np.spacing(5.0) * steepest)
    moved = rounding / fair.d_log_price[0]
    assert law.log_ei(level).value[0] == pytest.approx(math.log(price), abs=1e-6 + moved)
    inner = law.law.fair_value(price).value[0]
    assert level >= inner - 1e-11 * (1.0 + abs(inner))  # a chance is worth less than certainty


@given(chances(), reals(-5.0, 5.0), magnitudes(-12, 2))
def test_worth_its_price_is_a_fair_value_below_the_level(law, level, price):
    """The equivalence on which the paper's Lemma rests."""
    gain, fair = law.log_ei(level).value[0], law.fair_value(price).value[0]
    if gain > math.log(price) + 1e-9:
        assert fair <= level + 1e-9 * (1.0 + abs(level))
    elif gain < math.log(price) - 1e-9:
        assert fair >= level - 1e-9 * (1.0 + abs(level))
