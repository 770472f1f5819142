# SPDX-License-Identifier: Apache-2.0
"""Log h, h(z) = E max(z - U, 0) of a standard normal U, its slope and its inverse."""

import math

import numpy as np
import pytest
from hypothesis import assume, given

from stopwise.core.numerics import standard_improvement
from stopwise.core.numerics.standard_improvement import d_log_h, inv_log_h, log_h
from tests.support import oracles
from tests.support.doubles import LARGEST, LEVELS, PHI_0, both_sides, error
from tests.support.oracles import mp
from tests.support.strategies import magnitudes, reals

pytestmark = pytest.mark.usefixtures("no_floating_point_errors")


@pytest.mark.parametrize("z", [-3.0, -0.5, 0.0, 0.7, 4.0])
def test_the_oracle_is_the_expectation(z):
    """Its folded integrals against the plain ones over the whole line."""
    at = oracles.Standard(z)
    line = [-30, -10, -3, z] if z > -3 else [-30, -10, z]
    gain = mp.quad(lambda u: (z - u) * mp.npdf(u), line)
    chance = mp.quad(mp.npdf, line)
    spread = mp.quad(lambda u: -u * mp.npdf(u), line)
    assert mp.almosteq(mp.exp(at.log_gain), gain, 1e-30)
    assert mp.almosteq(at.chance_over_gain, chance / gain, 1e-30)
    assert mp.almosteq(at.spread_over_gain, spread / gain, 1e-30)


def test_log_h():
    got = log_h(LEVELS)
    for z, value in zip(LEVELS, got, strict=True):
        want = oracles.Standard(z).log_gain
        assert error(value, want, per=max(1, abs(want))) <= 1e-13, z


def test_d_log_h():
    got = d_log_h(LEVELS)
    for z, value in zip(LEVELS, got, strict=True):
        want = oracles.Standard(z).chance_over_gain
        assert error(value, want, per=want) <= 1e-12, z


def test_log_h_to_the_ends_of_the_doubles():
    assert log_h(-1.5e154) == pytest.approx(-1.125e308, rel=1e-13)  # the square overflows
    assert log_h(-1e155) == -np.inf
    assert log_h(LARGEST) == pytest.approx(math.log(LARGEST), rel=1e-15)
    assert d_log_h([-LARGEST, LARGEST]) == pytest.approx([LARGEST, 1.0 / LARGEST], rel=1e-12)
    assert log_h([-np.inf, np.inf]).tolist() == [-np.inf, np.inf]
    assert d_log_h([-np.inf, np.inf]).tolist() == [np.inf, 0.0]


LOG_GAINS = np.concatenate(
    [
        -np.logspace(-6, 6, 4001),
        np.logspace(-6, math.log10(700.0), 2001),
        np.linspace(-12.0, 6.0, 4001),
        both_sides(
            0.0,
            standard_improvement._GAUSSIAN,
            math.log(standard_improvement._LINEAR),
            math.log(PHI_0),
        ),
        [-1e6, 700.0],
    ]
)


def test_log_h_gives_back_what_was_inverted():
    difference = log_h(inv_log_h(LOG_GAINS)) - LOG_GAINS
    assert np.max(np.abs(difference) / np.maximum(1.0, np.abs(LOG_GAINS))) <= 1e-12


@pytest.mark.parametrize("t", [-1e6, -700.0, -4.0, -3.999, -1.0, 0.0, math.log(8.0), 3.7, 700.0])
def test_inv_log_h_inverts_the_expectation_too(t):
    assert error(t, oracles.Standard(inv_log_h(t)).log_gain, per=max(1.0, abs(t))) <= 1e-12


def test_inv_log_h_to_the_ends_of_the_doubles():
    low = [-1e100, *both_sides(standard_improvement._LOWEST), -1e308, -LARGEST]
    assert inv_log_h(low) == pytest.approx(-math.sqrt(2.0) * np.sqrt(np.abs(low)), rel=1e-15)
    assert inv_log_h(math.log(LARGEST)) == pytest.approx(LARGEST, rel=1e-12)
    assert inv_log_h([710.0, LARGEST, np.inf]).tolist() == [np.inf] * 3
    assert inv_log_h(-np.inf) == -np.inf


def test_inv_log_h_does_not_depend_on_the_neighbours():
    rng = np.random.default_rng(3)
    t = rng.normal(-5.0, 30.0, 2 * standard_improvement.BLOCK + 3)
    order = rng.permutation(t.size)
    np.testing.assert_allclose(inv_log_h(t)[order], inv_log_h(t[order]), rtol=4e-16, atol=4e-16)
    some = order[:50]
    one_by_one = [inv_log_h(x) for x in t[some]]
    np.testing.assert_allclose(inv_log_h(t)[some], one_by_one, rtol=4e-16, atol=4e-16)


@given(reals(-30.0, 30.0))
def test_h_of_z_less_h_of_minus_z_is_z(z):
    difference = np.exp(log_h(z)) - np.exp(log_h(-z))
    assert difference == pytest.approx(z, abs=1e-14 * (1.0 + abs(z)))


@given(reals(-1e8, 1e8), magnitudes(-6, 8))
def test_log_h_increases(z, step):
    low, high = log_h([z, z + step])
    # Concave: the rise is at least the step times the slope at its end. Rounding aside.
    assume(step * d_log_h(z + step) > 1e-12 * (1.0 + abs(low)))
    assert low < high


@given(reals(-1e4, 1e4), magnitudes(-3, 4))
def test_log_h_is_concave(z, step):
    left, middle, right = log_h([z - step, z, z + step])
    rounding = 1e-13 * (1.0 + max(abs(left), abs(middle), abs(right)))
    assert middle - left >= right - middle - 2.0 * rounding
    assert d_log_h(z - step) > d_log_h(z) > d_log_h(z + step)
