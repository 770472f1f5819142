# SPDX-License-Identifier: Apache-2.0
"""Ordinal parameters: values in an order, by rank or by value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.space import Finite, Mixed, Ordinal, Real, as_domain
from stopwise.errors import InputError, InputTypeError

NUMBERS = st.lists(st.integers(-1000, 1000), min_size=1, max_size=90, unique=True).map(sorted)
LABELS = st.lists(st.text(max_size=4), min_size=1, max_size=9, unique=True)


@given(st.one_of(NUMBERS, LABELS))
def test_values_come_back_by_rank_in_order(values):
    ordinal = Ordinal(values)
    U = ordinal.encode(values, "x")
    assert ordinal.decode(U) == values
    assert ordinal.decode(ordinal.attainable()) == values
    assert np.array_equal(ordinal.numbers(U), np.arange(len(values)))
    if len(values) > 1:
        assert np.allclose(np.diff(U[:, 0]), 1 / (len(values) - 1))
        assert U[0, 0] == 0.0
        assert U[-1, 0] == 1.0


@given(NUMBERS.filter(lambda values: len(values) > 1), st.floats(0, 1))
def test_by_value_the_nearest_value_is_meant(values, u):
    ordinal = Ordinal(values, by="value")
    assert ordinal.decode(ordinal.encode(values, "x")) == values
    low, high = values[0], values[-1]
    wanted = low + u * (high - low)
    [nearest] = ordinal.decode(np.array([[u]]))
    assert abs(nearest - wanted) <= min(abs(v - wanted) for v in values) + 1e-9 * (high - low)


@given(NUMBERS, st.integers(0, 1000))
def test_alternatives_are_other_values(values, at):
    ordinal = Ordinal(values)
    value = values[at % len(values)]
    others = ordinal.decode(ordinal.alternatives(ordinal.encode([value], "x")[0]))
    assert value not in others
    assert len(others) == len(set(others))
    if len(values) <= 64:
        assert set(others) == set(values) - {value}
    else:
        assert {values[0], values[-1]} <= {*others, value}


def test_spread_is_even():
    ordinal = Ordinal(["s", "m", "l"])
    drawn = ordinal.decode(ordinal.spread(np.linspace(0, 1, 300, endpoint=False)))
    assert [drawn.count(label) for label in ordinal.values] == [100, 100, 100]


def test_a_space_of_ordinals_is_a_list():
    domain = as_domain({"batch": Ordinal([16, 32, 64]), "size": Ordinal(["s", "l"])})
    assert isinstance(domain, Finite)
    assert len(domain) == 6
    mixed = Mixed.of({"batch": Ordinal([16, 32, 64]), "x": Real(0, 1)})
    assert mixed.real.tolist() == [False, True]
    assert mixed.n_discrete == 3


@pytest.mark.parametrize(
    ("values", "by", "message"),
    [
        ([], "rank", "at least one value"),
        ("abc", "rank", "must be a list in their order"),
        ({1, 2}, "rank", "must be a list in their order"),
        ([1, 1], "rank", "the value 1 is listed twice"),
        ([[1], [2]], "rank", "cannot be looked up"),
        ([1, 2], "size", "by is 'size'"),
        ([2, 1], "value", "ascending"),
        (["a", "b"], "value", "must be finite numbers"),
        ([1.0, float("inf")], "value", "finite"),
    ],
)
def test_what_is_no_order_is_refused(values, by, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        Ordinal(values, by=by)


def test_a_value_that_is_not_listed_is_refused():
    with pytest.raises(InputError, match=r"'batch' is 48, .* one of its values.*16, 32"):
        Ordinal([16, 32]).encode([48], "batch")


@pytest.mark.parametrize(
    ("values", "jumbled"),
    [
        ([64, 16, 32], True),
        ([0.1, 1, 0.5], True),
        ([16, 32, 64], False),
        ([64, 32.0, 16], False),
        ([2, 1], False),
        ([3], False),
        (["m", "s", "l"], False),
        (["auto", 3, 1, 2], False),
    ],
)
def test_numbers_are_jumbled_if_they_neither_rise_nor_fall(values, jumbled):
    assert Ordinal(values).is_jumbled is jumbled
