# SPDX-License-Identifier: Apache-2.0
"""Laws of the supremum: what enumeration and dense grids find, and how sure the search is."""

import itertools

import numpy as np
import pytest

from stopwise.acquisition import LogEIPC
from stopwise.core.beliefs.belief import Belief
from stopwise.core.beliefs.gp import Hyperparameters, condition
from stopwise.core.beliefs.prices import UnitCost
from stopwise.core.search.supremum import multistart
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Candidates, Categorical, Integer, Mixed, Real, as_domain
from stopwise.math import log_ei

D = 8
BOX = as_domain({f"x{i}": Real(0, 1) for i in range(D)})
MIXED_SPACE = {
    "r": Real(0, 1),
    "i": Integer(0, 6),
    "j": Integer(1, 5),
    "c": Categorical(list("abcd")),
}
DISCRETE_SPACE = {"i": Integer(0, 6), "j": Integer(1, 5), "c": Categorical(list("abcd"))}


def snapshot(domain, n, seed, *, pending=0):
    rng = np.random.default_rng(seed)
    X = domain.snap(rng.random((n, domain.width)))
    hyper = Hyperparameters(np.full(domain.d, 0.7), noise=1e-11)
    y = rng.standard_normal(n)
    posterior = condition(X, y, hyper, groups=domain.groups, interpolate=True)
    price = UnitCost().price(domain, X, y)
    running = domain.snap(rng.random((pending, domain.width)))
    return Snapshot(domain, X, y, Belief(posterior, price), running, seed=seed)


def enumerated(space):
    values = [p.choices if isinstance(p, Categorical) else range(p.low, p.high + 1)
              for p in space.values()]  # fmt: skip
    return [dict(zip(space, row, strict=True)) for row in itertools.product(*values)]


@pytest.mark.parametrize("seed", range(12))
def test_all_discrete_mixed_domains_give_what_enumeration_gives(seed):
    domain = Mixed.of(DISCRETE_SPACE)  # as_domain would enumerate it by itself
    now = snapshot(domain, 10, seed, pending=2)
    X = domain.encode(enumerated(DISCRETE_SPACE))
    values = LogEIPC().bind(now)(X)
    assert now.sup(LogEIPC()).value == pytest.approx(values.max(), abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_local_searches_alone_choose_the_point_that_enumeration_chooses(seed):
    # By its place among all: two of the ten points may be one, with different values, and the
    # scores of one point in different batches then differ by rounding, in the seventh digit.
    domain = Mixed.of(DISCRETE_SPACE)
    now = snapshot(domain, 10, seed, pending=2)
    score = LogEIPC().bind(now)
    X = domain.encode(enumerated(DISCRETE_SPACE))
    values = score(X)
    found = multistart(score, domain, np.random.default_rng(seed))
    [place] = np.flatnonzero((found.x == X).all(axis=1))
    assert values[place] == pytest.approx(values.max(), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_one_real_parameter_beside_discrete_ones_against_a_dense_grid(seed):
    domain = as_domain(MIXED_SPACE)
    now = snapshot(domain, 12, seed)
    rows = [
        {"r": float(r), **rest}
        for r in np.linspace(0, 1, 101)
        for rest in enumerated(DISCRETE_SPACE)
    ]
    best = LogEIPC().bind(now)(domain.encode(rows)).max()
    assert now.sup(LogEIPC()).value >= best - 1e-9


def test_a_finite_domain_is_exact_and_leaves_out_what_is_taken():
    rows = [{"a": i % 7, "b": i % 5} for i in range(70)]  # 35 configurations, each twice
    table = Candidates(rows)
    domain = table.domain
    assert len(domain) == 35
    rng = np.random.default_rng(0)
    chosen, running = domain.points[:10], domain.points[10:13]
    y = rng.standard_normal(10)
    hyper = Hyperparameters(np.full(2, 0.5), noise=1e-11)
    belief = Belief(
        condition(chosen, y, hyper, interpolate=True), UnitCost().price(domain, chosen, y)
    )
    now = Snapshot(domain, chosen, y, belief, running)
    free = domain.points[13:]
    mean, std = belief.objective(free)
    values = log_ei(mean, std, y.min())
    found = now.sup(LogEIPC())
    assert found.value == pytest.approx(values.max(), rel=1e-12)
    assert np.array_equal(found.x, free[np.argmax(values)])
    assert found.spread == 0.0
    everything = Snapshot(domain, domain.points, rng.standard_normal(35), belief, running)
    assert everything.sup(LogEIPC()).x is None
    assert everything.sup(LogEIPC()).value == -np.inf


def test_the_spread_of_the_restarts_is_returned():
    found = [snapshot(BOX, 40, seed).sup(LogEIPC()) for seed in range(6)]
    assert all(f.spread >= 0.0 and f.restarts >= 5 for f in found)
    assert any(f.spread > 1e-3 for f in found)  # hills of different height were climbed
