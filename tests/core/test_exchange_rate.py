# SPDX-License-Identifier: Apache-2.0
"""Lambda: what it is, how it is chosen, and how that is taught."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import stopwise as sw
from stopwise.core.exchange_rate import HOW_TO_CHOOSE_LAM, check_lam
from stopwise.errors import InputError, StopwiseError
from tests.support.strategies import magnitudes

NOT_POSITIVE = [0, 0.0, -1.0, math.nan, math.inf, -math.inf, True, "1", None, 1j, [1.0]]


@given(magnitudes(-9, 9), magnitudes(-9, 9))
def test_the_rate_is_what_makes_the_trade_even(improvement, cost):
    assert sw.exchange_rate(improvement=improvement, cost=cost) * cost == pytest.approx(
        improvement, rel=1e-15, abs=0.0
    )


def test_the_trade_of_the_documentation():
    assert sw.exchange_rate(improvement=0.01, cost=1000) == 1e-5


@pytest.mark.parametrize("bad", NOT_POSITIVE, ids=repr)
@pytest.mark.parametrize("name", ["improvement", "cost"])
def test_a_trade_of_nothing_is_refused_by_name(name, bad):
    trade = {"improvement": 0.01, "cost": 1000, name: bad}
    with pytest.raises(InputError, match="both must be positive numbers: an improvement") as error:
        sw.exchange_rate(**trade)
    assert f"exchange_rate({name}={bad!r})" in str(error.value)


def test_improvement_and_cost_cannot_be_swapped_unnoticed():
    with pytest.raises(TypeError):
        sw.exchange_rate(0.01, 1000)


@pytest.mark.parametrize("bad", NOT_POSITIVE, ids=repr)
def test_what_is_not_a_positive_number_is_refused_with_how_to_choose_one(bad):
    with pytest.raises(InputError) as error:
        check_lam(bad)
    assert f"lam must be a positive number, got {bad!r}. {HOW_TO_CHOOSE_LAM}" == str(error.value)
    assert "sw.exchange_rate(improvement=0.01, cost=1000)" in str(error.value)
    assert isinstance(error.value, ValueError)
    assert isinstance(error.value, StopwiseError)


@pytest.mark.parametrize(
    "good", [1, 1e-300, 1e300, np.float32(0.5), np.int64(3), Fraction(1, 3)], ids=repr
)
def test_any_positive_number_is_a_lambda(good):
    check_lam(good)
