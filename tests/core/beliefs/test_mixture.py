# SPDX-License-Identifier: Apache-2.0
"""Mixtures, bounds and warped normals in the corners: no weight, certainty, jumps, overflow."""

import numpy as np
import pytest
from scipy import optimize, stats

from stopwise.core.beliefs.laws import (
    Bounded,
    LogWarped,
    Mixture,
    Normal,
    SoftWarped,
    _normal_stack,
)
from stopwise.errors import InputError

pytestmark = pytest.mark.usefixtures("no_warnings")


def normal(*pairs):
    return Normal(*np.array(pairs, dtype=float).T)


def same(one, other):
    np.testing.assert_array_equal(one.value, other.value)
    np.testing.assert_array_equal(one.slopes, other.slopes)


def test_a_mixture_of_one_answers_as_its_component():
    component = SoftWarped(normal((0.0, 1.0), (2.0, 0.5), (0.3, 0.0)), 0.2, 0.4)
    law = Mixture([3.0], [component])
    levels = np.array([-8.0, 1.0, 0.1])
    for ask in (
        lambda law: law.log_ei(levels),
        lambda law: law.log_ei_between(-1.0, levels),
        lambda law: law.cdf(levels),
        lambda law: law.z_score(levels),
        lambda law: law.quantile(-1.5),
        lambda law: law.fair_value(0.01),
    ):
        same(ask(law), ask(component))
    for ask in (
        lambda law: law.mean,
        lambda law: law.std,
        lambda law: law.median,
        lambda law: law.log_cdf(levels),
        lambda law: law.log_survival(levels),
        lambda law: law.log_density(levels),
    ):
        np.testing.assert_array_equal(ask(law), ask(component))


def test_the_deviation_of_a_mixture_of_one_is_not_squared():
    component = normal((0.0, 1e200), (1.0, 1e-200))
    np.testing.assert_array_equal(Mixture([1.0], [component]).std, component.std)


