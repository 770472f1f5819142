# SPDX-License-Identifier: Apache-2.0
"""Standardised values, also of values without spread and of every size."""

import warnings

import numpy as np
import pytest

from stopwise.core.beliefs import Standardiser


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1.0, 1e12, 1e300])
def test_standardised_values_have_mean_zero_and_deviation_one(scale):
    y = scale * np.random.default_rng(20).standard_normal(30)
    standardiser = Standardiser.of(y)
    z = standardiser.forward(y)
    assert np.mean(z) == pytest.approx(0.0, abs=1e-14)
    assert np.std(z, ddof=1) == pytest.approx(1.0, rel=1e-13)
    np.testing.assert_allclose(z, (y - np.mean(y)) / np.std(y / scale, ddof=1) / scale)


@pytest.mark.parametrize("value", [0.0, 0.1, -3e-12, 7e15])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_one_value_keeps_its_unit_and_several_without_spread_have_next_to_none(value, n):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        standardiser = Standardiser.of(np.full(n, value))
    assert standardiser.shift == pytest.approx(value, rel=1e-15)
    expected = 1.0 if n == 1 else 1e-10 * (abs(value) or 1.0)
    assert standardiser.scale == pytest.approx(expected, rel=1e-12)


def test_rounding_is_no_spread_but_a_small_spread_on_a_large_value_is():
    assert Standardiser.of(0.3 * np.ones(5) + 1e-17).scale == pytest.approx(3e-11)
    assert Standardiser.of(np.array([0.1 + 0.2, 0.3, 0.3])).scale == pytest.approx(3e-11)
    y = 1e9 + np.array([0.0, 1.0, 2.0])
    assert Standardiser.of(y).scale == pytest.approx(1.0)
    assert Standardiser.of(1e3 * y).scale == pytest.approx(1e3)
    assert Standardiser.of(1e12 + np.array([0.0, 1.0, 2.0])).scale == pytest.approx(1.0, rel=1e-3)


def test_no_values_are_left_as_they_are():
    assert Standardiser.of(np.empty(0)) == Standardiser(0.0, 1.0)
