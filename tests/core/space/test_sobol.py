# SPDX-License-Identifier: Apache-2.0
"""Sobol points: those of scipy, attainable, even, and repeatable."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import qmc

from stopwise.core.space import Categorical, Integer, Mixed, Real
from stopwise.core.space._joe_kuo import DIMENSIONS, direction_numbers
from stopwise.core.space._sobol import _directions_of_scipy, sobol_block
from tests.support import strategies_space as strategies
from tests.support.spaces import SPACE


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("m", [0, 1, 5, 12])
def test_direction_numbers_are_those_of_scipy(m):
    np.testing.assert_array_equal(
        direction_numbers(DIMENSIONS, m), _directions_of_scipy(DIMENSIONS, m)
    )


@pytest.mark.parametrize("d", [1, 2, 8, DIMENSIONS, DIMENSIONS + 1])
@pytest.mark.parametrize("m", [0, 1, 5, 9])
def test_sobol_points_are_those_of_scipy(d, m):
    ours, theirs = rng(d + m), rng(d + m)
    expected = qmc.Sobol(d, scramble=True, seed=theirs).random_base2(m)
    np.testing.assert_array_equal(sobol_block(d, m, ours), expected)
    assert ours.random() == theirs.random()  # and the stream goes on as if scipy had drawn


@given(strategies.spaces(), st.integers(0, 20), st.integers(0, 9))
def test_sobol_points_are_attainable_and_repeatable(space, n, seed):
    domain = Mixed.of(space)
    X = domain.sobol(n, rng(seed))
    assert X.shape == (n, domain.width)
    assert np.array_equal(domain.snap(X), X)
    assert np.array_equal(domain.sobol(n, rng(seed)), X)


def test_sobol_fills_bins_equally_and_does_not_warn():
    parameters = {f"c{k}": Categorical(range(4)) for k in range(30)}
    domain = Mixed.of({**parameters, **{f"n{k}": Integer(0, 7) for k in range(30)}})
    X = domain.sobol(64, rng())
    assert (X[:, ~np.isin(domain.groups, range(30, 60))].sum(axis=0) == 16).all()
    for column in X[:, domain.groups >= 30].T:
        assert np.unique(column, return_counts=True)[1].tolist() == [8] * 8
    domain.sobol(37, rng())


def test_sobol_spreads_log_integers_by_ratio():
    domain = Mixed.of({"x": Real(0, 1), "n": Integer(1, 10**6, log=True)})
    drawn = [params["n"] for params in domain.decode(domain.sobol(1024, rng()))]
    assert 700 < np.median(drawn) < 1000  # sqrt(0.5 * 10^6) = 707
    assert min(drawn) == 1


def test_another_seed_scrambles_differently():
    domain = Mixed.of(SPACE)
    assert not np.array_equal(domain.sobol(8, rng(0)), domain.sobol(8, rng(1)))