def test_a_mixture_of_mixtures_is_one_mixture():
    parts = [normal((mean, 0.5), (mean + 1.0, 2.0)) for mean in (0.0, 1.0, 4.0)]
    inner = Mixture([1.0, 3.0], parts[:2])
    nested = Mixture([0.5, 0.5], [inner, parts[2]])
    flat = Mixture([0.125, 0.375, 0.5], parts)
    assert len(nested.laws) == 3
    np.testing.assert_allclose(nested.weights, flat.weights, rtol=1e-15)
    np.testing.assert_array_equal(nested.parameters, flat.parameters)
    for ask in (lambda law: law.log_ei(0.5), lambda law: law.fair_value(0.1)):
        for one, other in zip(ask(nested), ask(flat), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("price", [1e-6, 0.03, 0.5, 5.0])
def test_fair_values_on_both_sides_of_a_knee_are_roots(price):
    """Levels up to the knees and beyond them are asked apart; together they are the same."""
    means = np.linspace(-2.0, 4.0, 25)
    laws = [
        Normal(means, np.full(25, 0.7)),
        SoftWarped(Normal(means - 0.2, np.full(25, 0.5)), 0.5, 0.3),
        SoftWarped(Normal(means + 0.1, np.full(25, 1.5)), 1.5, 0.1),
    ]
    law = Mixture([0.2, 0.5, 0.3], laws)
    fair = law.fair_value(price)
    np.testing.assert_allclose(law.log_ei(fair.value).value, np.log(price), rtol=1e-11, atol=1e-11)
    alone = [law.at(np.arange(25) == i).fair_value(price).value[0] for i in range(25)]
    np.testing.assert_allclose(fair.value, alone, rtol=1e-12)


def test_weights_are_scaled_and_checked():
    parts = [normal((0.0, 1.0)), normal((1.0, 1.0))]
    law = Mixture([2.0, 6.0], parts)
    assert law.weights.tolist() == [0.25, 0.75]
    assert not law.weights.flags.writeable
    for weights in ([1.0], [0.0, 0.0], [1.0, -1.0], [np.nan, 1.0], [np.inf, 1.0], [[1.0, 1.0]]):
        with pytest.raises(InputError, match="one for each, none of them negative"):
            Mixture(weights, parts)


def test_a_component_of_no_weight_does_not_matter():
    parts = [normal((0.0, 1.0), (1.0, 0.3)), normal((-50.0, 5.0), (2.0, 0.0))]
    law, alone = Mixture([1.0, 0.0], parts), parts[0]
    levels = np.array([-3.0, 0.5])
    for ask in (
        lambda law: law.log_ei(levels),
        lambda law: law.log_ei(np.inf),
        lambda law: law.cdf(levels),
        lambda law: law.z_score(levels),
        lambda law: law.quantile(-1.5),
        lambda law: law.fair_value(0.01),
    ):
        value, slopes = ask(law)[:2]
        wanted, of_wanted = ask(alone)[:2]
        np.testing.assert_allclose(value, wanted, rtol=1e-12)
        finite = np.isfinite(of_wanted)
        np.testing.assert_allclose(
            np.where(finite, slopes[:2], 0.0), np.where(finite, of_wanted, 0.0), rtol=1e-9
        )
        assert np.all(np.array(slopes[2:]) == 0.0)
    np.testing.assert_array_equal(law.fair_value(0.0).value, alone.fair_value(0.0).value)
    np.testing.assert_allclose(law.mean, alone.mean)
    np.testing.assert_allclose(law.std, alone.std)


def test_a_component_that_can_gain_nothing_does_not_matter_either():
    parts = [normal((0.0, 1.0)), normal((1.0, 0.0)), LogWarped(normal((0.0, 1.0)), 0.5)]
    law = Mixture([0.5, 0.2, 0.3], parts)
    value, slopes = law.log_ei(-2.0)
    assert value[0] == pytest.approx(np.log(0.5) + parts[0].log_ei(-2.0).value[0], rel=1e-14)
    assert [float(slope[0]) for slope in slopes[2:]] == [0.0] * 4
    empty = Mixture([0.5, 0.5], parts[1:])
    value, slopes = empty.log_ei(0.2)
    assert value[0] == -np.inf
    assert np.all(np.array(slopes) == 0.0)
    assert empty.z_score(0.2).value[0] == -np.inf
    assert np.all(np.array(empty.z_score(0.2).slopes) == 0.0)


def test_the_z_score_is_precise_in_both_tails():
    parts = [normal((0.0, 1.0)), normal((1.0, 2.0))]
    law = Mixture([0.5, 0.5], parts)
    for level in (-60.0, 62.0):
        z = law.z_score(level).value[0]
        tail = stats.norm.logcdf(-abs(z))
        wanted = np.logaddexp(
            stats.norm.logcdf(-abs(level)), stats.norm.logcdf(-abs((level - 1.0) / 2.0))
        ) + np.log(0.5)
        assert tail == pytest.approx(wanted, rel=1e-12)
        assert np.sign(z) == np.sign(level)


def test_a_quantile_at_a_jump_is_the_jump():
    parts = [normal((0.0, 1.0)), normal((0.4, 0.0))]
    law = Mixture([0.5, 0.5], parts)
    value, slopes = law.quantile(0.0)
    assert value[0] == 0.4
    assert [float(slope[0]) for slope in slopes] == [0.0, 0.0, 1.0, 0.0]
    bounded = Mixture([0.5, 0.5], [Bounded(normal((0.0, 1.0)), 0.0), normal((0.5, 1.0))])
    value, slopes = bounded.quantile(-0.6)
    assert value[0] == 0.0
    assert [float(slope[0]) for slope in slopes] == [0.0] * 4


@pytest.mark.parametrize(("low", "high"), [(0.0, np.inf), (-np.inf, 0.9), (0.0, 0.9)])
def test_a_quantile_of_laws_that_are_clipped_alike_is_the_inverse_of_their_cdf(low, high):
    inside = [normal((0.1, 0.3)), SoftWarped(normal((0.4, 0.5)), 0.3, 0.2), normal((0.7, 0.1))]
    weights = np.array([0.5, 0.3, 0.2])
    law = Mixture(weights, [Bounded(each, low, high) for each in inside])

    def cdf(level):
        return sum(w * each.cdf(level).value[0] for w, each in zip(weights, inside, strict=True))

    for z in (-3.0, -1.0, -0.2, 0.0, 0.4, 1.0, 2.5):
        p = stats.norm.cdf(z)
        root = optimize.brentq(lambda v, p=p: cdf(v) - p, -9.0, 1e9, xtol=1e-14)
        value, slopes = law.quantile(z)
        assert value[0] == pytest.approx(np.clip(root, low, high), rel=1e-9, abs=1e-12)
        searched = law._searched_quantile(z)
        np.testing.assert_allclose(value, searched.value, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(slopes, searched.slopes, rtol=1e-6, atol=1e-9)
        assert low < root < high or np.all(np.array(slopes) == 0.0)


@pytest.mark.parametrize(("low", "high"), [(0.0, np.inf), (-np.inf, 0.9), (0.0, 0.9)])
@pytest.mark.parametrize("price", [1e-9, 1e-3, 0.02, 0.3, 2.0])
def test_a_fair_value_of_laws_that_are_clipped_alike_is_the_root_of_their_ei(low, high, price):
    inside = [normal((0.1, 0.3)), SoftWarped(normal((0.4, 0.5)), 0.3, 0.2), normal((0.7, 0.1))]
    law = Mixture([0.5, 0.3, 0.2], [Bounded(each, low, high) for each in inside])
    fair, searched = law.fair_value(price), law._searched_fair_value(price)
    assert law.log_ei(fair.value).value[0] == pytest.approx(np.log(price), abs=1e-11)
    np.testing.assert_allclose(fair.value, searched.value, rtol=1e-11)
    np.testing.assert_allclose(fair.slopes, searched.slopes, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fair.d_log_price, searched.d_log_price, rtol=1e-9)


def test_a_quantile_of_laws_that_are_clipped_differently_is_searched_for():
    both = [normal((0.0, 1.0)), normal((0.5, 1.0))]
    for lows in ((0.0, 0.1), (np.zeros(1), np.zeros(1))):
        law = Mixture([0.5, 0.5], [Bounded(b, low) for b, low in zip(both, lows, strict=True)])
        same(law.quantile(0.7), law._searched_quantile(0.7))


def test_a_quantile_between_very_different_components():
    far = SoftWarped(normal((2.0, 1.0)), 0.0, 0.01)
    law = Mixture([0.5, 0.5], [normal((0.0, 1.0)), far])
    assert np.isfinite(law.quantile(1.0).value[0])
    assert law.z_score(law.quantile(1.0).value).value[0] == pytest.approx(1.0, rel=1e-9)
    overflows = SoftWarped(normal((2.0, 1.0)), 0.0, 1e-3)
    law = Mixture([0.9, 0.1], [normal((0.0, 1.0)), overflows])
    value, slopes = law.quantile(1.0)
    assert overflows.quantile(1.0).value[0] == np.inf
    assert law.z_score(value).value[0] == pytest.approx(1.0, rel=1e-9)
    assert not np.isnan(np.array(slopes)).any()


def test_fair_values_of_mixtures_that_are_not_log_concave():
    """Newton's method on log EI fails for some of these; ours must find all of them."""
    rng = np.random.default_rng(7)
    n = 2000
    parts = [Normal(rng.normal(0.0, 3.0, n), 10.0 ** rng.uniform(-4, 1, n)) for _ in range(3)]
    for weights in ([0.5, 0.3, 0.2], [1.0, 1e-4, 1e-9]):
        law = Mixture(weights, parts)
        for price in (1e-12, 1e-4, 0.1, 10.0):
            fair = law.fair_value(price).value
            spacing = 4.0 * np.spacing(np.abs(fair)) * np.exp(law.log_cdf(fair)) / price
            error = np.abs(np.expm1(law.log_ei(fair).value - np.log(price)))
            assert np.all(error <= 1e-11 + spacing)


def test_moments_overflow_to_infinity():
    law = SoftWarped(normal((3.0, 1.0), (-1.0, 0.01)), 0.0, 1e-3)
    assert law.mean[0] == law.std[0] == np.inf
    assert law.mean[1] == pytest.approx(-1.0)
    assert law.std[1] == pytest.approx(0.01)
    heavy = LogWarped(normal((0.0, 40.0), (0.0, 0.0)), 0.5)
    assert heavy.mean.tolist() == [np.inf, 1.5]
    assert heavy.std.tolist() == [np.inf, 0.0]
    mixture = Mixture([0.5, 0.5], [law, heavy])
    assert mixture.mean[0] == mixture.std[0] == np.inf
    assert Bounded(law, -2.0).std[0] == np.inf
    assert Bounded(law, -2.0).mean[0] == np.inf
    assert np.isfinite(Bounded(law, -2.0, 9.0).std).all()


@pytest.mark.parametrize("ratio", [1e-6, 0.9e-4, 1.1e-4, 1e-2, 0.5, 2.0])
@pytest.mark.parametrize("place", [-3.0, 0.0, 2.0])
def test_moments_of_a_soft_warped_normal(ratio, place):
    tau = 0.5
    std = ratio * tau
    law = SoftWarped(normal((1.0 + place * tau, std)), 1.0, tau)
    z, weights = np.polynomial.legendre.leggauss(400)
    knee = np.clip(-place / ratio, -12.0, 12.0 + 2 * ratio)
    first = second = 0.0
    for low, high in ((-14.0, knee), (knee, 14.0 + 4 * ratio)):
        u = 0.5 * (low + high + (high - low) * z)
        density = 0.5 * (high - low) * weights * stats.norm.pdf(u)
        gap = (place * tau + std * u) / tau
        values = tau * np.where(gap > 0.0, np.expm1(gap), gap)
        centre = tau * (np.expm1(place) if place > 0 else place)
        first += density @ (values - centre)
        second += density @ (values - centre) ** 2
    assert law.mean[0] - 1.0 - centre == pytest.approx(first, rel=1e-7, abs=1e-13)
    assert law.std[0] == pytest.approx(np.sqrt(second - first**2), rel=1e-7)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (-1.0, 1.0),
        (2.0, 5.0),
        (-5.0, -2.0),
        (8.0, np.inf),
        (-np.inf, 0.5),
        (-np.inf, -30.0),
        (-np.inf, np.inf),
    ],
)
def test_moments_of_a_bounded_normal(low, high):
    law = Bounded(normal((0.1, 0.9), (0.1, 0.0)), low, high)
    u = np.linspace(-12.0, 12.0, 200_001)
    weights = stats.norm.pdf(u) * (u[1] - u[0])
    values = np.clip(0.1 + 0.9 * u, low, high)
    centre = np.clip(0.1, low, high)
    first, second = weights @ (values - centre), weights @ (values - centre) ** 2
    assert law.mean[0] - centre == pytest.approx(first, rel=1e-6, abs=1e-12)
    assert law.std[0] == pytest.approx(np.sqrt(second - first**2), rel=1e-6, abs=1e-100)
    assert law.std[1] == 0.0
    assert law.mean[1] == pytest.approx(centre, rel=1e-15)


