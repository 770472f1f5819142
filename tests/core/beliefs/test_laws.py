# SPDX-License-Identifier: Apache-2.0
"""Laws: every answer against an integral of the cdf, and slopes against differences.

``LAWS`` has a maker of each law from its parameters, those that warps make of a normal included;
what is asked of one is asked of all.
"""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from stopwise.core.beliefs import WARPS
from stopwise.core.beliefs.laws import Normal

MEANS, DEVIATIONS = np.array([0.3, -0.5, 0.7]), np.array([0.5, 0.6, 0.1])


def warped(warp):
    return lambda mean, std: warp.law(Normal(mean, std))


# name -> (maker, parameters)
LAWS = {
    "normal": (Normal, (MEANS, DEVIATIONS)),
    **{
        f"normal, warped by {name}": (warped(make()), (MEANS, DEVIATIONS))
        for name, make in WARPS.items()
    },
}
EACH = pytest.mark.parametrize(("make", "parameters"), LAWS.values(), ids=list(LAWS))
LEVELS = np.array([0.0, 0.5, 0.9])
PRICE = np.array([0.05, 0.3, 0.4])


def slopes_by_differences(answer, make, parameters, step=1e-6):
    found = []
    for i, parameter in enumerate(parameters):
        above, below = (
            answer(make(*(p if j != i else parameter + s for j, p in enumerate(parameters))))
            for s in (step, -step)
        )
        found.append((above - below) / (2 * step))
    return found


@EACH
def test_parameters_make_the_law_again(make, parameters):
    for one, other in zip(make(*parameters).parameters, parameters, strict=True):
        np.testing.assert_array_equal(one, other)


@EACH
def test_expected_improvement_is_the_integral_of_the_cdf(make, parameters):
    law = make(*parameters)
    found = np.exp(law.log_ei(LEVELS).value)
    for i, level in enumerate(LEVELS):
        low = law.quantile(-9.0).value[i]
        grid = np.linspace(min(low, level), level, 20_001)
        cdf = np.array([law.cdf(np.full(3, y)).value[i] for y in grid])
        assert found[i] == pytest.approx(integrate.simpson(cdf, x=grid), rel=1e-7, abs=1e-12)


@EACH
def test_quantiles_and_z_scores_invert_each_other_and_the_cdf(make, parameters):
    law = make(*parameters)
    for z in (-3.0, -0.5, 0.0, 2.0):
        value = law.quantile(z).value
        np.testing.assert_allclose(law.z_score(value).value, z, atol=1e-9)
        np.testing.assert_allclose(law.cdf(value).value, stats.norm.cdf(z), atol=1e-12)


@EACH
def test_improvement_over_the_fair_value_is_the_price(make, parameters):
    law = make(*parameters)
    fair = law.fair_value(PRICE)
    np.testing.assert_allclose(law.log_ei(fair.value).value, np.log(PRICE), atol=1e-9)
    step = 1e-6
    rise = [law.fair_value(PRICE * math.exp(s)).value for s in (step, -step)]
    np.testing.assert_allclose(fair.d_log_price, (rise[0] - rise[1]) / (2 * step), rtol=1e-6)


@EACH
@pytest.mark.parametrize(
    "answer",
    [
        lambda law: law.log_ei(LEVELS),
        lambda law: law.cdf(LEVELS),
        lambda law: law.z_score(LEVELS),
        lambda law: law.quantile(-1.3),
        lambda law: law.fair_value(PRICE),
    ],
    ids=["log_ei", "cdf", "z_score", "quantile", "fair_value"],
)
def test_slopes_are_those_of_differences(make, parameters, answer):
    found = answer(make(*parameters)).slopes
    wanted = slopes_by_differences(lambda law: answer(law).value, make, parameters)
    assert len(found) == len(parameters)
    for slope, rise in zip(found, wanted, strict=True):
        np.testing.assert_allclose(slope, rise, rtol=1e-5, atol=1e-8)


@EACH
def test_mean_and_deviation_are_those_of_quantiles_at_random(make, parameters):
    law = make(*parameters)
    z = stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    values = np.array([law.quantile(float(one)).value for one in z])
    np.testing.assert_allclose(law.mean, values.mean(axis=0), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(law.std, values.std(axis=0), rtol=1e-2)


@EACH
def test_what_is_known_is_certain_and_the_rest_stays(make, parameters):
    law = make(*parameters)
    before = [np.array(p) for p in law.parameters]
    known = law.known_at(np.array([1]), np.array([0.25]))
    assert known.mean[1] == pytest.approx(0.25, abs=1e-12)
    assert known.std[1] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(np.exp(known.log_ei(1.0).value[1]), 0.75, rtol=1e-9)
    assert known.log_ei(0.2).value[1] == -np.inf
    assert [known.cdf(y).value[1] for y in (0.2499, 0.2501)] == [0.0, 1.0]
    np.testing.assert_array_equal(known.mean[[0, 2]], law.mean[[0, 2]])
    for one, other in zip(law.parameters, before, strict=True):
        np.testing.assert_array_equal(one, other)  # it is a new law


def test_a_certain_normal_is_a_step_without_slopes():
    law = Normal(np.array([1.0, 1.0, 1.0]), np.zeros(3))
    value, slopes = law.cdf(np.array([0.9, 1.0, 1.1]))
    assert value.tolist() == [0.0, 1.0, 1.0]
    assert np.all(np.array(slopes) == 0.0)
    assert np.isfinite(law.z_score(np.array([0.9, 1.0, 1.1])).value).all()


def test_a_normal_far_in_its_tail_has_no_nan():
    law = Normal(np.zeros(2), np.array([1e-200, 1.0]))
    value, slopes = law.cdf(np.array([1.0, -1e200]))
    assert value.tolist() == [1.0, 0.0]
    assert np.isfinite(np.array(slopes)).all()
