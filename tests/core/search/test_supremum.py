# SPDX-License-Identifier: Apache-2.0
"""Suprema: exact on tables, right on boxes and mixed domains, and honest about their evidence."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from stopwise.acquisition import PBGI, LogEIPC
from stopwise.core.beliefs.prices import KnownCost
from stopwise.core.search.supremum import Search, Supremum, multistart, supremum
from stopwise.core.space import Candidates, Categorical, Finite, Integer, Mixed, Real, as_domain
from stopwise.core.space.finite import grid
from tests.support.landscapes import Tilted, box, hilly, matern_draw, snapshot_of, sum_of_sines

SEEDS = st.integers(0, 2**32 - 1)


def rng(seed=0):
    return np.random.default_rng(seed)


class Formula:
    """A score from a function X -> (values, gradients), which notes all it is asked."""

    scales = None
    starts = None

    def __init__(self, function, unit=1.0):
        self.function, self.unit, self.seen = function, unit, []

    def __call__(self, X):
        return self.with_gradient(X)[0]

    def with_gradient(self, X):
        self.seen.append(X.copy())
        return self.function(X)


class Watched:
    """A score of ours, which notes all it is asked."""

    def __init__(self, score):
        self.score, self.seen = score, []
        self.scales, self.unit = score.scales, score.unit

    def __call__(self, X):
        self.seen.append(X.copy())
        return self.score(X)

    def with_gradient(self, X):
        self.seen.append(X.copy())
        return self.score.with_gradient(X)


def hill(centre, height=0.0, steepness=10.0):
    """One top, at ``centre``."""

    def function(X):
        return height - steepness * np.sum((X - centre) ** 2, axis=1), -2 * steepness * (
            X - centre
        )

    return function


def hills(*tops):
    """The higher of several hills, everywhere."""

    def function(X):
        values, gradients = zip(*(top(X) for top in tops), strict=True)
        which = np.argmax(values, axis=0)
        return np.max(values, axis=0), np.array(gradients)[which, np.arange(len(X))]

    return function


def polished(score, x, free):
    """The top of the hill that x stands on, along the free columns, by scipy."""
    columns = np.flatnonzero(free)

    def downhill(part):
        full = x.copy()
        full[columns] = part
        values, gradients = score.with_gradient(full[None, :])
        return -values[0], -gradients[0, columns]

    bounds = [(0.0, 1.0)] * len(columns)
    options = {"ftol": 1e-15, "gtol": 1e-10}
    return -minimize(downhill, x[columns], jac=True, bounds=bounds, options=options).fun


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


# ---------------------------------------------------------------------- mixed domains

SPACE = {
    "x": Real(0, 1),
    "y": Real(1e-3, 10, log=True),
    "n": Integer(-3, 12),
    "m": Integer(1, 1000, log=True),
    "act": Categorical(["relu", "tanh", "gelu"]),
    "bias": Categorical([True, False]),
}


def mixed_snapshot(domain, seed=0, n=25, **options):
    """A study of a function of the encoded columns."""
    X = domain.sobol(n, rng(seed))
    function = (sum_of_sines if seed % 2 else matern_draw)(rng(seed), domain.width)
    return snapshot_of(domain, X, function(X), seed=seed, **options)


@pytest.mark.parametrize("seed", range(4))
def test_only_attainable_points_are_scored(seed):
    domain = Mixed.of(SPACE)
    snapshot = mixed_snapshot(domain, seed)
    score = Watched(LogEIPC().bind(snapshot))
    starts = domain.sobol(3, rng(seed)) + 0.04  # none of them attainable
    found = supremum(score, domain, rng(seed), near=snapshot.X[:3], starts=starts)
    seen = np.vstack(score.seen)
    np.testing.assert_array_equal(seen, domain.snap(seen))
    np.testing.assert_array_equal(found.x, domain.snap(found.x[None, :])[0])
    assert len(np.unique(seen[:, ~domain.real], axis=0)) > 100  # and it did look around


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("search", [supremum, multistart])
def test_a_discrete_domain_agrees_with_its_enumeration(seed, search):
    domain = Mixed.of(
        {
            "n": Integer(0, 6),
            "m": Integer(1, 9, log=True),
            "a": Categorical(["p", "q", "r"]),
            "b": Categorical([1, 2, 3]),
        }
    )
    snapshot = mixed_snapshot(domain, seed)
    all_points = grid(domain).points  # 567
    score = LogEIPC().bind(snapshot)
    found = search(score, domain, rng(seed), near=snapshot.X[:5])
    assert found.value == pytest.approx(score(all_points).max(), abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_a_mixed_domain_agrees_with_a_dense_grid(seed):
    domain = Mixed.of({"x": Real(0, 1), "n": Integer(0, 5), "c": Categorical(["a", "b", "c"])})
    snapshot = mixed_snapshot(domain, seed, n=15)
    score = LogEIPC().bind(snapshot)
    wanted = -np.inf
    for n, c in itertools.product(np.linspace(0.0, 1.0, 6), np.eye(3)):
        dense = np.array([[x, n, *c] for x in np.linspace(0.0, 1.0, 201)])
        best = dense[np.argmax(score(dense))]
        wanted = max(wanted, polished(score, best, domain.real))
    assert snapshot.sup(LogEIPC()).value == pytest.approx(wanted, abs=1e-7)


def test_the_supremum_of_a_grid_is_not_that_of_its_relaxation():
    space = {"n": Integer(0, 5), "m": Integer(0, 5)}
    finite, mixed = as_domain(space), Mixed.of(space)
    assert isinstance(finite, Finite)
    promised = []
    for seed in range(10):
        X = mixed.sobol(8, rng(seed))
        y = sum_of_sines(rng(seed), 2)(X)
        relaxed, exact, searched = (
            snapshot_of(domain, X, y, seed=seed).sup(LogEIPC()).value
            for domain in (box(2), finite, mixed)
        )
        assert searched == pytest.approx(exact, abs=1e-9)
        promised.append(relaxed - exact)
    assert max(promised) > 0.5  # the relaxation promises what nobody can have
    assert min(promised) > -1e-9


def test_a_move_that_pays_only_once_the_others_have_followed():
    # At c = 0 the top is at x = 0.2; at c = 1 it is higher, but at x = 0.9, and a valley is
    # where x stands now.
    domain = Mixed.of({"x": Real(0, 1), "c": Categorical([0, 1])})

    def function(X):
        second = X[:, 2] > 0.5
        centre, height = np.where(second, 0.9, 0.2), np.where(second, 0.5, 0.0)
        gradients = np.zeros_like(X)
        gradients[:, 0] = -20.0 * (X[:, 0] - centre)
        return height - 10.0 * (X[:, 0] - centre) ** 2, gradients

    start = np.array([[0.2, 1.0, 0.0]])
    search = Search(raw=1, restarts=1)
    for seed in range(10):  # wherever the one raw point lies
        found = supremum(Formula(function), domain, rng(seed), starts=start, search=search)
        assert found.value == pytest.approx(0.5, abs=1e-9)


def test_mixed_spread_and_exclusion():
    domain = Mixed.of({"n": Integer(0, 3), "c": Categorical(["a", "b"])})
    points = grid(domain).points
    y = np.arange(8.0)
    snapshot = snapshot_of(domain, points[:6], y[:6], pending=points[6:7])
    found = snapshot.sup(LogEIPC())
    np.testing.assert_array_equal(found.x, points[7])
    assert (found.spread, found.restarts) == (0.0, 0)
    assert snapshot_of(domain, points, y).sup(LogEIPC()) == Supremum(None, -np.inf)


def test_a_small_discrete_domain_is_enumerated_however_it_was_made():
    space = {"n": Integer(0, 5), "c": Categorical(["a", "b"])}
    mixed, finite = Formula(hill(0.3)), Formula(hill(0.3))
    found = supremum(mixed, Mixed.of(space), rng())
    exact = supremum(finite, as_domain(space), rng())
    np.testing.assert_array_equal(found.x, exact.x)
    assert (found.value, found.restarts) == (exact.value, 0)
    np.testing.assert_array_equal(mixed.seen, finite.seen)  # once, every point


def test_integers_with_very_many_values():
    domain = Mixed.of({"n": Integer(1, 10**6), "m": Integer(0, 10**6)})
    target = domain.encode({"n": 123_456, "m": 654_321})[0]
    found = supremum(Formula(hill(target, steepness=1e5)), domain, rng())
    assert domain.decode(found.x[None, :]) == [{"n": 123_456, "m": 654_321}]


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


@pytest.mark.parametrize(
    "space",
    [
        {"x": Real(0, 1), "c": Categorical(["only"])},
        {"c": Categorical(["only"]), "x": Real(0, 1), "d": Categorical(["one"])},
        {"x": Real(0, 1), "c": Categorical(["only"]), "n": Integer(0, 2)},
    ],
)
def test_a_category_of_one_choice(space):
    domain = Mixed.of(space)
    snapshot = mixed_snapshot(domain, n=5)
    found = snapshot.sup(LogEIPC())
    score = LogEIPC().bind(snapshot)
    raw = domain.sobol(256, rng())
    assert found.value >= score(raw).max()
    assert domain.decode(found.x[None, :])[0]["c"] == "only"


@pytest.mark.parametrize("search", [Search(restarts=1), Search(raw=1), Search(1, 1), Search(3, 7)])
@pytest.mark.parametrize("domain", [box(3), Mixed.of(SPACE)], ids=["box", "mixed"])
def test_little_search_is_still_a_search(domain, search):
    snapshot = mixed_snapshot(domain, search=search)
    found = snapshot.sup(LogEIPC())
    assert 1 <= found.restarts <= search.restarts
    assert found.value >= LogEIPC().bind(snapshot)(domain.sobol(1, snapshot.rng("supremum"))).max()
    assert found.spread >= 0.0


# ------------------------------------------------------------------------- the Lemma


def lemma_problem(number, hypers):
    """Thirty observations in eight dimensions; prices vary over the box in half of them."""
    draws = rng(number)
    kind = number % len(hypers)
    function = (sum_of_sines if kind % 2 else matern_draw)(draws, 8)
    X = draws.random((30, 8))
    cost = Tilted(draws.normal(0.0, 1.0, 8)) if number % 8 >= 4 else None
    return snapshot_of(box(8), X, function(X), hyper=hypers[kind], cost=cost, seed=number), draws


@pytest.fixture(scope="module")
def hypers():
    """Four fitted sets of hyper-parameters: fitting is not what is tested here."""
    found = []
    for seed in range(4):
        draws, function = hilly(seed, 8)
        X = draws.random((60, 8))
        found.append(snapshot_of(box(8), X, function(X)).belief.objective.hyper)
    return found


def test_pbgi_starts_from_the_argmax_of_logeipc(hypers):
    snapshot, _ = lemma_problem(0, hypers)
    starts = PBGI(1.0).bind(snapshot).starts
    np.testing.assert_array_equal(starts, snapshot.sup(LogEIPC()).x[None, :])


@pytest.mark.parametrize("luck", ["equal", "unequal"])
def test_the_choice_of_pbgi_is_worth_its_price_wherever_any_point_is(hypers, luck):
    for number in range(100) if luck == "equal" else range(100, 200):
        snapshot, draws = lemma_problem(number, hypers)
        best = snapshot.sup(LogEIPC())
        if luck == "unequal":  # the second search looks almost nowhere
            snapshot = replace(snapshot, seed=number + 1, search=Search(1, 1))
            snapshot.once(("sup", LogEIPC()), lambda best=best: best)
        lam = float(np.exp(best.value) * (draws.uniform(0.3, 1.0) if number % 2 else 0.999999))
        chosen = snapshot.sup(PBGI(lam)).x
        [at_chosen] = LogEIPC().bind(snapshot)(chosen[None, :])
        assert at_chosen >= np.log(lam) - 1e-9, number


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
