# SPDX-License-Identifier: Apache-2.0
"""Laws: every answer against an integral of the cdf, and slopes against differences.

``LAWS`` has a maker of each law from its parameters, those that warps make of a normal included;
what is asked of one is asked of all. Their accuracy far in the tails is in test_laws_oracle.py.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from stopwise.core.beliefs import WARPS
from stopwise.core.beliefs.laws import (
    Bounded,
    Chance,
    Doubted,
    LogWarped,
    Mixture,
    Normal,
    Shifted,
    SoftWarped,
    _roots,
)
from stopwise.core.numerics import normal_mixture
from stopwise.errors import InputError

pytestmark = pytest.mark.usefixtures("no_warnings")

MEANS, DEVIATIONS = np.array([0.3, -0.5, 0.7]), np.array([0.5, 0.6, 0.1])
NORMAL = (MEANS, DEVIATIONS)
TWO = (*NORMAL, np.array([0.1, 0.4, 1.0]), np.array([0.2, 0.5, 0.4]))
ARGUMENTS = {
    "identity": (),
    "soft": (0.4, 0.3),
    "log": (-2.0,),
    "clipped": (-99.0, 99.0),
}  # of the warps


def warped(name):
    return lambda mean, std: WARPS[name](*ARGUMENTS[name]).law(Normal(mean, std))


def clipped(mean, std):
    return Bounded(Normal(mean, std), -0.1, 0.7)


def mixed(m1, s1, m2, s2):
    return Mixture(np.array([0.3, 0.7]), [Normal(m1, s1), Normal(m2, s2)])


def mixed_warps(m1, s1, m2, s2):
    first, second = LogWarped(Normal(m1, s1), -2.0), SoftWarped(Normal(m2, s2), 0.4, 0.3)
    return Mixture(np.array([0.3, 0.7]), [first, second])


# name -> (maker, parameters); CONTINUOUS have no mass at a point
CONTINUOUS = {
    "normal": (Normal, NORMAL),
    **{f"normal, warped by {name}": (warped(name), NORMAL) for name in WARPS},
    "bounded, far away": (lambda *p: Bounded(Normal(*p), -99.0, 99.0), NORMAL),
    "shifted": (lambda *p: Shifted(SoftWarped(Normal(*p), 0.5, 0.3), -0.1), NORMAL),
    "mixture": (mixed, TWO),
    "mixture of one": (lambda *p: Mixture(np.ones(1), [Normal(*p)]), NORMAL),
    "mixture of warped": (mixed_warps, TWO),
}
LAWS = {
    **CONTINUOUS,
    "bounded": (clipped, NORMAL),
    "bounded log": (lambda *p: Bounded(LogWarped(Normal(*p), -1.5), 0.0, 1.2), NORMAL),
    "bounded soft": (lambda *p: Bounded(SoftWarped(Normal(*p), 0.4, 0.3), 0.0), NORMAL),
    "bounded mixture": (lambda *p: Bounded(mixed(*p), -0.1, 0.8), TWO),
    "mixture of bounded": (
        lambda m1, s1, m2, s2: Mixture(np.ones(2), [clipped(m1, s1), clipped(m2, s2)]),
        TWO,
    ),
    "doubted": (lambda *p: Doubted(Normal(*p), 0.4, 0.3), NORMAL),
    "doubted mixture": (lambda *p: Doubted(mixed_warps(*p), 0.05, 0.6), TWO),
    "bounded twice": (lambda *p: Bounded(clipped(*p), 0.05, 2.0), NORMAL),
}
LOG_CHANCES = (np.log([0.9, 0.3, 0.6]),)
NOT_CERTAIN = {  # mass at infinity
    "chance": (lambda *p: Chance(Normal(*p[:-1]), p[-1]), (*NORMAL, *LOG_CHANCES)),
    "chance of bounded": (lambda *p: Chance(clipped(*p[:-1]), p[-1]), (*NORMAL, *LOG_CHANCES)),
    "chance of a mixture": (
        lambda *p: Chance(mixed_warps(*p[:-1]), p[-1]), (*TWO, *LOG_CHANCES)
    ),
    "chance of doubted": (
        lambda *p: Chance(Doubted(mixed(*p[:-1]), 0.4, 0.3), p[-1]), (*TWO, *LOG_CHANCES)
    ),
}  # fmt: skip
ALL = {**LAWS, **NOT_CERTAIN}
EACH = pytest.mark.parametrize(("make", "parameters"), ALL.values(), ids=list(ALL))
EACH_CERTAIN = pytest.mark.parametrize(("make", "parameters"), LAWS.values(), ids=list(LAWS))
EACH_NOT_CERTAIN = pytest.mark.parametrize(
    ("make", "parameters"), NOT_CERTAIN.values(), ids=list(NOT_CERTAIN)
)
EACH_CONTINUOUS = pytest.mark.parametrize(
    ("make", "parameters"), CONTINUOUS.values(), ids=list(CONTINUOUS)
)


LEVELS = np.array([0.0, 0.5, 0.9])
PRICE = np.array([0.05, 0.3, 0.4])
KINKS = [-0.1, 0.0, 0.05, 0.4, 0.7, 0.8, 1.2]  # knees and bounds of the laws above
HERE = np.arange(3)


def integral(function, low, high):
    """By Gauss-Legendre between kinks, in pieces."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    total = 0.0
    for left, right in itertools.pairwise(sorted({low, high, *np.clip(KINKS, low, high)})):
        edges = np.linspace(left, right, 11)
        for a, b in itertools.pairwise(edges):
            total += (
                0.5 * (b - a) * weights @ [function(0.5 * (a + b + (b - a) * u)) for u in nodes]
            )
    return total


