# SPDX-License-Identifier: Apache-2.0
"""Suprema on mixed domains: of attainable points only, and no lower than those of dense grids."""

import itertools

import numpy as np
import pytest

from stopwise.acquisition import PBGI, LogEIPC
from stopwise.core.search.supremum import Search, Supremum, multistart, supremum
from stopwise.core.space import Categorical, Finite, Integer, Mixed, Real, as_domain
from stopwise.core.space.finite import grid
from tests.support.landscapes import box, matern_draw, snapshot_of, sum_of_sines
from tests.support.scores import Formula, Watched, hill, polished, two_hills


def rng(seed=0):
    return np.random.default_rng(seed)


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


@pytest.mark.parametrize("acquisition", [LogEIPC(), PBGI(0.1)], ids=["logeipc", "pbgi"])
@pytest.mark.parametrize("seed", range(2))
def test_only_attainable_points_are_scored(seed, acquisition):
    domain = Mixed.of(SPACE)
    snapshot = mixed_snapshot(domain, seed)
    score = Watched(acquisition.bind(snapshot))
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
    domain = Mixed.of({"x": Real(0, 1), "c": Categorical([0, 1])})
    start = np.array([[0.2, 1.0, 0.0]])
    search = Search(raw=1, restarts=1)
    for seed in range(10):  # wherever the one raw point lies
        found = supremum(Formula(two_hills), domain, rng(seed), starts=start, search=search)
        assert found.value == pytest.approx(0.5, abs=1e-9)


def test_an_enumerated_domain_has_no_spread_and_leaves_out_what_is_taken():
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
