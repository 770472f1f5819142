# SPDX-License-Identifier: Apache-2.0
"""Suprema on conditional and constrained domains: attainable, allowed, and the largest."""

import numpy as np
import pytest

from stopwise.acquisition import LogEIPC
from stopwise.core.search.restriction import restricted, restricted_score
from stopwise.core.search.supremum import multistart
from stopwise.core.space import Categorical, Integer, Mixed, Real, as_domain
from stopwise.core.space.constraints import checked_constraints
from tests.support.landscapes import snapshot_of

TREE = {
    "kind": Categorical(["a", "b", "c"]),
    "x": Real(0, 1),
    "u": Real(0, 1, when={"kind": ["b", "c"]}),
    "n": Integer(1, 5, when={"kind": ["c"]}),
}


def height(params):
    """Highest in the third branch, whose parameters must be filled in to see it."""
    value = -((params["x"] - 0.3) ** 2)
    if params["kind"] == "a":
        return value - 0.2
    value -= (params["u"] - 0.8) ** 2
    return value - 0.1 if params["kind"] == "b" else value - 0.05 * (params["n"] - 4) ** 2


class Height:
    """A score of params, with gradients by central differences; it refuses what is forbidden."""

    scales, starts, unit = None, None, 1.0

    def __init__(self, domain, forbidden=lambda _: False):
        self.domain, self.forbidden, self.seen = domain, forbidden, []

    def __call__(self, X):
        rows = self.domain.decode(X)
        assert not any(map(self.forbidden, rows))
        self.seen += rows
        return np.array([height(row) for row in rows])

    def with_gradient(self, X):
        gradient = np.zeros(X.shape)
        free = Mixed.of(TREE)
        for column in np.flatnonzero(free.real):
            step = np.zeros(X.shape[1])
            step[column] = 1e-6
            up, down = (
                np.array([height(row) for row in free.decode(X + sign * step)]) for sign in (1, -1)
            )
            gradient[:, column] = (up - down) / 2e-6
        return self(X), gradient + 1e-3 * ~free.moving(X)  # a slope where there is none


def test_the_best_branch_is_found_with_its_parameters():
    domain = as_domain(TREE)
    best = multistart(Height(domain), domain, np.random.default_rng(0))
    [params] = domain.decode(best.x[None, :])
    assert (params["kind"], params["n"]) == ("c", 4)
    assert best.value == pytest.approx(0.0, abs=1e-7)
    assert np.array_equal(domain.snap(best.x[None, :])[0], best.x)
    assert all(np.array_equal(domain.snap(peak[None, :])[0], peak) for peak in best.peaks)


@pytest.mark.parametrize(
    ("constraint", "forbidden", "value"),
    [
        ("x + u <= 0.6", lambda p: p.get("u", 0.0) + p["x"] > 0.6 and "u" in p, -0.125),
        ("kind != 'c'", lambda p: p["kind"] == "c", -0.1),
        ("kind == 'c' and n < 3", lambda p: p["kind"] == "c" and p["n"] > 2, -0.1),
    ],
)
def test_only_what_is_allowed_is_ever_scored(constraint, forbidden, value):
    domain = as_domain(TREE, checked_constraints(constraint))
    score = Height(domain, forbidden)
    best = multistart(score, domain, np.random.default_rng(0))
    assert domain.allowed(best.x[None, :]).all()
    assert domain.allowed(best.peaks).all()
    assert best.value == pytest.approx(value, abs=2e-4)  # by hand
    assert len(score.seen) > 100


def test_inactive_parameters_have_no_slope_and_active_ones_the_right_one():
    domain = as_domain(TREE)
    X = domain.sobol(64, np.random.default_rng(3))
    X[:, domain.real] = np.clip(X[:, domain.real], 0.01, 0.99)
    X = domain.snap(X)
    y = np.array([height(row) for row in domain.decode(X)])
    snapshot = snapshot_of(domain, X[:20], y[:20], noise=1e-9, interpolate=True)
    score = restricted_score(LogEIPC().bind(snapshot), domain)
    at = X[20:]
    values, gradient = score.with_gradient(at)
    assert np.array_equal(gradient != 0.0, (gradient != 0.0) & domain.moving(at))
    assert np.allclose(values, score(at))
    for column in np.flatnonzero(domain.real):
        step = np.zeros(domain.width)
        step[column] = 1e-6
        numeric = (score(domain.snap(at + step)) - score(domain.snap(at - step))) / 2e-6
        assert np.allclose(gradient[:, column], numeric, rtol=1e-3, atol=1e-4)


def test_nothing_changes_on_a_plain_domain():
    domain = as_domain({"x": Real(0, 1), "n": Integer(1, 5)})
    score = Height(domain)
    assert restricted_score(score, domain) is score
    assert restricted(score.with_gradient, domain) == score.with_gradient


@pytest.mark.parametrize("seed", range(5))
def test_searches_go_on_along_the_walls_of_constraints(seed):
    """The best place on a curved wall, which is far from where gradients meet the wall."""
    domain = as_domain(
        {f"x{i}": Real(0, 1) for i in range(3)},
        checked_constraints("x0**2 + x1**2 + x2**2 <= 0.5"),
    )

    class Slope:
        scales, starts, unit = None, None, 1.0

        def __call__(self, X):
            return X @ np.array([1.0, 2.0, 3.0])

        def with_gradient(self, X):
            return self(X), np.tile([1.0, 2.0, 3.0], (len(X), 1))

    best = multistart(Slope(), domain, np.random.default_rng(seed))
    exact = np.sqrt(0.5 * 14.0)  # the length of the slope times the radius
    assert exact - 1e-2 < best.value <= exact + 1e-9
    assert domain.allowed(best.x[None, :]).all()
