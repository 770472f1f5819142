# SPDX-License-Identifier: Apache-2.0
"""The screen: high points, far from each other, each once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.search.screen import screen, spread_out
from tests.support.landscapes import box

SEEDS = st.integers(0, 2**32 - 1)


class Ridge:
    """Larger to the right; nan in the upper half of the square and excluded near the wall."""

    scales, unit = None, 1.0

    def __call__(self, X):
        values = X[:, 0].copy()
        values[X[:, 1] > 0.5] = np.nan
        values[X[:, 0] > 0.9] = -np.inf
        return values

    def with_gradient(self, X):
        return self(X), np.zeros_like(X)


def screened(near=(), count=40):
    near = np.array(near).reshape(-1, 2)
    rng = np.random.default_rng(0)
    return screen(Ridge(), box(2), rng, near=near, samples=256, count=count)


def test_points_without_a_value_and_excluded_points_are_no_starts():
    starts = screened()
    assert len(starts) == 40
    assert (starts[:, 1] <= 0.5).all()
    assert (starts[:, 0] <= 0.9).all()


def test_the_best_point_comes_first():
    starts = screened(count=8)
    assert starts[0, 0] == screened(count=1000)[:, 0].max()


def test_neighbourhoods_are_sampled_beside_the_sobol_points():
    near = np.array([0.85, 0.25])
    close = [np.abs(starts - near).max(axis=1).min() for starts in (screened(), screened([near]))]
    assert close[1] < close[0]
    assert len(screened([near], count=1000)) > len(screened(count=1000))


def test_two_hills_come_before_two_points_of_one_hill():
    X = np.array([[0.1, 0.1], [0.12, 0.1], [0.9, 0.9]])
    np.testing.assert_array_equal(spread_out(X, np.array([3.0, 2.0, 1.0]), 2), [0, 2])
    np.testing.assert_array_equal(spread_out(X, np.array([3.0, 2.0, 1.0]), 3), [0, 2, 1])


def test_equal_points_are_chosen_once():
    X = np.repeat([[0.2, 0.2], [0.7, 0.3]], 5, axis=0)
    chosen = spread_out(X, np.arange(10.0), 10)
    np.testing.assert_array_equal(chosen, [9, 4])


@given(SEEDS, st.integers(1, 5), st.integers(0, 30), st.integers(1, 30))
def test_as_many_as_asked_for_where_there_are_as_many(seed, d, n, count):
    draws = np.random.default_rng(seed)
    X, values = draws.random((n, d)), draws.standard_normal(n)
    chosen = spread_out(X, values, count)
    assert len(set(chosen.tolist())) == len(chosen) == min(n, count)
    if n:
        assert chosen[0] == np.argmax(values)


def test_a_point_near_a_better_one_waits_for_the_radius_to_shrink():
    radius = 0.25 * np.sqrt(2)  # the first one, in two dimensions
    X = np.array([[0.0, 0.0], [0.9 * radius, 0.0], [0.0, 1.1 * radius]])
    assert spread_out(X, np.array([3.0, 2.0, 1.0]), 3).tolist() == [0, 2, 1]