def test_bounds_are_checked_and_mass_is_at_them():
    for low, high in ((1.0, 1.0), (2.0, 1.0), (np.nan, 1.0)):
        with pytest.raises(InputError, match="lower one that is below"):
            Bounded(normal((0.0, 1.0)), low, high)
    law = Bounded(normal((0.0, 1.0)), -1.0, 2.0)
    levels = [-1.1, -1.0, 1.999, 2.0]
    assert [law.cdf(y).value[0] for y in levels] == pytest.approx(
        [0.0, stats.norm.cdf(-1.0), stats.norm.cdf(1.999), 1.0]
    )
    assert [law.z_score(y).value[0] for y in levels] == pytest.approx(
        [-np.inf, -1.0, 1.999, np.inf]
    )
    assert law.log_density(-1.1)[0] == law.log_density(2.1)[0] == -np.inf
    assert np.exp(law.log_density(2.0)[0]) == pytest.approx(stats.norm.pdf(2.0))


def test_what_a_bound_does_to_the_price_of_a_point():
    """LightGBM's case: an error of 0.02 cannot fall by 3, whatever the deviation."""
    wide = normal((2.0, 5.0))
    law = Bounded(wide, 0.0)
    assert np.exp(law.log_ei(0.02).value[0]) < 0.02
    assert np.exp(wide.log_ei(0.02).value[0]) > 1.0
    fair = law.fair_value(1e-10).value[0]
    assert fair == pytest.approx(1e-10 / stats.norm.cdf(-0.4), rel=1e-6)
    np.testing.assert_array_equal(
        Bounded(wide, -np.inf, 99.0).fair_value(0.1).value, wide.fair_value(0.1).value
    )
    beyond = law.fair_value(50.0)
    assert beyond.value[0] == pytest.approx(50.0 + law.mean[0], rel=1e-9)
    capped = Bounded(wide, 0.0, 3.0)
    assert capped.fair_value(5.0).value[0] == pytest.approx(5.0 + capped.mean[0], rel=1e-12)


