# SPDX-License-Identifier: Apache-2.0
"""Suprema: exact on tables, right on boxes, and honest about their evidence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stopwise.acquisition import PBGI, LogEIPC
from stopwise.core.beliefs.prices import KnownCost
from stopwise.core.search.supremum import Search, Supremum, supremum
from stopwise.core.space import Candidates
from tests.support.landscapes import box, hilly, matern_draw, snapshot_of, sum_of_sines
from tests.support.scores import Formula, hill, hills, polished

SEEDS = st.integers(0, 2**32 - 1)


def rng(seed=0):
    return np.random.default_rng(seed)


# ------------------------------------------------------------------------------- finite


def table(n=60, seed=0):
    """A table of two numbers and a category, three rows of it twice."""
    draws = rng(seed)
    rows = [
        {"a": float(a), "b": float(b), "c": "xyz"[i % 3]}
        for i, (a, b) in enumerate(draws.random((n, 2)))
    ]
    return Candidates(rows + rows[:3])


def table_snapshot(seed=0, n=12, pending=()):
    """A study that has seen some candidates of a table."""
    domain = table(seed=seed).domain
    seen = rng(seed).choice(len(domain), n, replace=False)
    X = domain.points[seen]
    snapshot = snapshot_of(
        domain, X, np.sin(5 * X[:, 0]) + X[:, 1] + X[:, 2], pending=domain.points[list(pending)]
    )
    return snapshot, seen


@given(SEEDS)
def test_a_table_is_searched_exactly(seed):
    snapshot, seen = table_snapshot(seed)
    found = snapshot.sup(LogEIPC())
    open_rows = np.setdiff1d(np.arange(len(snapshot.domain)), seen)
    scores = [LogEIPC().bind(snapshot)(snapshot.domain.points[[i]])[0] for i in open_rows]
    assert found.value == pytest.approx(max(scores), rel=1e-9)
    [chosen] = snapshot.domain.index_of(found.x[None, :])
    assert chosen == open_rows[np.argmax(scores)]
    assert (found.spread, found.restarts) == (0.0, 0)


def test_the_first_of_equals_is_chosen():
    domain = table().domain
    found = supremum(Formula(lambda X: (np.zeros(len(X)), np.zeros_like(X))), domain, rng())
    np.testing.assert_array_equal(found.x, domain.points[0])


def test_equal_rows_of_a_table_are_one_candidate():
    candidates = table()
    score = Formula(hill(0.5))
    supremum(score, candidates.domain, rng())
    assert [len(X) for X in score.seen] == [60]
    assert len(candidates.index) == 63


def test_an_evaluated_row_leaves_its_equals_out_too():
    rows = [{"a": 0.0}, {"a": 0.5}, {"a": 0.5}, {"a": 1.0}]
    domain = Candidates(rows).domain
    y = np.array([1.0, 0.0])
    snapshot = snapshot_of(domain, domain.points[[0, 1]], y)
    assert domain.params(domain.index_of(snapshot.sup(LogEIPC()).x[None])[0]) == {"a": 1.0}


@pytest.mark.parametrize("acquisition", [LogEIPC(), PBGI(1e-3)], ids=["logeipc", "pbgi"])
def test_evaluated_and_pending_candidates_are_left_out_until_none_is_left(acquisition):
    domain = Candidates([{"a": a} for a in np.linspace(0.0, 1.0, 8)]).domain
    seen, pending = [0, 7], []
    while True:
        X = domain.points[seen]
        snapshot = snapshot_of(domain, X, np.cos(7 * X[:, 0]), pending=domain.points[pending])
        found = snapshot.sup(acquisition)
        if found.x is None:
            break
        [chosen] = domain.index_of(found.x[None, :])
        assert chosen not in seen + pending
        (seen if len(pending) == 3 else pending).append(int(chosen))
    assert sorted(seen + pending) == list(range(8))
    assert found == Supremum(None, -np.inf)


def test_what_cannot_be_judged_is_left_out():
    domain = table().domain

    def function(X):
        values = X[:, 0].copy()
        values[[3, 5]] = np.nan
        return values, np.zeros_like(X)

    found = supremum(Formula(function), domain, rng())
    assert found.value == np.delete(domain.points[:, 0], [3, 5]).max()
    nothing = Formula(lambda X: (np.full(len(X), np.nan), np.zeros_like(X)))
    assert supremum(nothing, domain, rng()) == Supremum(None, -np.inf)
    assert supremum(nothing, box(2), rng()) == Supremum(None, -np.inf)


# ----------------------------------------------------------------------------- on a box


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("d", [1, 2])
def test_a_box_agrees_with_a_dense_grid(d, seed):
    function = (sum_of_sines if seed % 2 else matern_draw)(rng(seed), d)
    X = rng(seed).random((5 * d, d))
    snapshot = snapshot_of(box(d), X, function(X), seed=seed)
    score = LogEIPC().bind(snapshot)
    axes = [np.linspace(0.0, 1.0, 2001 if d == 1 else 81)] * d
    dense = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, d)
    best = dense[np.argsort(-score(dense))[:5]]
    wanted = max(polished(score, x, np.ones(d, dtype=bool)) for x in best)
    assert snapshot.sup(LogEIPC()).value >= wanted - 1e-7


def test_the_answer_is_what_the_score_says_and_inside():
    draws, function = hilly(3, 8)
    X = draws.random((40, 8))
    snapshot = snapshot_of(box(8), X, 100.0 * function(X))
    for acquisition in (LogEIPC(), PBGI(1.0)):
        found = snapshot.sup(acquisition)
        score = acquisition.bind(snapshot)
        assert score(found.x[None, :])[0] == pytest.approx(found.value, rel=1e-9)
        assert np.all((found.x >= 0.0) & (found.x <= 1.0))


def test_the_same_stream_gives_the_same_answer():
    draws, function = hilly(1, 4)
    X = draws.random((20, 4))
    first, second = (snapshot_of(box(4), X, function(X)).sup(LogEIPC()) for _ in range(2))
    np.testing.assert_array_equal(first.x, second.x)
    assert first.value == second.value


def test_a_start_on_a_hill_that_the_screen_cannot_see_is_climbed():
    # A needle of width 1e-3 in five dimensions beside a wide hill.
    needle = hill(np.full(5, 0.123), height=5.0, steepness=1e7)
    score = Formula(hills(hill(0.7), needle))
    without = supremum(score, box(5), rng())
    assert without.value == pytest.approx(0.0, abs=1e-6)
    start = np.full((1, 5), 0.1231)
    found = supremum(score, box(5), rng(), starts=start)
    assert found.value == pytest.approx(5.0, abs=1e-6)
    np.testing.assert_allclose(found.x, 0.123, atol=1e-5)


@given(SEEDS, st.integers(1, 4))
@settings(max_examples=25)
def test_never_worse_than_a_start(seed, d):
    draws = rng(seed)
    function = sum_of_sines(draws, d)

    def objective(X):  # no help from the gradient: it points anywhere
        return function(X), draws.standard_normal(X.shape)

    start = draws.random((3, d))
    found = supremum(
        Formula(objective), box(d), rng(seed), starts=start, search=Search(raw=1, restarts=1)
    )
    assert found.value >= function(start).max()


def test_starts_outside_the_cube_are_moved_inside():
    score = Formula(hill(np.array([1.0, 0.0])))
    found = supremum(
        score, box(2), rng(), starts=np.array([[7.0, -3.0]]), search=Search(raw=1, restarts=1)
    )
    np.testing.assert_array_equal(found.x, [1.0, 0.0])
    assert all(np.all((X >= 0.0) & (X <= 1.0)) for X in score.seen)


def test_neighbourhoods_of_good_points_are_screened():
    # A hill 0.02 wide in six dimensions: 512 points miss it, the neighbourhood does not.
    centre = np.full(6, 0.37)

    def function(X):
        gap = np.sum((X - centre) ** 2, axis=1)
        bump = np.exp(-0.5 * gap / 0.02**2)
        return bump, -(X - centre) / 0.02**2 * bump[:, None]

    assert supremum(Formula(function), box(6), rng()).value < 0.5
    near = centre[None, :] + 0.01
    assert supremum(Formula(function), box(6), rng(), near=near).value > 0.999


def test_everything_left_out_of_a_box():
    nothing = Formula(lambda X: (np.full(len(X), -np.inf), np.zeros_like(X)))
    near = np.full((2, 3), 0.5)
    found = supremum(nothing, box(3), rng(), near=near, starts=near)
    assert found == Supremum(None, -np.inf)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_tolerances_do_not_depend_on_the_unit(unit):
    def function(X):
        values, gradients = hills(hill(0.3), hill(0.8, height=0.1))(X)
        return unit * values, unit * gradients

    found = supremum(Formula(function, unit), box(3), rng())
    assert found.value / unit == pytest.approx(0.1, abs=1e-7)
    np.testing.assert_allclose(found.x, 0.8, atol=1e-3)
    assert found.spread / unit == pytest.approx(
        supremum(Formula(hills(hill(0.3), hill(0.8, height=0.1))), box(3), rng()).spread, abs=1e-6
    )


@pytest.mark.parametrize("best", [-1.0, -1e250])
def test_scores_far_beyond_the_unit_are_low_and_not_excluded(best):
    def function(X):
        values = np.where(X[:, 0] < 0.2, best, -1e299)
        return values, np.where(X < 0.2, 0.0, 1e299)

    found = supremum(Formula(function, unit=1e-31), box(1), rng())
    assert found.value == pytest.approx(max(best, -1e269))
    assert best < -1.0 or found.x[0] < 0.2


def test_a_known_cost_moves_the_supremum():
    draws, function = hilly(0, 3)
    X = draws.random((15, 3))
    y = function(X)
    dear = KnownCost(lambda params: float(np.exp(8.0 * params["x0"])))
    plain = snapshot_of(box(3), X, y).sup(LogEIPC())
    priced_snapshot = snapshot_of(box(3), X, y, cost=dear)
    priced = priced_snapshot.sup(LogEIPC())
    assert priced.x[0] < plain.x[0]
    assert priced.value > LogEIPC().bind(priced_snapshot)(plain.x[None, :])[0]


# --------------------------------------------------------------------------- the spread


def test_where_all_searches_agree_the_spread_is_nothing():
    found = supremum(Formula(hill(0.4)), box(6), rng())
    assert 0.0 <= found.spread < 1e-6
    assert found.restarts == 10


@pytest.mark.parametrize(("everywhere", "spread"), [(True, 0.0), (False, np.inf)])
def test_searches_that_agree_on_infinity_agree(everywhere, spread):
    def function(X):
        values = np.where((X[:, 0] < 0.01) | everywhere, np.inf, X[:, 0])
        return values, np.ones_like(X)

    near = np.full((1, 1), 0.005)
    found = supremum(Formula(function), box(1), rng(), near=near, starts=near)
    assert (found.value, found.spread) == (np.inf, spread)


def test_a_top_that_few_searches_find_shows_in_the_spread():
    # One in a thousand of the square leads to the higher top.
    rare = hill(np.array([0.02, 0.98]), height=1.0, steepness=1000.0)
    score = Formula(hills(rare, hill(0.4)))
    found = supremum(score, box(2), rng(), starts=np.array([[0.02, 0.97]]))
    assert found.value == pytest.approx(1.0, abs=1e-6)
    assert found.spread == pytest.approx(1.0, abs=0.02)


@given(SEEDS)
@settings(max_examples=25)
def test_the_spread_is_between_nothing_and_what_there_is(seed):
    draws = rng(seed)
    score = Formula(hills(*(hill(draws.random(3), draws.random()) for _ in range(4))))
    found = supremum(score, box(3), rng(seed))
    assert 0.0 <= found.spread <= 1.0
    assert 1 <= found.restarts <= 10


# -------------------------------------------------------------------------- degenerate


@pytest.mark.parametrize("d", [1, 50])
def test_one_and_fifty_dimensions(d):
    centre = np.linspace(0.1, 1.2, d)  # beyond the wall in some
    found = supremum(Formula(hill(centre)), box(d), rng())
    np.testing.assert_allclose(found.x, np.minimum(centre, 1.0), atol=1e-4)


@pytest.mark.parametrize("d", [1, 8, 50])
def test_one_observation(d):
    snapshot = snapshot_of(box(d), np.full((1, d), 0.5), np.array([3.0]))
    for acquisition in (LogEIPC(), PBGI(0.01)):
        found = snapshot.sup(acquisition)
        assert np.isfinite(found.value)
        assert np.abs(found.x - 0.5).max() > 0.1  # away from what is known
