# SPDX-License-Identifier: Apache-2.0
"""Starts late in a run: between observations, beside the best at their walls, in other corners."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.acquisition import LogEIPC
from stopwise.core.search.late_hills import late_starts
from stopwise.core.search.supremum import supremum
from tests.support.landscapes import Tilted, box, snapshot_of

D = 6


class Needles:
    """Narrow hills of height 0 on a plain that rises a little towards 0; it says if it is late."""

    scales, unit = np.full(D, 0.5), 1.0

    def __init__(self, *centres, width=0.002, late=True):
        self.centres, self.width, self.late, self.asked = np.array(centres), width, late, []

    def is_late(self, x, value):
        self.asked.append((x, value))
        return self.late

    def __call__(self, X):
        return self.with_gradient(X)[0]

    def with_gradient(self, X):
        gaps = (X[:, None, :] - self.centres) / self.width
        heights = np.exp(-0.5 * np.sum(gaps**2, axis=2))
        slopes = np.sum(-gaps / self.width * heights[:, :, None], axis=1)
        return heights.sum(axis=1) - 1.0 - 0.01 * X.sum(axis=1), slopes - 0.01


def found(needles, observed, seed=0):
    rng = np.random.default_rng(seed)
    return supremum(needles, box(D), rng, near=observed[:1], observed=observed)


def observations(seed, count=40):
    return np.random.default_rng(seed).uniform(0.2, 0.8, (count, D))


@pytest.mark.parametrize(("i", "j"), [(3, 17), (0, 1)])
def test_a_hill_between_two_good_observations_is_found_if_it_is_late(i, j):
    observed = observations(1)
    middle = 0.5 * (observed[i] + observed[j])
    assert found(Needles(middle, late=False), observed).value < -0.0099
    assert found(Needles(middle), observed).value > -0.05
    np.testing.assert_allclose(found(Needles(middle), observed).x, middle, atol=1e-3)


def test_a_hill_between_neighbours_that_are_not_among_the_best_is_found():
    observed = observations(2, 60)
    observed[50] = observed[45] + 0.01
    middle = 0.5 * (observed[50] + observed[45])
    assert found(Needles(middle), observed).value > -0.05


def test_points_between_and_beside_observations_keep_to_their_walls():
    observed = observations(3)
    observed[:, :3] = 0.0, 1.0, 0.0
    peaks = np.full((1, D), 0.5)
    starts = late_starts(
        Needles(observed[0]), np.random.default_rng(0), peaks=peaks, observed=observed, count=10
    )
    np.testing.assert_array_equal(starts[0], peaks[0])
    at_walls = np.all(starts[1:, :3] == observed[0, :3], axis=1)
    corners = np.all(np.isin(starts[1:], [0.0, 0.5, 1.0]), axis=1)
    assert np.all(at_walls | corners)
    assert at_walls.sum() >= 20
    assert corners.sum() == 10


def test_other_corners_have_one_parameter_at_the_other_wall():
    peaks, observed = np.zeros((2, D)), observations(4, 2)
    needles = Needles(np.eye(D)[2], width=0.3)
    starts = late_starts(
        needles, np.random.default_rng(0), peaks=peaks, observed=observed, count=3
    )
    assert np.eye(D)[2].tolist() in starts.tolist()


@given(seed=st.integers(0, 2**32 - 1))
def test_looking_again_never_finds_less(seed):
    observed = observations(seed)
    centre = np.random.default_rng(seed).random(D)
    once = found(Needles(centre, width=0.1, late=False), observed, seed)
    twice = found(Needles(centre, width=0.1), observed, seed)
    assert twice.value >= once.value
    if twice.value == once.value:
        np.testing.assert_array_equal(twice.x, once.x)


def test_excluded_points_are_no_starts():
    class Barred(Needles):
        def __call__(self, X):
            return np.where(X[:, 0] > 0.5, np.nan, super().__call__(X))

    starts = late_starts(
        Barred(np.zeros(D)),
        np.random.default_rng(0),
        peaks=np.zeros((1, D)),
        observed=observations(5),
        count=10,
    )
    assert np.all(starts[:, 0] <= 0.5)


def test_it_is_late_when_the_best_gain_is_a_hundredth_of_the_spread_of_values():
    rng = np.random.default_rng(0)
    X, slopes = rng.random((12, D)), np.linspace(-1.0, 1.0, D)
    snapshot = snapshot_of(box(D), X, 100.0 * X.sum(axis=1), cost=Tilted(slopes))
    score, x = LogEIPC().bind(snapshot), rng.random(D)
    limit = np.log(0.01 * snapshot.belief.objective.unit) - x @ slopes
    assert score.is_late(x, limit - 1e-9)
    assert not score.is_late(x, limit + 1e-9)
