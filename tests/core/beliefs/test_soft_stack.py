# SPDX-License-Identifier: Apache-2.0
"""Fair values of mixtures of softly warped normals, beyond the knees and beside certain values."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad

from stopwise.core.beliefs.laws import Bounded, LogWarped, Mixture, Normal, SoftWarped
from stopwise.core.beliefs.laws._components import Components
from stopwise.core.beliefs.laws._log_sum import mixed
from stopwise.core.beliefs.laws._normal_stack import NormalStack
from stopwise.core.numerics import normal_mixture

WEIGHTS = np.array([0.3, 0.4, 0.3])


def drawn(seed, points=40):
    """Three components, as the default model has them, and prices."""
    rng = np.random.default_rng(seed)

    def normal():
        return Normal(rng.normal(0.0, 3.0, points), np.exp(rng.normal(0.0, 1.5, points)))

    mild = SoftWarped(normal(), rng.normal(), np.exp(rng.normal()))
    strong = SoftWarped(normal(), rng.normal(), np.exp(rng.normal(-1.0)))
    return Mixture(WEIGHTS, [normal(), mild, strong]), np.exp(rng.normal(-1.0, 3.0, points))


def ei(law, level):
    """The integral of the cdf, the definition."""
    below = float(law.quantile(-9.0).value[0])
    knees = [part.knee for part in law.laws if isinstance(part, SoftWarped)]
    inside = sorted({below, *(k for k in knees if below < k < level), level})
    parts = itertools.pairwise(inside)
    return sum(quad(lambda u: float(law.cdf(u).value[0]), *ends, epsabs=0.0)[0] for ends in parts)


@pytest.mark.parametrize("seed", range(4))
def test_the_improvement_below_a_fair_value_is_the_price(seed):
    law, price = drawn(seed, points=3)
    fair = law.fair_value(price).value
    assert np.any(fair > min(part.knee for part in law.laws[1:]))
    for i in range(3):
        one = law.at(np.arange(3) == i)
        np.testing.assert_allclose(ei(one, fair[i]), price[i], rtol=1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_components_together_answer_as_those_one_by_one(seed):
    law, price = drawn(seed)
    together, alone = law.fair_value(price), law._searched_fair_value(price)
    np.testing.assert_allclose(together.value, alone.value, rtol=1e-11, atol=1e-11)
    for a, b in zip(together.slopes, alone.slopes, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(together.d_log_price, alone.d_log_price, rtol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_improvements_on_either_side_of_the_knees_are_those_of_the_components(seed):
    law, _ = drawn(seed)
    level = np.random.default_rng(seed).normal(0.0, 4.0, 40)
    assert np.any(level > law.laws[1].knee)
    for levels in (level, float(level.max())):
        together, parts = law.log_ei(levels), [part.log_ei(levels) for part in law.laws]
        apart = mixed(law.weights, parts)
        np.testing.assert_allclose(together.value, apart.value, rtol=1e-12, atol=1e-12)
        for a, b in zip(together.slopes, apart.slopes, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    one = law.at(np.arange(40) == 5)
    assert np.exp(one.log_ei(level[5:6]).value) == pytest.approx(ei(one, level[5]), rel=1e-7)


@pytest.mark.parametrize("low", [-np.inf, -1.0])
def test_many_laws_of_one_kind_answer_together_as_each_of_them(low):
    rng = np.random.default_rng(3)

    def normal():
        return Normal(rng.normal(0.0, 2.0, 30), np.exp(rng.normal(0.0, 1.0, 30)))

    soft = [SoftWarped(normal(), rng.normal(), np.exp(rng.normal())) for _ in range(5)]
    plain = [Bounded(normal(), low + rng.normal(), 2.0 + rng.random()) for _ in range(4)]
    both = [Bounded(part, low + rng.normal(), 3.0 + rng.random()) for part in soft[:4]]
    other = [LogWarped(normal(), -8.0), Bounded(LogWarped(normal(), -8.0), -7.0)]
    laws, level, price = [*soft, *plain, *both, *other], rng.normal(0.0, 3.0, 30), 0.1
    together = Components.of(np.full(15, 1 / 15), laws)
    assert len(together.groups) == 5
    for ask in (
        lambda law, _: law.log_ei(level),
        lambda law, _: law.log_ei_between(-0.5, level),
        lambda law, _: law.z_score(level),
        lambda law, _: law.quantile(-0.3),
        lambda law, w: law.fair_value(price / w),
    ):
        for law, answer in zip(laws, together.with_slopes(ask), strict=True):
            alone = ask(law, 1 / 15)
            np.testing.assert_allclose(answer.value, alone.value, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(answer.slopes, alone.slopes, rtol=1e-9, atol=1e-12)
    mixture = Mixture(np.ones(15), laws)
    fair = mixture.fair_value(price)
    np.testing.assert_allclose(np.exp(mixture.log_ei(fair.value).value), price, rtol=1e-10)


def test_improvements_that_no_number_holds_are_those_of_the_components():
    law, _ = drawn(2)
    assert np.all(law.log_ei(-1e200).value == -np.inf)
    assert np.all(law.log_ei(np.inf).value == np.inf)


def test_slopes_beyond_the_knees_are_derivatives():
    law, price = drawn(3)
    slopes = law.fair_value(price).slopes
    for number, slope in enumerate(slopes):

        def moved(by, number=number):
            laws = []
            for i, part in enumerate(law.laws):
                normal = part.normal if isinstance(part, SoftWarped) else part
                mean, std = normal
                change = np.array([2 * i, 2 * i + 1]) == number
                changed = Normal(mean + by * change[0], std + by * change[1])
                soft = isinstance(part, SoftWarped)
                laws.append(SoftWarped(changed, part.knee, part.tau) if soft else changed)
            return Mixture(WEIGHTS, laws).fair_value(price).value

        step = 1e-5
        np.testing.assert_allclose(
            (moved(step) - moved(-step)) / (2 * step), slope, rtol=2e-3, atol=2e-5
        )


def test_values_that_are_certain_do_not_keep_the_others_from_being_asked_together(monkeypatch):
    law, price = drawn(5)
    rows = np.array([3, 17])
    known = law.known_at(rows, np.array([0.2, -1.0]))
    searched = []
    search = Mixture._searched_fair_value
    monkeypatch.setattr(
        Mixture,
        "_searched_fair_value",
        lambda self, price: searched.append(len(price)) or search(self, price),
    )
    fair = known.fair_value(price)
    assert searched == [2]
    others = np.setdiff1d(np.arange(40), rows)
    np.testing.assert_array_equal(
        fair.value[others], law.at(~np.isin(np.arange(40), rows)).fair_value(price[others]).value
    )
    np.testing.assert_allclose(fair.value[rows], np.array([0.2, -1.0]) + price[rows], rtol=1e-12)


def test_where_all_is_certain_nothing_is_asked_together():
    law, price = drawn(6)
    rows = np.arange(40)
    known = law.known_at(rows, np.zeros(40))
    assert NormalStack.of(known.weights, known.laws) is None
    np.testing.assert_allclose(known.fair_value(price).value, price, rtol=1e-12)


def test_points_that_are_done_are_left_behind():
    law, price = drawn(7, points=400)
    together = law.fair_value(price).value
    alone = [
        law.at(np.arange(400) == i).fair_value(price[i : i + 1]).value[0]
        for i in range(0, 400, 40)
    ]
    np.testing.assert_allclose(together[::40], alone, rtol=1e-12, atol=1e-12)


def test_below_all_knees_the_components_are_normals():
    law, _ = drawn(8)
    stack = NormalStack.of(law.weights, law.laws)
    level = np.full(40, min(part.knee for part in law.laws[1:]) - 0.5)
    soft = stack._soft(np.ones(40, dtype=bool)).improvement(level)
    plain = normal_mixture.improvement(law.weights, stack.mean, stack.std, level)
    for a, b in zip(soft, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
