# SPDX-License-Identifier: Apache-2.0
"""Finite domains: which spaces become one, their points and their designs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.space import Candidates, Categorical, Finite, Integer, Mixed, Real, as_domain
from stopwise.core.space.finite import grid
from tests.support import strategies_space as strategies
from tests.support.spaces import SPACE


def rng(seed=0):
    return np.random.default_rng(seed)


@given(strategies.small_spaces())
def test_a_small_discrete_space_is_the_list_of_its_combinations(space):
    domain = as_domain(space)
    assert isinstance(domain, Finite)
    n = math.prod(parameter.n_values for parameter in space.values())
    assert domain.points.shape == (n, domain.width)
    assert np.array_equal(domain.index_of(domain.points), np.arange(n))
    assert np.array_equal(domain.encode(domain.decode(domain.points)), domain.points)
    assert len(set(domain.key(domain.points))) == n
    assert domain.params(n - 1) == domain.decode(domain.points)[-1]
    assert (domain.names, domain.d) == (tuple(space), len(space))
    assert np.array_equal(domain.groups, Mixed.of(space).groups)


def test_combinations_are_in_lexicographic_order():
    domain = as_domain({"a": Categorical(["x", "y"]), "b": Integer(1, 3)})
    expected = [{"a": a, "b": b} for a in "xy" for b in (1, 2, 3)]
    assert domain.decode(domain.points) == expected
    assert [domain.params(i) for i in range(len(domain))] == expected


def test_more_than_64_parameters_of_one_choice_are_still_a_list():
    assert len(as_domain({f"p{i}": Categorical([i]) for i in range(100)})) == 1


@pytest.mark.parametrize(
    ("space", "kind"),
    [
        ({"n": Integer(1, 100_000)}, Finite),
        ({"n": Integer(1, 100_001)}, Mixed),
        ({"n": Integer(1, 2), "x": Real(0, 1)}, Mixed),
        ({"n": Categorical(range(10_000))}, Mixed),  # 10^8 cells
        ({"n": Categorical(["only"])}, Finite),
    ],
)
def test_what_becomes_finite_by_itself(space, kind):
    assert type(as_domain(space)) is kind


@given(strategies.small_spaces(), st.data())
def test_a_finite_domain_snaps_to_listed_points(space, data):
    domain = as_domain(space)
    X = data.draw(strategies.points(domain.width))
    snapped = domain.snap(X)
    assert (domain.index_of(snapped) >= 0).all()
    assert np.array_equal(domain.snap(snapped), snapped)
    assert domain.decode(X) == domain.decode(snapped)
    assert domain.key(X) == domain.key(snapped)


def test_unlisted_points_have_no_index():
    assert as_domain({"n": Integer(1, 3)}).index_of([[0.5], [0.4], [-0.0]]).tolist() == [1, -1, 0]


def test_a_finite_design_is_distinct_and_repeatable():
    domain = as_domain({"n": Integer(1, 50)})
    X = domain.design(20, rng())
    assert len(set(domain.key(X))) == 20
    assert np.array_equal(X, domain.design(20, rng()))
    assert domain.design(99, rng()).shape == (50, 1)


def test_exposed_arrays_are_read_only():
    mixed, finite = Mixed.of(SPACE), as_domain({"n": Integer(1, 3)})
    table = Candidates([{"a": 1}, {"a": 2}])
    for array in (
        mixed.groups,
        mixed.real,
        finite.points,
        finite.groups,
        table.index,
        table.domain.points,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_grid_points_do_not_depend_on_how_many_there_are():
    parameter = Integer(1, 999, log=True)
    domain = grid(Mixed.of({"n": parameter}))
    singly = [domain.index_of(domain.encode({"n": n}))[0] for n in range(1, 1000)]
    assert singly == list(range(999))
