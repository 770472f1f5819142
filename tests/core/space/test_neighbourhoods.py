# SPDX-License-Identifier: Apache-2.0
"""Neighbours of several points at once, and what is kept of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.space import Mixed
from stopwise.core.space.parameters import Categorical, Integer, Real
from tests.support import strategies_space as strategies


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
