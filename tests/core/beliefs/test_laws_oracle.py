# SPDX-License-Identifier: Apache-2.0
"""Expected improvement of every law, against E max(level - f, 0) in 40 digits."""

import itertools

import numpy as np
import pytest

from stopwise.core.beliefs.laws import Bounded, Chance, LogWarped, Mixture, Normal, SoftWarped
from tests.support import oracles
from tests.support.oracles import mp

Z = [-35.0, -14.0, -6.0, -2.0, -0.3, 0.0, 0.7, 3.0, 10.0]
STDS = [1e-6, 1e-3, 0.1, 1.0, 7.0, 1e3]


def error(got, want):
    """Of a logarithm: relative where it is larger than 1."""
    return float(abs(mp.mpf(float(got)) - want) / max(1, abs(want)))


def log_normal_gain(mean, std, low, level):
    """Log E max(level - low - exp(mean + std U), 0)."""
    mean, std, gap = mp.mpf(mean), mp.mpf(std), mp.mpf(level) - mp.mpf(low)
    z = (mp.log(gap) - mean) / std
    return oracles.log_gain(lambda u: mp.exp(mean + std * u), gap, z, scales=(1 / std,)), z


def soft_gain(mean, std, knee, tau, level):
    """The same of the inverse of the soft logarithm."""
    mean, std, knee, tau, level = map(mp.mpf, (mean, std, knee, tau, level))

    def value_of(u):
        over = (mean + std * u - knee) / tau
        return knee + tau * (mp.expm1(over) if over > 0 else over)

    over = (level - knee) / tau
    z = (knee + tau * (mp.log1p(over) if over > 0 else over) - mean) / std
    return oracles.log_gain(value_of, level, z, [(knee - mean) / std], (1, tau / std)), z


def test_the_oracle_is_that_of_the_normal():
    for z in Z:
        want = oracles.Standard(z).log_gain
        assert mp.almosteq(oracles.log_gain(lambda u: u, mp.mpf(z), mp.mpf(z)), want, 1e-25)


@pytest.mark.parametrize("std", STDS)
def test_log_warped(std):
    """To 1e-14 and what the rounding of log(level - low) - mean moves z by."""
    mean, low = -0.4, 1.25
    z = np.array([z for z in Z if abs(mean + std * z) < 300.0])
    levels = low + np.exp(mean + std * z)
    levels[levels == low] = np.nextafter(low, np.inf)
    law = LogWarped(Normal(np.full(z.size, mean), np.full(z.size, std)), low)
    for level, got in zip(levels, law.log_ei(levels).value, strict=True):
        want, at = log_normal_gain(mean, std, low, level)
        slope = (1 + abs(at)) / max(1, abs(want))
        assert error(got, want) <= 2e-14 + 4e-16 * slope / std, level
        assert error(got, want) <= 1e-10, level


@pytest.mark.parametrize("std", STDS)
@pytest.mark.parametrize("tau", [1e-3, 0.3, 50.0])
@pytest.mark.parametrize("place", [-3.0, 0.0, 0.5, 4.0])
def test_soft_warped(std, tau, place):
    """The mean is so many taus above the knee, or so many deviations below it."""
    knee = 0.5
    mean = knee + place * (tau if place > 0 else std)
    law = SoftWarped(Normal(np.full(1, mean), np.full(1, std)), knee, tau)
    for z in Z:
        if (mean + std * z - knee) / tau > 300.0:
            continue
        level = float(law.quantile(z).value[0])
        want, at = soft_gain(mean, std, knee, tau, level)
        slope = (1 + abs(at)) / max(1, abs(want))
        tolerance = 1e-13 + 1e-15 * slope * (abs(mean) + tau + abs(level)) / std
        got = law.log_ei(level).value[0]
        assert error(got, want) <= min(tolerance, 1e-9), (z, level)


