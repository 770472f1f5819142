# SPDX-License-Identifier: Apache-2.0
"""Moments of a log-normal price, against the expectations they stand for."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given

from stopwise.core.numerics.lognormal import log_harmonic_mean, log_mean
from tests.support.strategies import reals

CASES = [(0.0, 0.0), (0.0, 1.0), (-2.5, 0.3), (7.0, 2.0), (-40.0, 5.0)]


def log_expectation(power, mu, std):
    """Log E[c^power] for ln c normal, by quadrature in 30 digits."""
    with mp.workdps(30):
        mean = mp.quad(
            lambda u: mp.exp(power * (mu + std * u)) * mp.npdf(u), np.arange(-20, 21, 5).tolist()
        )
        return float(mp.log(mean))


@pytest.mark.parametrize(("mu", "std"), CASES)
def test_log_mean_is_the_log_of_the_expected_price(mu, std):
    assert log_mean(mu, std) == pytest.approx(log_expectation(1, mu, std), rel=1e-14, abs=1e-14)


@pytest.mark.parametrize(("mu", "std"), CASES)
def test_log_harmonic_mean_is_that_of_one_over_the_expected_reciprocal(mu, std):
    want = -log_expectation(-1, mu, std)
    assert log_harmonic_mean(mu, std) == pytest.approx(want, rel=1e-14, abs=1e-14)


def test_dividing_by_the_expected_price_is_not_multiplying_by_the_expected_reciprocal():
    """The slip: exp(-mu + s^2/2) is E[1/c]; per unit of expected price means 1/E[c]."""
    mu, std, draws = 0.7, 0.9, 400_000
    prices = np.exp(np.random.default_rng(11).normal(mu, std, draws))
    four_sigma = 4.0 * prices.std() / prices.mean() / math.sqrt(draws)
    per_expected_price = 1.0 / prices.mean()
    assert math.exp(-log_mean(mu, std)) == pytest.approx(per_expected_price, rel=four_sigma)
    slip = math.exp(-mu + std**2 / 2.0)
    assert slip == pytest.approx((1.0 / prices).mean(), rel=four_sigma)
    assert slip == pytest.approx(math.exp(-log_harmonic_mean(mu, std)), rel=1e-14)
    assert slip / per_expected_price == pytest.approx(math.exp(std**2), rel=four_sigma)
    assert abs(slip / per_expected_price - 1.0) > 1.0  # far more than noise


@given(reals(-50.0, 50.0), reals(1e-3, 5.0))
def test_doubt_raises_the_mean_and_lowers_the_harmonic_mean(mu, std):
    assert log_harmonic_mean(mu, std) < mu < log_mean(mu, std)


@pytest.mark.parametrize(
    ("function", "slope"), [(log_mean, 1.3), (log_harmonic_mean, -1.3)], ids=["E[c]", "1/E[1/c]"]
)
def test_derivatives(function, slope):
    step = 1e-4
    in_std = (function(0.2, 1.3 + step) - function(0.2, 1.3 - step)) / (2.0 * step)
    in_mu = (function(0.2 + step, 1.3) - function(0.2 - step, 1.3)) / (2.0 * step)
    assert in_std == pytest.approx(slope, rel=1e-9)
    assert in_mu == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("function", [log_mean, log_harmonic_mean])
def test_arrays_broadcast(function):
    mu, std = np.array([[0.0], [1.0]]), np.array([0.5, 1.0, 2.0])
    value = function(mu, std)
    assert value.shape == (2, 3)
    assert value[1, 2] == function(1.0, 2.0)
