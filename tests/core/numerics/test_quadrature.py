# SPDX-License-Identifier: Apache-2.0
"""The quadrature rule on the interval from 0 to 1."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from stopwise.core.numerics.quadrature import CANCELS, UNIT_NODES, UNIT_WEIGHTS


@pytest.mark.parametrize("power", range(12))
def test_polynomials_up_to_degree_11_are_integrated_exactly(power):
    assert_allclose(UNIT_WEIGHTS @ UNIT_NODES**power, 1.0 / (power + 1), rtol=4e-15)


def test_degree_12_is_not_integrated_exactly():
    assert abs(13.0 * UNIT_WEIGHTS @ UNIT_NODES**12 - 1.0) > 1e-8


@pytest.mark.parametrize("rate", [1e-12, 1e-3, math.log1p(CANCELS)])
def test_where_a_difference_cancels_the_rule_is_right_to_rounding(rate):
    # exp(rate) - 1, the growth of an antiderivative by the fraction CANCELS at most
    integral = rate * (UNIT_WEIGHTS @ np.exp(rate * UNIT_NODES))
    assert_allclose(integral, math.expm1(rate), rtol=4e-16)


def test_elsewhere_a_difference_loses_two_and_a_half_bits_at_most():
    # b - a with b = (1 + CANCELS) a: an error of half a last place of b, relative to b - a
    assert math.log2((1.0 + CANCELS) / CANCELS) < 2.5