def test_values_beyond_the_knee_are_known_as_they_are():
    law = SoftWarped(normal((0.0, 1.0), (0.0, 1.0), (0.0, 1.0)), 0.5, 0.1)
    known = law.known_at(np.array([0, 1, 2]), np.array([0.5, 3.0, 80.0]))
    assert known.median == pytest.approx([0.5, 3.0, 80.0], rel=1e-13)
    assert known.mean == pytest.approx([0.5, 3.0, 80.0], rel=1e-12)
    assert known.fair_value(0.25).value == pytest.approx([0.75, 3.25, 80.25], rel=1e-12)
    assert np.exp(known.log_ei(100.0).value) == pytest.approx([99.5, 97.0, 20.0], rel=1e-12)


def test_a_quantile_that_takes_too_many_steps_is_searched_for_elsewhere(monkeypatch):
    law = Mixture(
        np.array([0.5, 0.5]), [Normal(np.zeros(1), np.ones(1)), Normal(np.ones(1), np.ones(1))]
    )
    wanted = law.quantile(-1.0).value
    monkeypatch.setattr(_normal_stack, "_MOST_STEPS", 1)
    np.testing.assert_allclose(law.quantile(-1.0).value, wanted, rtol=1e-12)


def test_a_price_far_beyond_the_warp_has_a_finite_fair_value():
    soft = SoftWarped(normal((0.0, 1.0)), 0.0, 1.0)
    for weights in ([0.5, 0.5], [0.0, 1.0]):
        law = Mixture(np.array(weights), [normal((0.0, 1.0)), soft])
        value = law.fair_value(2000.0).value
        assert np.exp(law.log_ei(value).value) == pytest.approx([2000.0], rel=1e-9)