def slopes_by_differences(answer, make, parameters, step=1e-6):
    slopes = []
    for i, parameter in enumerate(parameters):
        above, below = (
            answer(make(*(p if j != i else parameter + s for j, p in enumerate(parameters))))
            for s in (step, -step)
        )
        same = above == below  # infinite, both
        slopes.append((np.where(same, 0.0, above) - np.where(same, 0.0, below)) / (2 * step))
    return slopes


@EACH
def test_parameters_make_the_law_again(make, parameters):
    for one, other in zip(make(*parameters).parameters, parameters, strict=True):
        np.testing.assert_array_equal(one, other)


@EACH
def test_expected_improvement_is_the_integral_of_the_cdf(make, parameters):
    law = make(*parameters)
    gain, between = law.log_ei(LEVELS).value, law.log_ei_between(LEVELS - 0.2, LEVELS).value
    for i, level in enumerate(LEVELS):
        one = law.at(i == HERE)
        low = min(float(one.quantile(-9.0).value[0]), level)
        for found, start in ((gain, low), (between, level - 0.2)):
            wanted = integral(lambda y, one=one: one.cdf(y).value[0], start, level)
            assert np.exp(found[i]) == pytest.approx(wanted, rel=1e-9, abs=1e-15)


@EACH
def test_the_improvement_from_minus_infinity_is_the_improvement(make, parameters):
    law = make(*parameters)
    (value, slopes), (wanted, of_wanted) = law.log_ei_between(-np.inf, LEVELS), law.log_ei(LEVELS)
    np.testing.assert_array_equal(value, wanted)
    np.testing.assert_array_equal(slopes, of_wanted)
    part = law.log_ei_between(np.array([-np.inf, 0.1, 0.9]), LEVELS)
    assert part.value[0] == pytest.approx(wanted[0], rel=1e-14)
    assert part.value[2] == -np.inf
    assert [float(slope[2]) for slope in part.slopes] == [0.0] * len(parameters)