@pytest.mark.parametrize("std", [1e-6, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("width", [1e-12, 1e-6, 1e-3, 0.1, 1.0, 10.0])
def test_bounded_normal_close_to_its_bound(std, width):
    """EI(low + w) - EI(low) as the mean of the cdf; the difference itself would be rounding."""
    for z in Z:
        mean, low = 0.0, z * std
        level = low + width * std
        want = mp.log(
            mp.exp(oracles.log_ei_partials(mean, std, level)[0])
            - mp.exp(oracles.log_ei_partials(mean, std, low)[0])
        )
        law = Bounded(Normal(np.full(1, mean), np.full(1, std)), low)
        assert error(law.log_ei(level).value[0], want) <= 1e-13, (z, level)


@pytest.mark.parametrize("width", [1e-9, 1e-3, 0.3])
def test_bounded_warped_laws_close_to_their_bounds(width):
    mean, std = np.full(1, 0.3), np.full(1, 0.7)
    for low in (0.6, 0.9, 1.5, 4.0):
        level = low + width
        want = mp.log(
            mp.exp(log_normal_gain(0.3, 0.7, 0.25, level)[0])
            - mp.exp(log_normal_gain(0.3, 0.7, 0.25, low)[0])
        )
        law = Bounded(LogWarped(Normal(mean, std), 0.25), low)
        assert error(law.log_ei(level).value[0], want) <= 2e-14
        want = mp.log(
            mp.exp(soft_gain(0.3, 0.7, 0.9, 0.02, level)[0])
            - mp.exp(soft_gain(0.3, 0.7, 0.9, 0.02, low)[0])
        )
        law = Bounded(SoftWarped(Normal(mean, std), 0.9, 0.02), low)
        assert error(law.log_ei(level).value[0], want) <= 2e-14


def test_mixture_and_its_fair_value():
    weights = [0.6, 0.4 - 1e-7, 1e-7]
    boxes = [(0.0, 1.0), (0.5, 0.01), (-3.0, 0.5)]
    law = Mixture(weights, [Normal(np.full(1, m), np.full(1, s)) for m, s in boxes])
    for level in (-40.0, -8.0, -3.0, 0.0, 0.49, 0.5, 3.0):
        gains = [mp.exp(oracles.log_ei_partials(m, s, level)[0]) for m, s in boxes]
        want = mp.log(mp.fsum(w * g for w, g in zip(law.weights.tolist(), gains, strict=True)))
        assert error(law.log_ei(level).value[0], want) <= 1e-14
    for price in 10.0 ** np.arange(-40, 3):
        level = law.fair_value(price).value[0]
        gains = [mp.exp(oracles.log_ei_partials(m, s, level)[0]) for m, s in boxes]
        got = mp.log(mp.fsum(w * g for w, g in zip(law.weights.tolist(), gains, strict=True)))
        assert error(np.log(price), got) <= 2e-13, price


def test_fair_values_of_warped_laws():
    prices = 10.0 ** np.arange(-200, 5, 17)
    for mean, std in itertools.product([-0.5, 0.3, 2.0], [1e-3, 0.2, 1.5]):
        normal = Normal(np.full(prices.size, mean), np.full(prices.size, std))
        fair = LogWarped(normal, 0.25).fair_value(prices).value
        for price, level in zip(prices, fair, strict=True):
            if level - 0.25 > 1e-12:  # else the level rounds to the bound
                want, z = log_normal_gain(mean, std, 0.25, level)
                rounding = 1e-15 * float(1 + abs(z)) / std / (level - 0.25)
                assert (
                    abs(float(want) - np.log(price)) <= 1e-13 * (1 + abs(np.log(price))) + rounding
                )
        fair = SoftWarped(normal, 0.9, 0.1).fair_value(prices).value
        for price, level in zip(prices, fair, strict=True):
            want, z = soft_gain(mean, std, 0.9, 0.1, level)
            rounding = 1e-15 * float(1 + abs(z)) / std * (1.0 + abs(level))
            assert abs(float(want) - np.log(price)) <= 1e-13 * (1 + abs(np.log(price))) + rounding


@pytest.mark.parametrize("log_chance", [-1e-17, -0.1, -3.0, -200.0, -690.0])
def test_a_chance_far_in_the_tails(log_chance):
    """E max(level - f, 0) of an f that is infinite with the rest of the probability."""
    mean, std = 0.3, 0.7
    law = Chance(Normal(np.full(1, mean), np.full(1, std)), np.full(1, log_chance))
    p = mp.exp(mp.mpf(log_chance))
    for z in Z:
        level = mean + std * z
        at = (mp.mpf(level) - mp.mpf(mean)) / mp.mpf(std)
        gain = p * mp.mpf(std) * mp.exp(oracles.Standard(at).log_gain)
        assert error(law.log_ei(level).value[0], mp.log(gain)) <= 1e-14
        below = p * mp.ncdf(at)
        assert error(law.log_cdf(level)[0], mp.log(below)) <= 1e-13
        assert error(law.log_survival(level)[0], mp.log(1 - below)) <= 1e-13
    for price in 10.0 ** np.arange(-40, 3, 3):
        level = law.fair_value(price).value[0]
        at = (mp.mpf(level) - mp.mpf(mean)) / mp.mpf(std)
        gain = mp.log(p * mp.mpf(std)) + oracles.Standard(at).log_gain
        assert error(np.log(price), gain) <= 1e-12, price
