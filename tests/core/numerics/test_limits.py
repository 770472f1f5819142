# SPDX-License-Identifier: Apache-2.0
"""The range of numbers: what is inside stays as it is, what is not moves to its end."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.numerics.limits import (
    LARGEST_AMOUNT,
    LARGEST_VALUE,
    LEAST_AMOUNT,
    LEAST_VALUE,
    as_amount,
    as_float,
    as_modelled,
    exp_or_inf,
    is_amount,
)
from stopwise.core.numerics.lognormal import log_harmonic_mean, log_mean, within_range

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE)
def test_a_modelled_value_is_the_value_or_the_end_of_the_range(value):
    modelled = float(as_modelled(value))
    assert math.copysign(1.0, modelled) == math.copysign(1.0, value)
    if abs(value) > LARGEST_VALUE:
        assert abs(modelled) == LARGEST_VALUE
    else:
        assert modelled == (0.0 if abs(value) < LEAST_VALUE else value)


@given(FINITE, FINITE)
def test_modelled_values_keep_their_order(one, other):
    low, high = as_modelled(np.array(sorted([one, other])))
    assert low <= high


@given(st.floats(0.0, exclude_min=True))
def test_an_amount_is_moved_into_its_range(number):
    moved = as_amount(number)
    assert is_amount(moved)
    assert (moved == number) == is_amount(number)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, 1e-301, 1e301])
def test_what_is_not_positive_finite_and_in_range_is_no_amount(bad):
    assert not is_amount(bad)


def test_numbers_of_every_kind_are_floats():
    assert as_float(3) == as_float(np.float32(3.0)) == as_float(Fraction(6, 2)) == 3.0
    assert as_float(10**400) == as_float(Fraction(10**400)) == math.inf
    assert as_float(-(10**400)) == -math.inf
    assert all(math.isnan(as_float(bad)) for bad in (True, "1", None, 1j, [1.0]))


@given(st.floats(-800.0, 800.0))
def test_an_exponential_is_infinite_where_it_overflows(exponent):
    with np.errstate(over="ignore"):
        assert exp_or_inf(exponent) == pytest.approx(np.exp(exponent), rel=1e-12)


def test_the_mean_of_a_very_uncertain_cost_is_within_the_range_of_costs():
    mu, std = np.array([0.0, 600.0, -600.0]), np.array([1.0, 40.0, 40.0])
    with np.errstate(all="raise"):
        assert np.exp(within_range(log_mean(mu, std))) == pytest.approx(
            [math.exp(0.5), LARGEST_AMOUNT, math.exp(200.0)], rel=1e-12
        )
        assert np.exp(within_range(log_harmonic_mean(mu, std))) == pytest.approx(
            [math.exp(-0.5), math.exp(-200.0), LEAST_AMOUNT], rel=1e-12
        )