@EACH
def test_the_cdf_its_logarithms_and_the_density_agree(make, parameters):
    law = make(*parameters)
    for level in (-3.0, -0.05, 0.2, 0.3, 0.55, 2.5):
        cdf = law.cdf(level).value
        np.testing.assert_allclose(np.exp(law.log_cdf(level)), cdf, rtol=1e-12)
        np.testing.assert_allclose(np.exp(law.log_survival(level)), 1.0 - cdf, atol=1e-13)
        rise = (law.cdf(level + 1e-6).value - law.cdf(level - 1e-6).value) / 2e-6
        np.testing.assert_allclose(np.exp(law.log_density(level)), rise, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(stats.norm.cdf(law.z_score(level).value), cdf, atol=1e-13)


@EACH_CONTINUOUS
def test_quantiles_and_z_scores_invert_each_other_and_the_cdf(make, parameters):
    law = make(*parameters)
    for z in (-3.0, -0.5, 0.0, 2.0):
        value = law.quantile(z).value
        np.testing.assert_allclose(law.z_score(value).value, z, atol=1e-9)
        np.testing.assert_allclose(law.cdf(value).value, stats.norm.cdf(z), atol=1e-12)


@EACH_CERTAIN
def test_a_quantile_is_the_least_value_of_that_probability(make, parameters):
    law = make(*parameters)
    for z in (-6.0, -1.0, 0.3, 1.7, 6.0):
        value = law.quantile(z).value
        p = stats.norm.cdf(z)
        assert np.all(law.cdf(value + 1e-9).value >= p)
        assert np.all(law.cdf(value - 1e-9).value <= p)
    np.testing.assert_array_equal(law.median, law.quantile(0.0).value)


@EACH
def test_improvement_over_the_fair_value_is_the_price(make, parameters):
    law = make(*parameters)
    fair = law.fair_value(PRICE)
    np.testing.assert_allclose(law.log_ei(fair.value).value, np.log(PRICE), atol=1e-12)
    step = 1e-6
    rise = [law.fair_value(PRICE * math.exp(s)).value for s in (step, -step)]
    np.testing.assert_allclose(fair.d_log_price, (rise[0] - rise[1]) / (2 * step), rtol=1e-6)


@EACH
@pytest.mark.parametrize(
    "answer",
    [
        lambda law: law.log_ei(LEVELS),
        lambda law: law.log_ei_between(LEVELS - 0.2, LEVELS),
        lambda law: law.log_ei_between(LEVELS - 0.001, LEVELS),
        lambda law: law.cdf(LEVELS),
        lambda law: law.quantile(-0.7),
        lambda law: law.quantile(0.4),
        lambda law: law.fair_value(PRICE),
        lambda law: law.fair_value(1e-3 * PRICE),
        lambda law: law.fair_value(2.0 * PRICE),
    ],
    ids=[
        "log_ei",
        "between",
        "nearly between",
        "cdf",
        "quantile",
        "upper quantile",
        "fair value",
        "cheap fair value",
        "dear fair value",
    ],
)
def test_slopes_are_those_of_differences(make, parameters, answer):
    found = answer(make(*parameters)).slopes
    wanted = slopes_by_differences(lambda law: answer(law).value, make, parameters)
    assert len(found) == len(parameters)
    for slope, rise in zip(found, wanted, strict=True):
        np.testing.assert_allclose(slope, rise, rtol=1e-5, atol=1e-8)


SMOOTH = [*CONTINUOUS, "chance", "chance of a mixture", "doubted", "doubted mixture"]


@pytest.mark.parametrize("name", SMOOTH)  # below and above the level of doubt, not at it
def test_slopes_of_z_scores_are_those_of_differences(name):
    make, parameters = {**LAWS, **NOT_CERTAIN}[name]
    for level in (LEVELS, np.full(3, 2.5), np.full(3, -1.0)):
        found = make(*parameters).z_score(level).slopes
        wanted = slopes_by_differences(
            lambda law, level=level: law.z_score(level).value, make, parameters
        )
        for slope, rise in zip(found, wanted, strict=True):
            np.testing.assert_allclose(slope, rise, rtol=1e-5, atol=1e-8)


def test_beyond_its_bounds_a_law_is_certain_and_leans_on_nothing():
    law = clipped(*NORMAL)  # from -0.1 to 0.7
    for level, below in ((-0.2, True), (0.7, False), (0.9, False)):
        np.testing.assert_array_equal(law.z_score(level).value, -np.inf if below else np.inf)
        np.testing.assert_array_equal(law.cdf(level).value, 0.0 if below else 1.0)
        np.testing.assert_array_equal(law.log_cdf(level), -np.inf if below else 0.0)
        np.testing.assert_array_equal(law.log_survival(level), 0.0 if below else -np.inf)
        for answer in (law.z_score(level), law.cdf(level)):
            np.testing.assert_array_equal(answer.slopes, np.zeros((2, 3)))
    for level in (-0.2, 0.9):
        np.testing.assert_array_equal(law.log_density(level), -np.inf)


@EACH_CERTAIN
def test_mean_and_deviation_are_those_of_quantiles(make, parameters):
    law = make(*parameters)
    z = np.arange(-160, 161) / 20.0
    weights = stats.norm.pdf(z) / 20.0
    values = np.array([law.quantile(float(one)).value for one in z])
    mean = weights @ values
    np.testing.assert_allclose(law.mean, mean, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(law.std, np.sqrt(weights @ (values - mean) ** 2), rtol=1e-2)


@EACH_NOT_CERTAIN
def test_quantiles_above_the_chance_are_infinite(make, parameters):
    law, chances = make(*parameters), np.exp(parameters[-1])
    for z in (-6.0, -1.0, 0.0, 0.3, 1.7, 9.0):
        value, p = law.quantile(z).value, stats.norm.cdf(z)
        np.testing.assert_array_equal(np.isinf(value), p > chances)
        inside = np.isfinite(value)
        assert np.all(law.cdf(value + 1e-9).value[inside] >= p)
        assert np.all(law.cdf(value - 1e-9).value[inside] <= p)
        assert not np.isnan(np.array(law.quantile(z).slopes)).any()
    np.testing.assert_array_equal(law.median, law.quantile(0.0).value)
    assert np.isposinf([law.mean, law.std]).all()


@EACH_CERTAIN
def test_with_certainty_a_chance_changes_nothing(make, parameters):
    law = make(*parameters)
    sure = Chance(law, np.zeros(3))
    for of in (sure, sure.known_at(np.array([1]), np.array([0.45])).at(np.array([1, 0, 1]) > 0)):
        assert np.isfinite(of.mean).all()
    for answer in (
        lambda law: law.log_ei(LEVELS),
        lambda law: law.quantile(0.7),
        lambda law: law.fair_value(PRICE),
        lambda law: law.cdf(LEVELS),
    ):
        got, wanted = answer(sure), answer(law)
        np.testing.assert_array_equal(got.value, wanted.value)
        np.testing.assert_array_equal(got.slopes[:-1], wanted.slopes)
    np.testing.assert_array_equal([sure.mean, sure.std], [law.mean, law.std])


@EACH
def test_some_points_are_answered_as_among_all(make, parameters):
    law, where = make(*parameters), np.array([True, False, True])
    few = law.at(where)
    for one, other in zip(few.parameters, parameters, strict=True):
        np.testing.assert_array_equal(one, other[where])
    np.testing.assert_allclose(
        few.log_ei(0.5).value, law.log_ei(0.5).value[where], rtol=1e-14, atol=1e-15
    )


@EACH
def test_what_is_known_is_certain_and_the_rest_stays(make, parameters):
    law = make(*parameters)
    before = [np.array(p) for p in law.parameters]
    known = law.known_at(np.array([1]), np.array([0.45]))
    assert known.mean[1] == pytest.approx(0.45, abs=1e-12)
    assert known.median[1] == pytest.approx(0.45, abs=1e-12)
    assert known.quantile(-3.0).value[1] == pytest.approx(0.45, abs=1e-12)
    assert known.std[1] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(np.exp(known.log_ei(1.0).value[1]), 0.55, rtol=1e-9)
    assert known.log_ei(0.2).value[1] == -np.inf
    assert [known.cdf(y).value[1] for y in (0.4499, 0.4501)] == [0.0, 1.0]
    for logs, certain in ((known.log_cdf, 0.4501), (known.log_survival, 0.4499)):
        assert logs(certain)[1] == pytest.approx(0.0, abs=1e-15)
        assert logs(0.9 - certain)[1] == -np.inf
    assert known.log_density(0.4499)[1] == -np.inf
    fair = known.fair_value(np.array([0.1, 0.2, 0.3]))
    assert fair.value[1] == pytest.approx(0.65, abs=1e-12)
    assert fair.d_log_price[1] == pytest.approx(0.2, rel=1e-9)
    assert np.isfinite(np.array(fair.slopes)).all()
    np.testing.assert_array_equal(known.mean[[0, 2]], law.mean[[0, 2]])
    for one, other in zip(law.parameters, before, strict=True):
        np.testing.assert_array_equal(one, other)  # it is a new law


@EACH
def test_quantiles_at_a_z_score_of_each_point_are_those_of_one(make, parameters):
    law, z = make(*parameters), np.array([-2.0, 0.3, 1.1])
    value, slopes = law.quantile(z)
    for i, one in enumerate(z.tolist()):
        wanted = law.quantile(one)
        np.testing.assert_allclose(value[i], wanted.value[i], rtol=1e-12)
        for slope, other in zip(slopes, wanted.slopes, strict=True):
            np.testing.assert_allclose(slope[i], other[i], rtol=1e-9, atol=1e-12)


@EACH
def test_far_levels_and_extreme_prices_give_no_nan(make, parameters):
    law = make(*parameters)
    for level in (-1e200, -50.0, 50.0, 1e200, np.inf, -np.inf):
        for value, slopes in (law.log_ei(level), law.cdf(level)):
            assert not np.isnan(np.array([value, *slopes])).any(), level
        for value in (law.log_cdf(level), law.log_survival(level), law.log_density(level)):
            assert not np.isnan(value).any(), level
        assert not np.isnan(law.z_score(level).value).any(), level
    for price in (0.0, 1e-300, 1e200, np.inf):
        fair = law.fair_value(price)
        assert not np.isnan(np.array([fair.value, *fair.slopes, fair.d_log_price])).any(), price
    assert np.all(law.fair_value(np.inf).value == np.inf)
    assert np.all(law.fair_value(0.0).value <= law.fair_value(1e-300).value)


def test_a_certain_normal_is_a_step_without_slopes():
    law = Normal(np.array([1.0, 1.0, 1.0]), np.zeros(3))
    levels = np.array([0.9, 1.0, 1.1])
    value, slopes = law.cdf(levels)
    assert value.tolist() == [0.0, 1.0, 1.0]
    assert np.all(np.array(slopes) == 0.0)
    assert np.isfinite(law.z_score(levels).value).all()
    assert law.log_cdf(levels).tolist() == [-np.inf, 0.0, 0.0]
    assert law.log_survival(levels).tolist() == [0.0, -np.inf, -np.inf]
    assert law.log_density(levels).tolist() == [-np.inf, np.inf, -np.inf]


def test_a_normal_far_in_its_tail_has_no_nan():
    law = Normal(np.zeros(2), np.array([1e-200, 1.0]))
    value, slopes = law.cdf(np.array([1.0, -1e200]))
    assert value.tolist() == [1.0, 0.0]
    assert np.isfinite(np.array(slopes)).all()


@pytest.mark.parametrize("z", [-37.0, -5.0, 0.0, 5.0, 37.0])
def test_tails_keep_their_relative_precision(z):
    law = Normal(np.zeros(1), np.full(1, 2.0))
    assert law.log_cdf(2.0 * z)[0] == pytest.approx(stats.norm.logcdf(z), rel=1e-12)
    assert law.log_survival(2.0 * z)[0] == pytest.approx(stats.norm.logsf(z), rel=1e-12)
    assert law.log_density(2.0 * z)[0] == pytest.approx(stats.norm.logpdf(2.0 * z, scale=2.0))


@pytest.mark.parametrize("price", [1e-12, 1e-3, 0.1, 3.0])
def test_a_fair_value_takes_five_steps_at_most(price, monkeypatch):
    rng, steps, step = np.random.default_rng(0), [], _roots._fair_value
    (m1, m2), (s1, s2) = rng.normal(size=(2, 200)), np.exp(rng.normal(size=(2, 200)))

    def counted(*arguments):
        steps.append(arguments)
        return step(*arguments)

    monkeypatch.setattr(_roots, "_fair_value", counted)
    mixture, bounded = mixed(m1, s1, m2, s2), Bounded(Normal(m1, s1), -1.0, 1.0)
    for fair_value in (mixture._searched_fair_value, bounded.fair_value):
        steps.clear()
        fair_value(price)
        assert 0 < len(steps) <= 5


@pytest.mark.parametrize("price", [1e-12, 1e-3, 0.1, 3.0])
def test_a_fair_value_of_normals_takes_six_steps_at_most(price, monkeypatch):
    rng, steps, step = np.random.default_rng(0), [], normal_mixture._improvement
    mean, std = rng.normal(size=(2, 200)), np.exp(rng.normal(size=(2, 200)))

    def counted(*arguments):
        steps.append(arguments)
        return step(*arguments)

    monkeypatch.setattr(normal_mixture, "_improvement", counted)
    normals = [Normal(m, s) for m, s in zip(mean, std, strict=True)]
    Mixture(np.array([0.4, 0.6]), normals).fair_value(price)
    assert 0 < len(steps) <= 6


@pytest.mark.parametrize("level", [0.0, np.zeros(2)], ids=["one level", "a level each"])
def test_a_negative_deviation_is_refused(level):
    with pytest.raises(InputError, match=r"std must not be negative: got -1.0 at position 1"):
        Normal(np.zeros(2), np.array([1.0, -1.0])).log_ei(level)
