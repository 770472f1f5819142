# SPDX-License-Identifier: Apache-2.0
"""The mixture of normals of the inner loop, against 40 digits, differences and the laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.beliefs.laws import Mixture, Normal
from stopwise.core.numerics import normal_mixture
from tests.support import oracles
from tests.support.oracles import mp

WEIGHTS = np.array([0.6, 0.3, 0.1])


def drawn(count, seed=0, spread=1.5):
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=(3, count))
    std = np.exp(spread * rng.normal(size=(3, count)))
    return mean, std, np.exp(5.0 * rng.normal(size=count) - 6.0)


def fair_of(weights, mean, std, price):
    """Fair values, searched from the smallest one of a component at price/weight."""
    with np.errstate(all="ignore"):
        start = normal_mixture.components_at_price(weights, mean, std, price).min(axis=0)
        normals = normal_mixture.Normals.of(weights, mean, std)
    return normal_mixture.root_from_right(normals, price, start)


def exact_log_ei(weights, mean, std, level):
    """Log of the weighted sum of s h((y - m)/s), in 40 digits."""
    terms = []
    for w, m, s in zip(weights, mean, std, strict=True):
        scale = mp.mpf(float(s))
        z = (mp.mpf(float(level)) - mp.mpf(float(m))) / scale
        terms.append(mp.mpf(float(w)) * scale * mp.exp(oracles.Standard(z).log_gain))
    return mp.log(mp.fsum(terms))


@pytest.mark.parametrize("shift", [-30.0, -5.0, -1.0, 0.0, 2.0, 50.0])
def test_log_ei_in_40_digits(shift):
    mean, std, _ = drawn(6)
    level = mean.min(axis=0) + shift * std.max(axis=0)
    got = normal_mixture.improvement(WEIGHTS, mean, std, level).log_ei
    for j in range(6):
        want = exact_log_ei(WEIGHTS, mean[:, j], std[:, j], level[j])
        assert abs(float(got[j]) - want) <= 1e-12 * max(1, abs(want))


def test_the_price_is_the_improvement_below_the_fair_value():
    mean, std, price = drawn(40)
    value = fair_of(WEIGHTS, mean, std, price).value
    for j in range(40):
        want = exact_log_ei(WEIGHTS, mean[:, j], std[:, j], value[j])
        # Where the level is large and the deviation small its rounding moves log EI.
        rounding = 4e-16 * abs(value[j]) / std[:, j].min()
        assert abs(np.log(price[j]) - float(want)) <= 1e-11 + rounding


def log_ei(mean, std):
    return normal_mixture.improvement(WEIGHTS, mean, std, -1.0)


def fair_value(mean, std):
    return fair_of(WEIGHTS, mean, std, np.full(mean.shape[1], 0.01))


@pytest.mark.parametrize(("function", "sign"), [(log_ei, -1.0), (fair_value, 1.0)])
@pytest.mark.parametrize("component", range(3))
def test_slopes_are_those_of_differences(function, sign, component):
    mean, std, _ = drawn(30, seed=1, spread=0.5)
    step = 1e-6
    move = np.zeros((3, 1))
    move[component] = step
    at = function(mean, std)
    of_mean = (function(mean + move, std)[0] - function(mean - move, std)[0]) / (2 * step)
    of_std = (function(mean, std + move)[0] - function(mean, std - move)[0]) / (2 * step)
    np.testing.assert_allclose(sign * at.d_mean[component], of_mean, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(at.d_std[component], of_std, rtol=1e-5, atol=1e-7)


def test_a_search_ends_when_its_steps_are_used_up():
    mean, std, price = drawn(5)
    start = normal_mixture.components_at_price(WEIGHTS, mean, std, price).min(axis=0)
    bracket = (np.full(5, -np.inf), start.copy(), start)
    mixture = normal_mixture.Normals.of(WEIGHTS, mean, std)
    after, _ = normal_mixture._root(mixture, np.log(price), bracket, steps=1)
    root = fair_of(WEIGHTS, mean, std, price).value
    assert (np.abs(after - root) <= np.abs(start - root)).all()
    assert np.abs(after - root).max() > 1e-6  # one step is not enough


def test_the_slope_in_the_log_of_the_price():
    mean, std, price = drawn(30, seed=2, spread=0.5)
    ends = [fair_of(WEIGHTS, mean, std, price * np.exp(e)).value for e in (1e-6, -1e-6)]
    at = fair_of(WEIGHTS, mean, std, price)
    np.testing.assert_allclose(at.d_log_price, (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-7)


def test_a_point_is_answered_alike_alone_and_among_many():
    mean, std, price = drawn(300, seed=3, spread=2.0)
    together = fair_of(WEIGHTS, mean, std, price)
    for j in range(0, 300, 7):
        alone = fair_of(WEIGHTS, mean[:, j : j + 1], std[:, j : j + 1], price[j : j + 1])
        for one, many in zip(alone, together, strict=True):
            np.testing.assert_allclose(one[..., 0], many[..., j], rtol=1e-12, atol=1e-13)


def test_no_number_where_there_is_no_fair_value():
    mean, std, _ = drawn(4)
    for price in (0.0, np.inf):
        assert np.isnan(fair_of(WEIGHTS, mean, std, np.full(4, price)).value).all()


@given(
    st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=2),
    st.lists(st.floats(-12.0, 5.0), min_size=2, max_size=2),
    st.floats(-60.0, 6.0),
    st.floats(0.001, 0.999),
)
def test_the_fair_value_is_that_of_components_asked_one_by_one(means, log_stds, log_price, weight):
    mean, std = np.array(means)[:, None], np.exp(log_stds)[:, None]
    weights, price = np.array([weight, 1.0 - weight]), np.exp([log_price])
    law = Mixture(weights, [Normal(*pair) for pair in zip(mean, std, strict=True)])
    want = law._searched_fair_value(price)
    got = fair_of(weights, mean, std, price)
    scale = 1e-9 * (1.0 + np.abs(want.value))
    assert np.abs(got.value - want.value) <= scale
