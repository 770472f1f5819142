# SPDX-License-Identifier: Apache-2.0
"""Numbers in sentences: their digits, also beside others that they are compared with."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.quantity import measured, quantity


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (0.00041239, "0.0004124"),
        (123456.0, "123,456"),
        (9999.4, "9999"),
        (9999.6, "10,000"),
        (12345678.0, "1.235e+07"),
        (1234.4, "1234"),
        (-2.5e-9, "-2.5e-09"),
        (-0.0, "0"),
        (math.inf, "inf"),
        (math.nan, "nan"),
    ],
)
def test_quantities_have_four_digits(value, text):
    assert quantity(value) == text


@given(st.floats(-1e300, 1e300))
def test_a_quantity_is_right_to_four_digits(value):
    said = float(quantity(value).replace(",", ""))
    assert said == pytest.approx(value, rel=5.1e-4, abs=0.0)


@pytest.mark.parametrize(
    ("value", "std", "words"),
    [
        (18.550098781996915, 0.0, "18.55"),
        (18.550098781996915, 0.2317, "18.55 +- 0.23"),
        (18.550098781996915, 12.0, "19 +- 12"),
        (-0.0, 0.0, "0"),
        (-0.001, 0.23, "0.00 +- 0.23"),
        (18.550098781996915, 1234.0, "18.55 +- 1.2e+03"),
        (18.550098781996915, 0.0996, "18.55 +- 0.10"),
        (12345.678, 0.0, "12,346"),
    ],
)
def test_a_measured_value_has_no_digits_that_its_deviation_leaves_in_doubt(value, std, words):
    assert measured(value, std) == words


@given(
    st.floats(1e-12, 1e12),
    st.floats(1e-8, 0.1) | st.just(0.0),
)
def test_numbers_that_are_compared_look_different_unless_they_are_equal(number, by):
    other = number * (1.0 + by)
    texts = quantity(number, other), quantity(other, number)
    assert (texts[0] == texts[1]) == (number == other)
    for text, value in zip(texts, (number, other), strict=True):
        assert float(text.replace(",", "")) == pytest.approx(value, rel=1e-3)
    assert quantity(number, 3.0 * number, math.nan, math.inf) == quantity(number)
