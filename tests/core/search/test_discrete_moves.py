# SPDX-License-Identifier: Apache-2.0
"""Discrete moves: uphill only, to attainable points only, and never without an end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stopwise.core.search import discrete_moves
from stopwise.core.search.discrete_moves import improve_all, improve_best
from stopwise.core.search.supremum import multistart
from stopwise.core.space import Categorical, Integer, Mixed, Real
from stopwise.core.space.finite import grid
from tests.support.scores import Formula, two_hills

SEEDS = st.integers(0, 2**32 - 1)
DISCRETE = Mixed.of({"n": Integer(0, 4), "c": Categorical(["a", "b", "c"])})
WITH_REAL = Mixed.of({"x": Real(0, 1), "c": Categorical([0, 1])})


class Table:
    """A score that looks up each attainable point of a discrete domain."""

    scales, unit = None, 1.0

    def __init__(self, domain, values):
        self.points = grid(domain)
        self.values = values

    def __call__(self, X):
        return self.values[self.points.index_of(X)]

    def with_gradient(self, X):
        return self(X), np.zeros_like(X)


class Drifting(Table):
    """A score that is larger each time it is asked: every move seems to gain."""

    def __init__(self, domain):
        super().__init__(domain, np.zeros(domain.n_discrete))
        self.asked = 0

    def __call__(self, X):
        self.asked += 1
        return super().__call__(X) + self.asked


def start(domain, score, row=0):
    X = grid(domain).points[[row]].copy()
    return X, score(X)


@given(SEEDS)
@settings(max_examples=50)
def test_moves_end_where_no_neighbour_is_better(seed):
    score = Table(DISCRETE, np.random.default_rng(seed).standard_normal(15))
    X, values = improve_all(score, DISCRETE, *start(DISCRETE, score))
    assert values[0] == score(X)[0] >= score(DISCRETE.neighbours(X[0])).max()


@given(SEEDS)
@settings(max_examples=50)
def test_no_point_becomes_worse(seed):
    draws = np.random.default_rng(seed)
    score = Table(DISCRETE, draws.standard_normal(15))
    X = grid(DISCRETE).points[draws.integers(0, 15, 6)]
    before = score(X)
    _, values = improve_all(score, DISCRETE, X.copy(), before.copy())
    assert (values >= before).all()


def test_excluded_neighbours_are_not_entered():
    values = np.full(15, -np.inf)
    values[[0, 1]], values[2] = [0.0, 1.0], np.nan
    score = Table(DISCRETE, values)
    X, found = improve_all(score, DISCRETE, *start(DISCRETE, score))
    assert (DISCRETE.decode(X), found[0]) == ([{"n": 0, "c": "b"}], 1.0)


def test_all_neighbours_excluded():
    values = np.full(15, -np.inf)
    values[0] = 0.0
    score = Table(DISCRETE, values)
    [x], [value] = start(DISCRETE, score)
    there, there_value = improve_best(score, DISCRETE, x, value)
    np.testing.assert_array_equal(there, x)
    assert there_value == 0.0


def test_neighbours_of_the_best_point_climb_before_they_are_judged():
    score, begin = Formula(two_hills), np.array([[0.2, 1.0, 0.0]])
    X, values = improve_all(score, WITH_REAL, begin.copy(), score(begin))
    np.testing.assert_array_equal(X, begin)  # c = 1 is a valley where x is now
    x, value = improve_best(score, WITH_REAL, X[0], float(values[0]))
    assert value == pytest.approx(0.5, abs=1e-9)
    np.testing.assert_allclose(x, [0.9, 0.0, 1.0], atol=1e-5)


@pytest.mark.parametrize("rounds", [1, 4])
def test_the_number_of_rounds_is_bounded(monkeypatch, rounds):
    monkeypatch.setattr(discrete_moves, "_ROUNDS", rounds)
    score = Drifting(DISCRETE)
    improve_all(score, DISCRETE, *start(DISCRETE, score))
    assert score.asked == 1 + 2 * rounds  # neighbours, then the continuous search
    score = Drifting(DISCRETE)
    [x], [value] = start(DISCRETE, score)
    improve_best(score, DISCRETE, x, value)
    assert score.asked == 1 + rounds * (2 + 2 * rounds)


def test_a_search_by_moves_reports_its_evidence():
    domain = Mixed.of({"n": Integer(0, 3), "c": Categorical(["a", "b"])})
    values = np.full(8, -np.inf)
    values[7] = 3.0
    score = Table(domain, values)
    found = multistart(score, domain, np.random.default_rng(0))
    assert (found.value, found.spread, found.restarts) == (3.0, 0.0, 1)
