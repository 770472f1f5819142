# SPDX-License-Identifier: Apache-2.0
"""A loop of your own from public names: domain, posterior, belief, snapshot, supremum."""

import numpy as np
import pytest

import stopwise as sw
from stopwise.acquisition import LogEIPC, Score, Search, Snapshot, Supremum, supremum
from stopwise.stopping import PBGI, Trace


def snapshot_of(domain, X):
    y = ((X - 0.3) ** 2).sum(axis=1)
    posterior = sw.beliefs.fit_posterior(X, y, groups=domain.groups, noise=1e-6, interpolate=True)
    price = sw.beliefs.UnitCost().price(domain, X, np.ones(len(X)))
    return Snapshot(domain, X, y, sw.beliefs.Belief(posterior, price), X[:0], initial=len(X))


def test_a_choice_and_a_verdict_on_a_box():
    domain = sw.space.as_domain({"a": sw.Real(0.0, 1.0), "b": sw.Real(0.0, 1.0)})
    snapshot = snapshot_of(domain, np.random.default_rng(0).random((8, 2)))
    best = snapshot.sup(LogEIPC())
    assert isinstance(best, Supremum)
    screened = LogEIPC().bind(snapshot)(np.random.default_rng(1).random((500, 2)))
    assert best.value >= screened.max()
    rule = PBGI(lam=2.0 * np.exp(best.value))
    assert rule.verdict(Trace.of((rule.signal(snapshot),))).stop


def test_the_supremum_of_a_table_is_that_of_its_rows():
    rows = [{"x": x} for x in np.linspace(0.0, 1.0, 31).tolist()]
    domain = sw.Candidates(rows, space={"x": sw.Real(0.0, 1.0)}).domain
    assert isinstance(domain, sw.space.Finite)
    snapshot = snapshot_of(domain, domain.points[[0, 10, 30]])
    scores = LogEIPC().bind(snapshot)(domain.points)
    np.testing.assert_array_equal(snapshot.sup(LogEIPC()).x, domain.points[np.argmax(scores)])


class Bowl:
    """A score with its highest value, 0, at 0.25 in every column."""

    scales = None
    unit = 1.0

    def __call__(self, X):
        return -((X - 0.25) ** 2).sum(axis=1)

    def with_gradient(self, X):
        return self(X), -2.0 * (X - 0.25)


@pytest.mark.parametrize("d", [1, 3])
def test_a_score_of_ones_own_is_maximised(d):
    score: Score = Bowl()
    domain = sw.space.as_domain({f"x{i}": sw.Real(0.0, 1.0) for i in range(d)})
    best = supremum(score, domain, np.random.default_rng(0), search=Search(raw=64, restarts=4))
    np.testing.assert_allclose(best.x, 0.25, atol=1e-5)
    assert best.restarts == 4


def test_a_drawn_function_is_one_function():
    prior = sw.beliefs.condition(
        np.empty((0, 1)), np.empty(0), sw.beliefs.Hyperparameters(np.array([0.2]))
    )
    path = sw.beliefs.sample_paths(prior, np.random.default_rng(0), 1)
    assert isinstance(path, sw.beliefs.Paths)
    X = np.random.default_rng(1).random((5, 1))
    np.testing.assert_array_equal(path(X), path(X))
