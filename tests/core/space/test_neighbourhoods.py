# SPDX-License-Identifier: Apache-2.0
"""Neighbours: one discrete parameter changed; of several points at once, and what is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.space import Categorical, Integer, Mixed, Real
from stopwise.errors import InputError
from tests.support import strategies_space as strategies
from tests.support.spaces import SPACE, same


@given(strategies.domains_and_points(), st.data())
def test_neighbours_are_attainable_and_differ_in_one_discrete_parameter(drawn, data):
    domain, _ = drawn
    x = data.draw(strategies.points(domain.width).filter(len))[0]
    around = domain.neighbours(x)
    here = domain.decode(domain.snap(x[None, :]))[0]
    assert np.array_equal(domain.snap(around), around)
    keys = domain.key(around)
    assert len(set(keys)) == len(keys)
    for params in domain.decode(around):
        changed = [n for n in domain.names if not same([params[n]], [here[n]])]
        assert len(changed) == 1
        assert not isinstance(
            dict(zip(domain.names, domain.parameters, strict=True))[changed[0]], Real
        )


def test_neighbours_of_a_small_integer_are_all_others_and_of_a_large_one_steps():
    domain = Mixed.of({"x": Real(0, 1), "n": Integer(1, 64)})
    around = domain.decode(domain.neighbours(domain.encode({"x": 0.5, "n": 10})[0]))
    assert sorted(params["n"] for params in around) == [n for n in range(1, 65) if n != 10]
    assert {params["x"] for params in around} == {0.5}

    domain = Mixed.of({"x": Real(0, 1), "n": Integer(1, 10**9, log=True)})
    around = domain.decode(domain.neighbours(domain.encode({"x": 0.5, "n": 10})[0]))
    found = {params["n"] for params in around}
    assert {9, 11, 8, 12, 6, 14, 2, 18, 26, 1, 10**9} <= found
    assert len(found) < 64


def test_a_box_has_no_neighbours():
    assert Mixed.of({"x": Real(0, 1)}).neighbours([0.5]).shape == (0, 1)


def test_discrete_choices_are_the_attainable_encodings():
    domain = Mixed.of(SPACE)
    choices = domain.discrete_choices()
    assert set(choices) == {1, 2}
    assert choices[1].shape == (6, 1)
    assert np.array_equal(choices[2], np.eye(3))
    assert domain.n_discrete == 18
    assert Mixed.of({"x": Real(0, 1)}).n_discrete == 1


def test_huge_ranges_are_counted_and_not_listed():
    domain = Mixed.of({"a": Integer(1, 10**12), "b": Integer(1, 10**12)})
    assert domain.n_discrete == 10**24
    with pytest.raises(InputError, match=r"'a' has 1000000000000 values.*neighbours"):
        domain.discrete_choices()


@given(strategies.spaces(), st.integers(1, 5), st.integers(0, 9))
def test_neighbours_of_several_points_are_those_of_each(space, n, seed):
    domain = Mixed.of(space)
    X = domain.sobol(n, np.random.default_rng(seed))
    together = domain.neighbours_of_each(X)
    for x, around in zip(X, together, strict=True):
        np.testing.assert_array_equal(Mixed.of(space).neighbours(x), around)  # which kept nothing


def test_alternatives_are_kept_for_parameters_of_few_values_alone():
    domain = Mixed.of(
        {
            "x": Real(0, 1),
            "few": Integer(1, 3),
            "many": Integer(1, 17),
            "c": Categorical(["a", "b", "c"]),
        }
    )
    x = domain.encode({"x": 0.3, "few": 2, "many": 9, "c": "b"})[0]
    around = domain.neighbours(x)
    assert len(around) == 2 + 16 + 2
    assert {index for index, _ in domain._neighbourhoods._kept} == {1, 3}
    around[:] = 0.0  # what is handed out is not what is kept
    assert np.array_equal(np.unique(domain.neighbours(x)[:, 0]), [0.3])
