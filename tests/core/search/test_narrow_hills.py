# SPDX-License-Identifier: Apache-2.0
"""Starts beside and between observations: every gap and every wall is looked at."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.search.narrow_hills import narrow_starts
from stopwise.core.search.supremum import Search, supremum
from stopwise.core.space import Integer, Mixed, Real
from stopwise.core.space.domain import SAME
from tests.support.landscapes import box

SEEDS = st.integers(0, 2**32 - 1)


class Needle:
    """A hill of height 0 and a given width on a plain of -1."""

    scales, unit = None, 1.0

    def __init__(self, centre, width):
        self.centre, self.width, self.rows = np.asarray(centre, dtype=float), width, []

    def __call__(self, X):
        return self.with_gradient(X)[0]

    def with_gradient(self, X):
        self.rows.append(X.copy())
        gap = (X - self.centre) / self.width
        height = np.exp(-0.5 * np.sum(gap**2, axis=1))
        return height - 1.0, -gap / self.width * height[:, None]


@pytest.mark.parametrize("width", [0.2, 0.01, 1e-4])
def test_a_hill_as_narrow_as_its_interval_is_climbed(width):
    observed = np.array([[0.1], [0.4], [0.4 + width], [0.9]])
    needle = Needle([0.4 + 0.4 * width], 0.2 * width)
    assert supremum(needle, box(1), np.random.default_rng(0), observed=observed).value > -1e-6


def test_a_hill_as_narrow_as_its_triangle_is_climbed():
    corner = np.array([0.61, 0.33])
    observed = corner + 1e-4 * np.array([[0.0, 0.0], [1.0, 0.1], [0.3, 1.0]])
    needle = Needle(corner + 1e-4 * np.array([0.4, 0.4]), 2e-5)
    without = supremum(needle, box(2), np.random.default_rng(0))
    found = supremum(needle, box(2), np.random.default_rng(0), observed=observed)
    assert (without.value, found.value) == (pytest.approx(-1.0), pytest.approx(0.0, abs=1e-6))
    np.testing.assert_allclose(found.x, needle.centre, atol=1e-7)
    np.testing.assert_array_equal(found.peaks[0], found.x)
    assert found.restarts == len(found.peaks) == 10


@pytest.mark.parametrize("d", [1, 2])
def test_points_as_close_to_an_observation_as_may_be_are_looked_at(d):
    observed = np.full((1, d), 0.3)
    needle = Needle(observed[0] + SAME, 1e-3 * SAME)
    [start] = narrow_starts(needle, observed, 1)
    distance = np.abs(start - observed[0]).max()
    assert SAME < distance < SAME * (1.0 + 1e-6)


@given(SEEDS, st.integers(1, 2), st.integers(1, 40), st.sampled_from([1.0, 1e-3, 1e-6, 0.0]))
def test_whatever_was_observed_starts_are_inside_and_in_order(seed, d, n, size):
    draws = np.random.default_rng(seed)
    observed = np.clip(draws.random(d) + size * draws.standard_normal((n, d)), 0.0, 1.0)
    needle = Needle(draws.random(d), 0.3)
    starts = narrow_starts(needle, observed, 20)
    assert 1 <= len(starts) <= 20
    assert np.all((starts >= 0.0) & (starts <= 1.0))
    assert np.all(np.diff(needle(starts)) <= 0.0)


def test_observations_in_a_line_or_in_a_grid_make_triangles_too():
    line = np.stack([np.linspace(0.1, 0.9, 9), np.full(9, 0.5)], axis=1)
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 6), np.linspace(0, 1, 6)), -1).reshape(-1, 2)
    for observed in (line, grid, np.repeat(line, 3, axis=0)):
        assert len(narrow_starts(Needle([0.2, 0.7], 0.1), observed, 5)) == 5


@pytest.mark.parametrize("d", [1, 2])
def test_many_observations_are_not_all_looked_at(d):
    observed = np.random.default_rng(0).random((1000, d))
    needle = Needle(np.full(d, 0.5), 0.1)
    narrow_starts(needle, observed, 20)
    assert len(needle.rows[0]) < 6000


def test_the_answer_without_observations_is_kept_unless_a_narrow_hill_is_higher():
    needle = Needle([0.4, 0.6], 0.3)
    observed = np.random.default_rng(1).random((12, 2))
    without = supremum(needle, box(2), np.random.default_rng(0))
    found = supremum(needle, box(2), np.random.default_rng(0), observed=observed)
    assert found.value == without.value
    np.testing.assert_array_equal(found.peaks, without.peaks)


def test_a_search_may_leave_narrow_hills_out():
    observed = np.random.default_rng(1).random((12, 2))
    asked = []
    for among in (None, observed):
        needle = Needle([0.4, 0.6], 0.3)
        search = Search(narrow=False)
        supremum(needle, box(2), np.random.default_rng(0), observed=among, search=search)
        asked.append(np.vstack(needle.rows))
    np.testing.assert_array_equal(*asked)


@pytest.mark.parametrize(
    "domain", [box(3), Mixed.of({"x": Real(0, 1), "n": Integer(0, 200_000)})], ids=["box", "mixed"]
)
def test_in_other_domains_nothing_is_asked_of_observations(domain):
    asked = []
    for observed in (None, domain.sobol(9, np.random.default_rng(1))):
        needle = Needle(np.full(domain.width, 0.5), 0.3)
        supremum(needle, domain, np.random.default_rng(0), observed=observed)
        asked.append(np.vstack(needle.rows))
    np.testing.assert_array_equal(*asked)


def test_nothing_is_found_where_everything_is_excluded():
    class Nothing(Needle):
        def with_gradient(self, X):
            return np.full(len(X), -np.inf), np.zeros_like(X)

    observed = np.array([[0.2, 0.3]])
    found = supremum(Nothing([0.0, 0.0], 1.0), box(2), np.random.default_rng(0), observed=observed)
    assert found.x is None
    assert found.value == -np.inf


def test_where_the_screen_finds_only_excluded_points_a_gap_is_found():
    class Gap(Needle):
        def with_gradient(self, X):
            values, gradients = super().with_gradient(X)
            return np.where(np.abs(X[:, 0] - 0.5) < 1e-5, values, -np.inf), gradients

    observed = np.array([[0.5]])
    found = supremum(Gap([0.5], 1e-5), box(1), np.random.default_rng(0), observed=observed)
    assert found.value > -1e-3
